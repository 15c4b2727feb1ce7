#pragma once

#include <cstdint>

namespace ringlet::compress {

/// Two factors applied one after the other, each rounded: the inverse of a cast's head-room, then the caller's.
struct Factors {
  float first = 1, second = 1;
};

/// The values that the codes of one grain stand for, and the constants to find a value's code.
///
/// Centered: code c is (c - levels) / levels * high, c in [0, 2 levels]. Otherwise code c lies at the fraction c /
/// levels between low and high, c in [0, levels]. Both ends decode exactly. `prescale` is a power of two that keeps
/// `inverse` a normal number.
struct Grid {
  bool centered = true;
  float low = 0, high = 0;
  float levels = 1;
  float unit = 1;  ///< the smallest float with levels * unit >= 1
  float prescale = 1;
  float inverse = 0;  ///< levels / the range, prescaled; 0 for an empty range
};

/// The grid {-high .. high} with `levels` steps from 0; high >= 0 or NaN.
Grid centered_grid(float high, unsigned levels) noexcept;
/// The grid of `levels` steps from low to high; low <= high or both NaN.
Grid range_grid(float low, float high, unsigned levels) noexcept;

/// Bits of a float as an integer that orders like the float: -NaN < -inf < -0 < +0 < +inf < NaN. Its own inverse.
constexpr std::int32_t order_key(std::int32_t bits) noexcept { return bits ^ ((bits >> 31) & 0x7fffffff); }

}  // namespace ringlet::compress
