// The shortest program: averages an array over the ranks. Run it alone, or as `mpirun -np 4 example_five_lines`.
#include <cstddef>

#include "ringlet/hvd.hpp"

int main() {
  hvd::init();
  const std::size_t count = 1000;
  float* gradient = new float[count];
  for (std::size_t i = 0; i < count; ++i) gradient[i] = static_cast<float>(hvd::rank());

  hvd::allreduce({gradient, {count}}, {.name = "gradient"});  // a pointer and a shape; the result is in place

  const float average = static_cast<float>(hvd::size() - 1) / 2;
  const bool right = gradient[0] == average && gradient[count - 1] == average;
  delete[] gradient;
  hvd::shutdown();
  return right ? 0 : 1;
}
