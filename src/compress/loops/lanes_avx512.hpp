#pragma once

// The vector operations that loops.inl is written in, on AVX-512 (F, BW, DQ, VL). Only loops_avx512.cpp includes this.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace ringlet::compress::avx512 {

constexpr std::size_t kLanes = 16;  // of 32 bits
constexpr std::size_t kChains = 4;  // independent Philox states that hide the latency of its ten rounds
using F = float __attribute__((vector_size(64)));
using I = std::int32_t __attribute__((vector_size(64)));
using W = std::uint64_t __attribute__((vector_size(64)));

[[gnu::always_inline]] inline I wrap(__m512i v) { return reinterpret_cast<I>(v); }
[[gnu::always_inline]] inline __m512i raw(I v) { return reinterpret_cast<__m512i>(v); }
[[gnu::always_inline]] inline __m512i raw(W v) { return reinterpret_cast<__m512i>(v); }

[[gnu::always_inline]] inline F load(const float* p) { return _mm512_loadu_ps(p); }
[[gnu::always_inline]] inline void store(float* p, F v) { _mm512_storeu_ps(p, v); }
[[gnu::always_inline]] inline I load(const std::uint8_t* p) {
  return wrap(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
[[gnu::always_inline]] inline void store(std::uint8_t* p, I v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(raw(v)));
}
[[gnu::always_inline]] inline I load16(const void* p) {
  return wrap(_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))));
}
[[gnu::always_inline]] inline void store16(void* p, I v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtepi32_epi16(raw(v)));
}
[[gnu::always_inline]] inline F load_half(const void* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
[[gnu::always_inline]] inline void store_half(void* p, F v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

[[gnu::always_inline]] inline F broadcast(float v) { return _mm512_set1_ps(v); }
[[gnu::always_inline]] inline I broadcast(std::int32_t v) { return wrap(_mm512_set1_epi32(v)); }
[[gnu::always_inline]] inline W broadcast(std::uint64_t v) {
  return reinterpret_cast<W>(_mm512_set1_epi64(static_cast<long long>(v)));
}
[[gnu::always_inline]] inline I bits(F v) { return reinterpret_cast<I>(v); }
[[gnu::always_inline]] inline F floats(I v) { return reinterpret_cast<F>(v); }
[[gnu::always_inline]] inline I shift_right(I v, int by) {
  return wrap(_mm512_srli_epi32(raw(v), static_cast<unsigned>(by)));
}
[[gnu::always_inline]] inline I shift_left(I v, int by) {
  return wrap(_mm512_slli_epi32(raw(v), static_cast<unsigned>(by)));
}
[[gnu::always_inline]] inline F min(F a, F b) { return _mm512_min_ps(a, b); }
[[gnu::always_inline]] inline F max(F a, F b) { return _mm512_max_ps(a, b); }
[[gnu::always_inline]] inline I min(I a, I b) { return wrap(_mm512_min_epi32(raw(a), raw(b))); }
[[gnu::always_inline]] inline I max(I a, I b) { return wrap(_mm512_max_epi32(raw(a), raw(b))); }
[[gnu::always_inline]] inline std::int32_t largest(I v) { return _mm512_reduce_max_epi32(raw(v)); }
[[gnu::always_inline]] inline I truncated(F v) { return wrap(_mm512_cvttps_epi32(v)); }
[[gnu::always_inline]] inline F to_float(I v) { return _mm512_cvtepi32_ps(raw(v)); }

// Products of the low halves of the 64-bit lanes.
[[gnu::always_inline]] inline W multiply_low(W a, W b) { return reinterpret_cast<W>(_mm512_mul_epu32(raw(a), raw(b))); }
[[gnu::always_inline]] inline W xor3(W a, W b, W c) {
  return reinterpret_cast<W>(_mm512_ternarylogic_epi64(raw(a), raw(b), raw(c), 0x96));
}
// Low halves of `low` and of `high`, side by side.
[[gnu::always_inline]] inline W join_low(W low, W high) {
  return reinterpret_cast<W>(_mm512_mask_shuffle_epi32(raw(low), 0xAAAA, raw(high), _MM_PERM_CCAA));
}
[[gnu::always_inline]] inline void store64(void* p, W v) { _mm512_storeu_si512(p, raw(v)); }
[[gnu::always_inline]] inline W counters(std::uint64_t first) { return broadcast(first) + W{0, 1, 2, 3, 4, 5, 6, 7}; }

// Bit i is set where key[i] >= threshold. g++ 12 may spill a mask as 16 bits and count 32 of them, so it is moved by
// hand.
[[gnu::always_inline]] inline unsigned at_least(I key, I threshold) {
  unsigned mask;
  asm("kmovw %1, %0" : "=r"(mask) : "k"(_mm512_cmpge_epi32_mask(raw(key), raw(threshold))));
  return mask;
}
// Writes index and value of the lanes in `mask`, and garbage behind them up to kLanes in all.
[[gnu::always_inline]] inline std::size_t emit(unsigned mask, std::uint32_t first, F v, std::uint32_t* indices,
                                               float* values) {
  const I lane{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const __m512i index = raw(lane + broadcast(static_cast<std::int32_t>(first)));
  const auto chosen = static_cast<__mmask16>(mask);
  _mm512_storeu_si512(indices, _mm512_maskz_compress_epi32(chosen, index));
  _mm512_storeu_ps(values, _mm512_maskz_compress_ps(chosen, v));
  return static_cast<std::size_t>(__builtin_popcount(mask));
}

}  // namespace ringlet::compress::avx512
