#pragma once

// The vector operations that loops.inl is written in, for any machine: the compiler's generic vectors. Only
// loops_plain.cpp includes this.

#include <cstddef>
#include <cstdint>

namespace ringlet::compress::plain {

constexpr std::size_t kLanes = 4;
constexpr std::size_t kChains = 1;
using F = float __attribute__((vector_size(16)));
using I = std::int32_t __attribute__((vector_size(16)));
using U = std::uint32_t __attribute__((vector_size(16)));
using W = std::uint64_t __attribute__((vector_size(16)));

template <class T>
[[gnu::always_inline]] inline I widened(const void* p) {
  T v[kLanes];
  __builtin_memcpy(v, p, sizeof v);
  return I{v[0], v[1], v[2], v[3]};
}
template <class T>
[[gnu::always_inline]] inline void narrow(void* p, I v) {
  const T out[kLanes] = {static_cast<T>(v[0]), static_cast<T>(v[1]), static_cast<T>(v[2]), static_cast<T>(v[3])};
  __builtin_memcpy(p, out, sizeof out);
}
[[gnu::always_inline]] inline F load(const float* p) {
  F v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
[[gnu::always_inline]] inline void store(float* p, F v) { __builtin_memcpy(p, &v, sizeof v); }
[[gnu::always_inline]] inline I load(const std::uint8_t* p) { return widened<std::uint8_t>(p); }
[[gnu::always_inline]] inline void store(std::uint8_t* p, I v) { narrow<std::uint8_t>(p, v); }
[[gnu::always_inline]] inline I load16(const void* p) { return widened<std::uint16_t>(p); }
[[gnu::always_inline]] inline void store16(void* p, I v) { narrow<std::uint16_t>(p, v); }

[[gnu::always_inline]] inline F broadcast(float v) { return F{v, v, v, v}; }
[[gnu::always_inline]] inline I broadcast(std::int32_t v) { return I{v, v, v, v}; }
[[gnu::always_inline]] inline W broadcast(std::uint64_t v) { return W{v, v}; }
[[gnu::always_inline]] inline I bits(F v) { return reinterpret_cast<I>(v); }
[[gnu::always_inline]] inline F floats(I v) { return reinterpret_cast<F>(v); }
[[gnu::always_inline]] inline I shift_right(I v, int by) {
  return reinterpret_cast<I>(reinterpret_cast<U>(v) >> static_cast<unsigned>(by));
}
[[gnu::always_inline]] inline I shift_left(I v, int by) {
  return reinterpret_cast<I>(reinterpret_cast<U>(v) << static_cast<unsigned>(by));
}
[[gnu::always_inline]] inline I select(I where, I yes, I no) { return (where & yes) | (~where & no); }
[[gnu::always_inline]] inline F select(I where, F yes, F no) { return floats(select(where, bits(yes), bits(no))); }
[[gnu::always_inline]] inline F min(F a, F b) { return select(a < b, a, b); }
[[gnu::always_inline]] inline F max(F a, F b) { return select(a > b, a, b); }
[[gnu::always_inline]] inline I min(I a, I b) { return select(a < b, a, b); }
[[gnu::always_inline]] inline I max(I a, I b) { return select(a > b, a, b); }
[[gnu::always_inline]] inline std::int32_t largest(I v) {
  const std::int32_t a = v[0] < v[1] ? v[1] : v[0], b = v[2] < v[3] ? v[3] : v[2];
  return a < b ? b : a;
}
[[gnu::always_inline]] inline I truncated(F v) { return __builtin_convertvector(v, I); }
[[gnu::always_inline]] inline F to_float(I v) { return __builtin_convertvector(v, F); }

// IEEE binary16. Subnormal halves come of adding and subtracting 1/2 and 2^-14, whose ulps are a subnormal half's; this
// needs the default rounding mode, as everything here does. A NaN is made quiet and keeps the top of its payload, as
// the instructions do it.
[[gnu::always_inline]] inline void store_half(void* p, F v) {
  const I a = bits(v) & 0x7fffffff;
  const I sign = shift_right(bits(v), 16) & 0x8000;
  const I finite = min(a, broadcast(0x7f800000));
  const I normal = shift_right(finite + 0xfff + (shift_right(finite, 13) & 1) - (112 << 23), 13);
  const I subnormal = bits(floats(finite) + 0.5F) - bits(broadcast(0.5F));
  const I rounded = min(select(a < 0x38800000, subnormal, normal), broadcast(0x7c00));
  const I nan = 0x7e00 | (shift_right(a, 13) & 0x3ff);
  store16(p, select(a > 0x7f800000, nan, rounded) | sign);
}
[[gnu::always_inline]] inline F load_half(const void* p) {
  const I h = load16(p);
  const I sign = shift_left(h & 0x8000, 16);
  const I a = shift_left(h & 0x7fff, 13);
  const I normal = a + (112 << 23);
  const I subnormal = bits(floats(a + (113 << 23)) - 0x1p-14F);
  const I quiet = (a > (0x7c00 << 13)) & 0x400000;
  const I special = (a + (224 << 23)) | quiet;
  return floats(sign | select(a < (0x400 << 13), subnormal, select(a < (0x7c00 << 13), normal, special)));
}

[[gnu::always_inline]] inline W multiply_low(W a, W b) { return (a & 0xffffffffU) * (b & 0xffffffffU); }
[[gnu::always_inline]] inline W xor3(W a, W b, W c) { return a ^ b ^ c; }
[[gnu::always_inline]] inline W join_low(W low, W high) { return (low & 0xffffffffU) | (high << 32); }
[[gnu::always_inline]] inline void store64(void* p, W v) {
  for (std::size_t i = 0; i < 8; ++i) {  // low 16 bits first, on any machine
    const auto part = static_cast<std::uint16_t>(v[i / 4] >> (16 * (i % 4)));
    __builtin_memcpy(static_cast<std::uint16_t*>(p) + i, &part, sizeof part);
  }
}
[[gnu::always_inline]] inline W counters(std::uint64_t first) { return broadcast(first) + W{0, 1}; }

[[gnu::always_inline]] inline unsigned at_least(I key, I threshold) {
  const I m = key >= threshold;
  return static_cast<unsigned>((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
}
[[gnu::always_inline]] inline std::size_t emit(unsigned mask, std::uint32_t first, F v, std::uint32_t* indices,
                                               float* values) {
  std::size_t count = 0;
  for (; mask != 0; mask &= mask - 1, ++count) {
    const int lane = __builtin_ctz(mask);
    indices[count] = first + static_cast<std::uint32_t>(lane);
    values[count] = v[lane];
  }
  return count;
}

}  // namespace ringlet::compress::plain
