#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringlet::compress {

/// Which elements the k largest magnitudes are: all whose |x| has bits above `bits`, and the first `ties` of those equal to it.
struct Cut {
  std::uint32_t bits = 0;
  std::size_t ties = 0;
};

/// The cut of the `k` largest, 0 < k <= x.size(). Three counting passes; exact; no memory.
Cut find_cut(std::span<const float> x, std::size_t k) noexcept;

/// Bits of a magnitude that, judged by a regular sample, somewhat more than `k` elements of `x` reach; 0 when no such guess is worth
/// making.
std::uint32_t guess_threshold(std::span<const float> x, std::size_t k) noexcept;

}  // namespace ringlet::compress
