// A program with an MPI of its own. ringlet gets a communicator, duplicates it, and leaves MPI_Init, MPI_Finalize and
// the program's own messages alone.
#include <mpi.h>

#include <array>
#include <cstdio>

#include "ringlet/mpi.hpp"
#include "ringlet/ringlet.hpp"

namespace {

/// Whether ringlet's sum over `comm` is MPI's, with a message of the program's own under way meanwhile.
bool sums_agree(MPI_Comm comm, int rank) {
  std::array<double, 4> mine{1.0 * rank, 2.0 * rank, 3.0 * rank, 4.0};
  std::array<double, 4> by_mpi{};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(mine.data(), by_mpi.data(), 4, MPI_DOUBLE, MPI_SUM, comm, &request);

  std::array<double, 4> by_ringlet = mine;
  const ringlet::Handle handle = ringlet::allreduce_async(by_ringlet, {.name = "sums", .op = ringlet::ReduceOp::sum});
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  handle.wait();
  return by_ringlet == by_mpi;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);  // less works too, but nothing overlaps then

  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);  // ringlet numbers ranks as the communicator does
  int rank = 0;
  MPI_Comm_rank(reversed, &rank);

  ringlet::init(reversed);
  const bool right = ringlet::rank() == rank && sums_agree(reversed, rank);
  if (!right) std::fprintf(stderr, "rank %d of the world: the sums differ\n", world_rank);
  ringlet::shutdown();

  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return right ? 0 : 1;
}
