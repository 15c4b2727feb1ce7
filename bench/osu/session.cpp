#include "osu/session.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <exception>

namespace ringlet::osu {

int run_session(int& argc, char**& argv, const std::function<int(const Ranks&)>& body) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  int mine = 0;
  try {
    mine = body(ranks);
  } catch (const std::exception& e) {
    fmt::print(stderr, "rank {}: {}\n", ranks.rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}

}  // namespace ringlet::osu
