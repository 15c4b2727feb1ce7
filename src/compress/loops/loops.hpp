#pragma once

#include <cstddef>
#include <cstdint>

#include "compress/loops/grid.hpp"
#include "compress/philox.hpp"

namespace ringlet::compress {

enum class Isa : std::uint8_t { plain, avx2, avx512 };

/// Smallest and largest of some floats in the order of `order_key`, which puts NaNs beyond the infinities.
struct KeyRange {
  std::int32_t low, high;
};

/// The inner loops that are worth vector instructions, one table a variant. Every variant gives the same bits. Ranges
/// do not overlap, byte pointers need no alignment, counts may be anything. No loop allocates or throws.
struct Loops {
  /// Elements one unit of random bits serves.
  static constexpr std::size_t kDitherUnit = 64;
  /// What compact() may write behind what it counts.
  static constexpr std::size_t kCompactSlack = 16;

  // Casts, to nearest even. A finite value stays finite (the largest of the format), a NaN stays a NaN.
  void (*to_fp16)(const float* x, std::size_t n, float scale, std::byte* wire);   // wire = x * scale
  void (*from_fp16)(const std::byte* wire, std::size_t n, Factors by, float* y);  // y = wire * by.first * by.second
  void (*add_fp16)(const std::byte* wire, std::size_t n, Factors by, float* y);   // y += that
  void (*subtract_fp16)(const std::byte* wire, std::size_t n, Factors by,
                        float* y);  // y -= that; non-finite results are 0
  void (*to_bf16)(const float* x, std::size_t n, float scale, std::byte* wire);
  void (*from_bf16)(const std::byte* wire, std::size_t n, Factors by, float* y);
  void (*add_bf16)(const std::byte* wire, std::size_t n, Factors by, float* y);
  void (*subtract_bf16)(const std::byte* wire, std::size_t n, Factors by, float* y);

  // Measures of a grain.
  std::uint32_t (*max_abs_bits)(const float* x,
                                std::size_t n);  // largest bits of |x|: as ordered as |x|, NaNs on top; 0 of none
  KeyRange (*key_range)(const float* x, std::size_t n);              // n > 0
  float (*sum_squares)(const float* x, std::size_t n, float scale);  // of x * scale, over 16 lanes, folded in halves

  // Quantizing. One code a byte; `dither` has 16 random bits an element, or is null for rounding to nearest.
  void (*dither)(const PhiloxKey& key, std::uint64_t unit, std::size_t units, std::uint16_t* out);  // out: 64 a unit
  void (*quantize)(const float* x, std::size_t n, const Grid& grid, const std::uint16_t* dither, std::uint8_t* codes);
  void (*dequantize)(const std::uint8_t* codes, std::size_t n, const Grid& grid, float factor, float* y);
  void (*add_dequantized)(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* y);
  void (*subtract_dequantized)(const std::uint8_t* codes, std::size_t n, const Grid& grid, float* y);  // non-finite: 0

  // Codes of `bits` bits, 1..8, element j in bits [j bits, (j+1) bits) of the little-endian string of packed_bytes(n,
  // bits) bytes.
  void (*pack)(const std::uint8_t* codes, std::size_t n, unsigned bits, std::byte* wire);
  void (*unpack)(const std::byte* wire, std::size_t n, unsigned bits, std::uint8_t* codes);

  void (*add)(const float* x, std::size_t n, float* y);  // y += x
  void (*scale)(std::size_t n, float factor, float* y);  // y *= factor

  /// Appends index and value of each element whose |x| has bits >= `threshold` (> 0), in order, and returns how many.
  /// Indices count from `first`. Both outputs have room for n + kCompactSlack.
  std::size_t (*compact)(const float* x, std::size_t n, std::uint32_t first, std::uint32_t threshold,
                         std::uint32_t* indices, float* values);
};

[[gnu::always_inline]] constexpr std::size_t packed_bytes(std::size_t codes, unsigned bits) noexcept {
  return (codes * bits + 7) / 8;
}

/// The fastest variant that this machine runs.
const Loops& loops();
/// A given variant; null where this machine or build does not have it.
const Loops* loops_for(Isa isa) noexcept;

}  // namespace ringlet::compress
