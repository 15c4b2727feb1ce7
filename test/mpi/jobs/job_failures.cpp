// The program of all modes: job_failures MODE, under mpirun.
#include <cstring>

#include "modes.hpp"

using namespace ringlet::test;

int main(int argc, char** argv) {
  const auto families = {lost_rank_modes(), disagreement_modes(), setting_modes(), own_mpi_modes()};
  for (const auto& modes : families) {
    for (const Mode& mode : modes) {
      if (argc == 2 && std::strcmp(argv[1], mode.name) == 0) return mode.run();
    }
  }
  fmt::print(stderr, "usage: {} MODE, one of:\n", argv[0]);
  for (const auto& modes : families) {
    for (const Mode& mode : modes) fmt::print(stderr, "  {}\n", mode.name);
  }
  return 2;
}
