#include "train/replica_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ringlet/collectives.hpp"

namespace ringlet::train {

std::string describe_differences(std::span<const std::uint64_t> hashes) {
  std::vector<std::string> others;
  for (std::size_t rank = 1; rank < hashes.size(); ++rank) {
    if (hashes[rank] != hashes[0]) others.push_back(fmt::format("rank {} ({:016x})", rank, hashes[rank]));
  }
  if (others.empty()) return {};
  return fmt::format("the weights of {} differ from rank 0's ({:016x})", fmt::join(others, ", "), hashes[0]);
}

std::uint64_t check_replicas(std::span<const float> weights) {
  // No dtype is 64 bits of anything but numbers, and int64 carries the bits as they are.
  const auto hash = static_cast<std::int64_t>(XXH64(weights.data(), weights.size_bytes(), 0));
  const OwnedTensor gathered = allgather(TensorView(&hash, Shape{1}), {.name = "train.weights_hash"});
  std::vector<std::uint64_t> hashes;
  for (const std::int64_t other : gathered.as<std::int64_t>()) hashes.push_back(static_cast<std::uint64_t>(other));
  if (const std::string differences = describe_differences(hashes); !differences.empty()) {
    throw Error(ErrorCode::mismatch, differences);
  }
  return hashes.front();
}

}  // namespace ringlet::train
