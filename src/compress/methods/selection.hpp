#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringlet::compress {

/// Which elements the k largest magnitudes are: all whose |x| has bits above `bits`, and the first `ties` of those
/// equal to it.
struct Cut {
  std::uint32_t bits = 0;
  std::size_t ties = 0;
};

/// The cut of the `k` largest, 0 < k <= x.size(). Three counting passes; exact; no memory.
Cut find_cut(std::span<const float> x, std::size_t k) noexcept;

/// A threshold that somewhat more than `k` elements should reach, judged by a regular sample, and the number that more
/// do not reach unless the sample misleads. No guess is worth making when `bits` is 0.
struct Guess {
  std::uint32_t bits = 0;
  std::size_t limit = 0;
};
Guess guess_threshold(std::span<const float> x, std::size_t k) noexcept;

}  // namespace ringlet::compress
