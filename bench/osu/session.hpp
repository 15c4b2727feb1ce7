#pragma once

#include <functional>

namespace ringlet::osu {

/// The ranks of this job as MPI numbers them.
struct Ranks {
  int rank = 0;
  int size = 1;
  bool first() const noexcept { return rank == 0; }
};

/// Starts MPI at MPI_THREAD_MULTIPLE, calls `body`, ends MPI, and returns what main() shall: the worst of all ranks'
/// results. MPI is the program's and not the library's, because the benchmarks use it themselves. An exception is
/// printed and ends the job at once, for the other ranks may be waiting.
int run_session(int& argc, char**& argv, const std::function<int(const Ranks&)>& body);

}  // namespace ringlet::osu
