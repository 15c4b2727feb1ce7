#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringlet::test {

/// A 64-bit mixing function (splitmix64), so that test data is a function of its place and not of a generator's state.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// In [-1, 1), different for every (rank, step, tensor, element).
inline float value_at(int rank, int step, std::uint64_t tensor, std::size_t i) {
  const std::uint64_t bits =
      mix(mix(mix(tensor * 1009 + static_cast<std::uint64_t>(step)) + static_cast<std::uint64_t>(rank)) + i);
  return static_cast<float>(static_cast<double>(bits >> 40) / 8388608.0 - 1.0);
}

inline std::vector<float> gradient(int rank, int step, std::uint64_t tensor, std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = value_at(rank, step, tensor, i);
  return values;
}

}  // namespace ringlet::test
