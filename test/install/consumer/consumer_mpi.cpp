#include <mpi.h>

#include "ringlet/mpi.hpp"
#include "ringlet/ringlet.hpp"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  ringlet::init(MPI_COMM_WORLD);
  double one = 1;
  ringlet::allreduce({&one, {1}}, {.op = ringlet::ReduceOp::sum});
  const bool right = one == ringlet::size();
  ringlet::shutdown();
  MPI_Finalize();
  return right ? 0 : 1;
}
