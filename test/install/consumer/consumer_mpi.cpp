#include <mpi.h>

#include <cstdlib>

#include "ringlet/mpi.hpp"
#include "ringlet/ringlet.hpp"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  ringlet::init(MPI_COMM_WORLD);
  double one = 1;
  ringlet::allreduce({&one, {1}}, {.op = ringlet::ReduceOp::sum});
  ringlet::shutdown();
  MPI_Finalize();
  return one == std::atoi(argv[1]) ? 0 : 1;
}
