#pragma once

#include <mpi.h>

#include <chrono>
#include <span>
#include <vector>

#include "base/unique_handle.hpp"

namespace ringlet::mpi {

/// Frees a communicator of ours, unless MPI is over: then there is nothing left to free.
struct CommTraits {
  using type = MPI_Comm;
  static type null() noexcept { return MPI_COMM_NULL; }
  static void close(type comm) noexcept;
};
using UniqueComm = UniqueHandle<CommTraits>;

/// A private duplicate of the user's communicator: our tags never meet theirs, and errors return instead of aborting.
/// Collective; throws Error{timeout} when not every rank has come within `limit`.
UniqueComm duplicate(MPI_Comm user, std::chrono::milliseconds limit = std::chrono::minutes(1));

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);

/// Numbers the hosts in order of first appearance, given for each rank the lowest rank of its host.
std::vector<int> numbered_hosts(std::span<const int> leaders);

/// For each rank, the number of the host it runs on: equal where ranks share memory, in order of first appearance.
/// Collective.
std::vector<int> hosts_of(MPI_Comm comm);

}  // namespace ringlet::mpi
