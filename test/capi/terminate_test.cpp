// Rank 1 dies of an uncaught exception while rank 0 waits for it: rank 0's error says who and why.
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "ringlet/hvd.hpp"

int main() {
  hvd::init();
  std::vector<float> x(4, 1.0F);
  hvd::allreduce(x, {.name = "first"});
  if (hvd::rank() == 1) throw std::runtime_error("the disk is full");
  try {
    hvd::allreduce(x, {.name = "second"});
  } catch (const hvd::Error& e) {
    std::printf("rank %d heard: %s\n", hvd::rank(), e.what());
    std::fflush(stdout);
  }
  hvd::shutdown();
  return 0;
}
