#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ringlet/hvd.hpp"

namespace ringlet::test {

/// A job over MPI_COMM_WORLD, through the public calls, for as long as this object lives. `compression`:
/// RINGLET_COMPRESSION meanwhile.
class Job {
 public:
  explicit Job(const std::string& compression = {}) {
    ::setenv("RINGLET_COMPRESSION", compression.c_str(), 1);
    hvd::init();
    ::unsetenv("RINGLET_COMPRESSION");
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() { hvd::shutdown(); }
};

/// FNV-1a, 64 bits.
template <class T>
std::uint64_t hash_of(const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::byte b : std::as_bytes(std::span(values)))
    hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3ULL;
  return hash;
}

/// Whether every rank has the same numbers; told by plain MPI, so that the library is not its own witness. Collective.
inline bool ranks_agree(const std::vector<std::uint64_t>& mine) {
  std::vector<std::uint64_t> root = mine;
  MPI_Bcast(root.data(), static_cast<int>(root.size()), MPI_UINT64_T, 0, MPI_COMM_WORLD);
  int differs = root == mine ? 0 : 1, any = 0;
  MPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any == 0;
}

template <class T>
bool ranks_agree(const std::vector<std::vector<T>>& tensors) {
  std::vector<std::uint64_t> hashes;
  for (const auto& tensor : tensors) hashes.push_back(hash_of(tensor));
  return ranks_agree(hashes);
}

/// The program's own messages on MPI_COMM_WORLD while a job runs: from any source with any tag, so that a message of
/// the library's would be caught here. True when they arrived as sent.
inline bool own_traffic_is_undisturbed() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  bool right = true;
  for (const int tag : {0, 1, 2, 64, 100}) {
    std::vector<int> sent(500, rank * 1000 + tag), got(500);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Irecv(got.data(), 500, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Send(sent.data(), 500, MPI_INT, next, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    right = right && status.MPI_TAG == tag && status.MPI_SOURCE == previous &&
            got == std::vector<int>(500, previous * 1000 + tag);
  }
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return right && sum == size;
}

}  // namespace ringlet::test
