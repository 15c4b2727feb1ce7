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

std::uint32_t guess_threshold(std::span<const float> x, std::size_t k) noexcept {
  constexpr std::size_t kRun = 16, kRuns = 2048, kSample = kRun * kRuns;  // runs: a cache line costs as much as an element
  if (x.size() < 8 * kSample || k > x.size() / 16) return 0;
  std::array<std::uint32_t, kSample> sample;
  const std::size_t stride = x.size() / kRuns;
  for (std::size_t run = 0; run < kRuns; ++run) {
    for (std::size_t i = 0; i < kRun; ++i) sample[run * kRun + i] = magnitude_bits(x[run * stride + i]);
  }
  // Four standard deviations more than expected, so that nearly always enough elements reach the threshold.
  const double expected = static_cast<double>(k) / static_cast<double>(x.size()) * kSample;
  const auto rank = static_cast<std::size_t>(expected + 4 * std::sqrt(expected) + 4);
  std::nth_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(rank), sample.end(), std::greater<>());
  return sample[rank];
}

}  // namespace ringlet::compress
