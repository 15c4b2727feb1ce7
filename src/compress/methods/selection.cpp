#include "compress/methods/selection.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

namespace ringlet::compress {
namespace {

std::uint32_t magnitude_bits(float v) noexcept { return std::bit_cast<std::uint32_t>(v) & 0x7fffffff; }

}  // namespace

Cut find_cut(std::span<const float> x, std::size_t k) noexcept {
  // Radix selection from the top: 31 bits as 11 + 10 + 10.
  struct Digit {
    unsigned shift, bits;
  };
  std::uint32_t prefix = 0;
  std::size_t wanted = k;  // still to be found among the elements that share the prefix
  for (const auto [shift, bits] : {Digit{20, 11}, Digit{10, 10}, Digit{0, 10}}) {
    std::array<std::size_t, 2048> counts{};
    const unsigned above = shift + bits;
    for (const float v : x) {
      const std::uint32_t key = magnitude_bits(v);
      if (key >> above == prefix >> above) ++counts[(key >> shift) & ((1U << bits) - 1)];
    }
    std::uint32_t digit = (1U << bits) - 1;
    for (; counts[digit] < wanted; --digit) wanted -= counts[digit];
    prefix |= digit << shift;
  }
  return {prefix, wanted};
}

Guess guess_threshold(std::span<const float> x, std::size_t k) noexcept {
  constexpr std::size_t kRun = 16, kMaxRuns = 2048;  // runs: a cache line costs as much as an element
  const std::size_t runs = std::min(kMaxRuns, x.size() / (8 * kRun));
  if (runs < 32 || k > x.size() / 4) return {};
  std::array<std::uint32_t, kRun * kMaxRuns> sample;
  const std::size_t stride = x.size() / runs;
  for (std::size_t run = 0; run < runs; ++run) {
    for (std::size_t i = 0; i < kRun; ++i) sample[run * kRun + i] = magnitude_bits(x[run * stride + i]);
  }
  // Four standard deviations more than expected, so that nearly always enough elements reach the threshold; eight for
  // the limit.
  const std::size_t sampled = runs * kRun;
  const double expected = static_cast<double>(k) / static_cast<double>(x.size()) * static_cast<double>(sampled);
  const double margin = 4 * std::sqrt(expected) + 4;
  const auto rank = std::min(static_cast<std::size_t>(expected + margin), sampled - 1);
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), at, sample.begin() + static_cast<std::ptrdiff_t>(sampled), std::greater<>());
  const double most = (expected + 2 * margin) / static_cast<double>(sampled) * static_cast<double>(x.size());
  return {*at, std::min(static_cast<std::size_t>(most), x.size())};
}

}  // namespace ringlet::compress
