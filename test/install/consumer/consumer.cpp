#include "ringlet/hvd.hpp"

int main() {
  hvd::init();
  float values[2] = {static_cast<float>(hvd::rank()), 1};
  float* pointer = values;
  hvd::allreduce({pointer, {2}}, {.name = "values", .op = hvd::ReduceOp::sum});
  const auto size = static_cast<float>(hvd::size());
  hvd::shutdown();
  return values[0] == size * (size - 1) / 2 && values[1] == size ? 0 : 1;
}
