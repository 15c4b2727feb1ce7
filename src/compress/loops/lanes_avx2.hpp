#pragma once

// The vector operations that loops.inl is written in, on AVX2 with F16C. Only loops_avx2.cpp includes this.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace ringlet::compress::avx2 {

constexpr std::size_t kLanes = 8;
constexpr std::size_t kChains = 2;
using F = float __attribute__((vector_size(32)));
using I = std::int32_t __attribute__((vector_size(32)));
using W = std::uint64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline I wrap(__m256i v) { return reinterpret_cast<I>(v); }
[[gnu::always_inline]] inline __m256i raw(I v) { return reinterpret_cast<__m256i>(v); }
[[gnu::always_inline]] inline __m256i raw(W v) { return reinterpret_cast<__m256i>(v); }

[[gnu::always_inline]] inline F load(const float* p) { return _mm256_loadu_ps(p); }
[[gnu::always_inline]] inline void store(float* p, F v) { _mm256_storeu_ps(p, v); }
[[gnu::always_inline]] inline I load(const std::uint8_t* p) {
  return wrap(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
[[gnu::always_inline]] inline I load16(const void* p) {
  return wrap(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))));
}
// Lanes hold at most 16 bits.
[[gnu::always_inline]] inline __m128i narrowed(I v) {
  return _mm_packus_epi32(_mm256_castsi256_si128(raw(v)), _mm256_extracti128_si256(raw(v), 1));
}
[[gnu::always_inline]] inline void store16(void* p, I v) { _mm_storeu_si128(static_cast<__m128i*>(p), narrowed(v)); }
[[gnu::always_inline]] inline void store(std::uint8_t* p, I v) {
  const __m128i half = narrowed(v);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(half, half));
}
[[gnu::always_inline]] inline F load_half(const void* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
[[gnu::always_inline]] inline void store_half(void* p, F v) {
  _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

[[gnu::always_inline]] inline F broadcast(float v) { return _mm256_set1_ps(v); }
[[gnu::always_inline]] inline I broadcast(std::int32_t v) { return wrap(_mm256_set1_epi32(v)); }
[[gnu::always_inline]] inline W broadcast(std::uint64_t v) {
  return reinterpret_cast<W>(_mm256_set1_epi64x(static_cast<long long>(v)));
}
[[gnu::always_inline]] inline I bits(F v) { return reinterpret_cast<I>(v); }
[[gnu::always_inline]] inline F floats(I v) { return reinterpret_cast<F>(v); }
[[gnu::always_inline]] inline I shift_right(I v, int by) { return wrap(_mm256_srli_epi32(raw(v), by)); }
[[gnu::always_inline]] inline I shift_left(I v, int by) { return wrap(_mm256_slli_epi32(raw(v), by)); }
[[gnu::always_inline]] inline F min(F a, F b) { return _mm256_min_ps(a, b); }
[[gnu::always_inline]] inline F max(F a, F b) { return _mm256_max_ps(a, b); }
[[gnu::always_inline]] inline I min(I a, I b) { return wrap(_mm256_min_epi32(raw(a), raw(b))); }
[[gnu::always_inline]] inline I max(I a, I b) { return wrap(_mm256_max_epi32(raw(a), raw(b))); }
[[gnu::always_inline]] inline std::int32_t largest(I v) {
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(raw(v)), _mm256_extracti128_si256(raw(v), 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4E));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0xB1));
  return _mm_cvtsi128_si32(m);
}
[[gnu::always_inline]] inline I truncated(F v) { return wrap(_mm256_cvttps_epi32(v)); }
[[gnu::always_inline]] inline F to_float(I v) { return _mm256_cvtepi32_ps(raw(v)); }

[[gnu::always_inline]] inline W multiply_low(W a, W b) { return reinterpret_cast<W>(_mm256_mul_epu32(raw(a), raw(b))); }
[[gnu::always_inline]] inline W xor3(W a, W b, W c) { return a ^ b ^ c; }
[[gnu::always_inline]] inline W join_low(W low, W high) {
  return reinterpret_cast<W>(_mm256_blend_epi32(raw(low), _mm256_slli_epi64(raw(high), 32), 0xAA));
}
[[gnu::always_inline]] inline void store64(void* p, W v) { _mm256_storeu_si256(static_cast<__m256i*>(p), raw(v)); }
[[gnu::always_inline]] inline W counters(std::uint64_t first) { return broadcast(first) + W{0, 1, 2, 3}; }

[[gnu::always_inline]] inline unsigned at_least(I key, I threshold) {
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<F>(key >= threshold)));
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

}  // namespace ringlet::compress::avx2
