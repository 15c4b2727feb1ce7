#include "compress/philox.hpp"

#include <xxhash.h>

#include <array>

namespace ringlet::compress {

PhiloxKey philox_key(const Site& site) noexcept {
  const std::array<std::uint64_t, 5> identity{site.seed, site.tensor, site.step,
                                              std::uint64_t{site.hop} << 32 | site.rank,
                                              static_cast<std::uint64_t>(site.stage)};
  const XXH128_hash_t hash = XXH3_128bits(identity.data(), sizeof identity);
  auto k0 = static_cast<std::uint32_t>(hash.low64);
  auto k1 = static_cast<std::uint32_t>(hash.low64 >> 32);
  PhiloxKey key{{}, hash.high64};
  for (std::size_t round = 0; round < PhiloxKey::kRounds; ++round) {
    key.round_keys[2 * round] = k0;
    key.round_keys[2 * round + 1] = k1;
    k0 += 0x9E3779B9;  // golden ratio
    k1 += 0xBB67AE85;  // sqrt(3) - 1
  }
  return key;
}

}  // namespace ringlet::compress
