#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ringlet::train {

/// Which ranks' hashes (in rank order) differ from rank 0's, as a sentence; empty when none does.
std::string describe_differences(std::span<const std::uint64_t> hashes);

/// Hashes `weights` (xxHash64 of their bits), compares the ranks' hashes and returns the common one.
/// Errors: Error{mismatch} naming the ranks that differ from rank 0, the same on every rank. Collective.
std::uint64_t check_replicas(std::span<const float> weights);

}  // namespace ringlet::train
