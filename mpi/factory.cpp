#include <string>
#include <vector>

#include "base/settings.hpp"
#include "mpi/bootstrap.hpp"
#include "mpi/communicator.hpp"
#include "mpi/mpi_check.hpp"
#include "mpi/mpi_transport.hpp"
#include "ringlet/error.hpp"

namespace ringlet::mpi {

std::unique_ptr<transport::Transport> world_transport(const Settings& settings) {
  Bootstrap mpi = Bootstrap::start(settings.mpi_thread_level);
  UniqueComm comm;
  try {
    comm = duplicate(MPI_COMM_WORLD, settings.timeout);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::timeout) mpi.abandon();  // MPI_Finalize would wait for the same rank
    throw;
  }
  return std::make_unique<MpiTransport>(std::move(mpi), std::move(comm),
                                        MpiTransportOptions{.farewell = settings.timeout});
}

std::unique_ptr<transport::Transport> transport_on(MPI_Comm user) {
  Bootstrap mpi = Bootstrap::join();
  if (user == MPI_COMM_NULL) {
    throw Error(ErrorCode::invalid_argument,
                "init(comm) was given MPI_COMM_NULL: only the ranks of a communicator may call it, those that "
                "MPI_Comm_split left "
                "out may not");
  }
  int is_inter = 0;
  check(MPI_Comm_test_inter(user, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0) {
    throw Error(ErrorCode::invalid_argument,
                "init(comm) was given an inter-communicator: make one group of the two with MPI_Intercomm_merge first");
  }
  std::vector<std::string> told_by_init;
  return std::make_unique<MpiTransport>(std::move(mpi),
                                        duplicate(user, settings_from_environment(told_by_init).timeout));
}

std::unique_ptr<transport::Transport> transport_on_fortran(int user) {
  // Before MPI_Init and after MPI_Finalize there are no communicators, and to ask for one ends the program.
  return transport_on(is_running() ? MPI_Comm_f2c(user) : MPI_COMM_NULL);
}

}  // namespace ringlet::mpi

namespace ringlet::transport {

TransportFactory mpi_transport() {
  // After MPI_Finalize a launched process still counts as usable, for make() to say why not: alone it would be silently
  // wrong.
  return {"mpi", [] { return mpi::is_running() || mpi::launched_by_mpi(); }, mpi::world_transport, mpi::describe,
          mpi::transport_on_fortran};
}

}  // namespace ringlet::transport
