#pragma once

#include <cstdint>

#include "compress/compressor.hpp"

namespace ringlet::compress {

/// Key of one encoding's random stream: Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC
/// 2011). The 128-bit XXH3 hash of (seed, tensor, step, rank, stage, hop) gives the 64-bit key and the upper half of
/// the counter; the lower half counts blocks, so the bits of an element are a function of the Site and its absolute
/// index alone: element e has block 8 (e / 64) + (e % 32) / 4, word 2 (e % 64 / 32) + e % 4 / 2 of it, and the lower
/// half of the word when e is even.
struct PhiloxKey {
  static constexpr int kRounds = 10;
  std::uint32_t round_keys[2 * kRounds];
  std::uint64_t counter_high;
};

PhiloxKey philox_key(const Site& site) noexcept;

}  // namespace ringlet::compress
