#include <cstdlib>

#include "ringlet/hvd.hpp"

int main(int, char** argv) {
  hvd::init();
  float values[2] = {static_cast<float>(hvd::rank()), 1};
  float* pointer = values;
  hvd::allreduce({pointer, {2}}, {.name = "values", .op = hvd::ReduceOp::sum});
  hvd::shutdown();
  const auto ranks = static_cast<float>(std::atoi(argv[1]));
  return values[0] == ranks * (ranks - 1) / 2 && values[1] == ranks ? 0 : 1;
}
