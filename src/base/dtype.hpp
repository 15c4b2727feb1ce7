#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "ringlet/tensor.hpp"

namespace ringlet {

/// Calls `f.operator()<T>()` with the C++ type of `dtype` (bool for boolean): the one switch over dtypes.
template <class F>
decltype(auto) with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float32:
      return std::forward<F>(f).template operator()<float>();
    case DType::float64:
      return std::forward<F>(f).template operator()<double>();
    case DType::float16:
      return std::forward<F>(f).template operator()<float16>();
    case DType::bfloat16:
      return std::forward<F>(f).template operator()<bfloat16>();
    case DType::int8:
      return std::forward<F>(f).template operator()<std::int8_t>();
    case DType::uint8:
      return std::forward<F>(f).template operator()<std::uint8_t>();
    case DType::int32:
      return std::forward<F>(f).template operator()<std::int32_t>();
    case DType::int64:
      return std::forward<F>(f).template operator()<std::int64_t>();
    case DType::boolean:
      return std::forward<F>(f).template operator()<bool>();
  }
  throw Error(ErrorCode::internal, "with_type: not a dtype");
}

constexpr bool is_floating(DType dtype) noexcept {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 || dtype == DType::bfloat16;
}

// The conversions round to nearest even, keep infinities, and keep NaNs with the upper bits of their payload, as x86's
// vcvtps2ph does. They select with masks instead of branches and are always inlined, so that loops over them vectorise
// on any target.

namespace bits {

/// `condition` compares as signed, which is the cheaper comparison in vectors.
constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) noexcept {
  const std::uint32_t mask = 0U - std::uint32_t{condition};
  return (yes & mask) | (no & ~mask);
}

/// Exact.
[[gnu::always_inline]] inline float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t magnitude = (half & 0x7fffU) << 13;
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = magnitude & 0x0f800000U;
  const std::uint32_t normal = magnitude + 0x38000000U;  // the biases' difference, 112
  const std::uint32_t special = magnitude + 0x70000000U;
  const auto smallest_normal = std::bit_cast<float>(0x38800000U);  // 2^-14
  const auto subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude + 0x38800000U) - smallest_normal);
  const std::uint32_t finite = select(exponent == 0, subnormal, normal);
  return std::bit_cast<float>(sign | select(exponent == 0x0f800000U, special, finite));
}

[[gnu::always_inline]] inline std::uint16_t float_to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const std::uint32_t odd = (magnitude >> 13) & 1U;
  const std::uint32_t normal = (magnitude - 0x38000000U + 0xfffU + odd) >> 13;
  // Adding 0.5 leaves the subnormal's bits, rounded to nearest even, at the bottom of the sum's mantissa.
  const bool is_small = static_cast<std::int32_t>(magnitude) < 0x38800000;
  const auto small = std::bit_cast<float>(select(is_small, magnitude, 0U));
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(small + 0.5F) - 0x3f000000U;
  const std::uint32_t nan = 0x7e00U | ((magnitude >> 13) & 0x1ffU);
  const std::uint32_t special = select(static_cast<std::int32_t>(magnitude) > 0x7f800000, nan, 0x7c00U);
  const std::uint32_t finite = select(is_small, subnormal, normal);
  const std::uint32_t half =
      select(static_cast<std::int32_t>(magnitude) >= 0x47800000, special, finite);  // 65536 and more, infinity, NaN
  return static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000U));
}

/// Exact.
[[gnu::always_inline]] inline float bfloat_to_float(std::uint16_t value) noexcept {
  return std::bit_cast<float>(std::uint32_t{value} << 16);
}

[[gnu::always_inline]] inline std::uint16_t float_to_bfloat(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t nan = (bits >> 16) | 0x40U;
  return static_cast<std::uint16_t>(select(static_cast<std::int32_t>(bits & 0x7fffffffU) > 0x7f800000, nan, rounded));
}

}  // namespace bits

inline float to_float(float16 value) noexcept { return bits::half_to_float(value.bits); }
inline float to_float(bfloat16 value) noexcept { return bits::bfloat_to_float(value.bits); }
inline float16 to_float16(float value) noexcept { return {bits::float_to_half(value)}; }
inline bfloat16 to_bfloat16(float value) noexcept { return {bits::float_to_bfloat(value)}; }

}  // namespace ringlet
