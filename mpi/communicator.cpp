#include "mpi/communicator.hpp"

#include <fmt/format.h>

#include <memory>
#include <thread>

#include "mpi/bootstrap.hpp"
#include "mpi/mpi_check.hpp"
#include "ringlet/error.hpp"

namespace ringlet::mpi {

void CommTraits::close(type comm) noexcept {
  if (is_running()) MPI_Comm_free(&comm);
}

UniqueComm duplicate(MPI_Comm user, std::chrono::milliseconds limit) {
  // MPI writes the handle when the last rank has come, even after we have given up: then it needs a place that is still
  // there.
  auto comm = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(user, comm.get(), &request), "MPI_Comm_idup");
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (int done = 0; check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"), done == 0;) {
    if (std::chrono::steady_clock::now() > deadline) {
      static_cast<void>(comm.release());
      throw Error(
          ErrorCode::timeout,
          fmt::format("rank {} of {}: not every rank has called init() within {:.3g} s (RINGLET_TIMEOUT); every "
                      "rank of the communicator must call it, and those that did cannot use it any more",
                      rank_in(user), size_of(user), std::chrono::duration<double>(limit).count()));
    }
    std::this_thread::yield();
  }
  UniqueComm owned(*comm);
  check(MPI_Comm_set_errhandler(owned.get(), MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return owned;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

std::vector<int> numbered_hosts(std::span<const int> leaders) {
  std::vector<int> hosts(leaders.size());
  int next = 0;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    const auto leader = static_cast<std::size_t>(leaders[r]);
    hosts[r] = leader == r ? next++ : hosts[leader];  // the lowest of its host: numbered already
  }
  return hosts;
}

std::vector<int> hosts_of(MPI_Comm comm) {
  const int rank = rank_in(comm);
  MPI_Comm shared = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared), "MPI_Comm_split_type");
  const UniqueComm host(shared);
  int leader = rank;  // ordered by rank, rank 0 of a host is its lowest
  check(MPI_Bcast(&leader, 1, MPI_INT, 0, host.get()), "MPI_Bcast");
  std::vector<int> leaders(static_cast<std::size_t>(size_of(comm)));
  check(MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, comm), "MPI_Allgather");
  return numbered_hosts(leaders);
}

}  // namespace ringlet::mpi
