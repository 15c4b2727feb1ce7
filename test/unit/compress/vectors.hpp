#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compress/registry.hpp"
#include "ringlet/error.hpp"

namespace ringlet::test {

using compress::Codec;
using compress::Registry;
using compress::Site;
using compress::Sparsifier;
using compress::Stage;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

inline std::vector<float> gaussian(std::size_t n, std::uint32_t seed = 1, float scale = 1) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> draw;
  std::vector<float> v(n);
  for (float& x : v) x = scale * draw(engine);
  return v;
}

/// Floats of every kind: any bits at all, with what is special made frequent.
inline std::vector<float> any_floats(std::size_t n, std::uint32_t seed = 1) {
  std::mt19937 engine(seed);
  constexpr std::uint32_t kSpecial[] = {0,          0x80000000, 1,          0x807fffff, 0x7f800000, 0xff800000,
                                        0x7fc00000, 0xffc12345, 0x7f800001, 0x477fefff, 0x477ff000, 0x7f7fffff};
  std::vector<float> v(n);
  for (float& x : v) {
    const auto pick = static_cast<std::uint32_t>(engine() % 32);
    x = std::bit_cast<float>(pick < 12 ? kSpecial[pick] : static_cast<std::uint32_t>(engine()));
  }
  return v;
}

inline std::vector<std::uint32_t> bits_of(const std::vector<float>& v) {
  std::vector<std::uint32_t> bits;
  for (const float x : v) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}

inline double squared_norm(const std::vector<float>& v) {
  double sum = 0;
  for (const float x : v) sum += static_cast<double>(x) * x;
  return sum;
}

inline std::shared_ptr<const Codec> codec(const std::string& spec) {
  return std::dynamic_pointer_cast<const Codec>(Registry().make(spec));
}
inline std::shared_ptr<const Sparsifier> sparsifier(const std::string& spec) {
  return std::dynamic_pointer_cast<const Sparsifier>(Registry().make(spec));
}

inline std::vector<std::byte> encoded(const Codec& codec, const std::vector<float>& values, const Site& site = {}) {
  std::vector<std::byte> wire(codec.wire_bytes(values.size()));
  codec.encode(values, site, wire);
  return wire;
}
inline std::vector<float> decoded(const Codec& codec, const std::vector<std::byte>& wire, std::size_t n,
                                  const Site& site = {}) {
  std::vector<float> values(n, -77.0F);
  codec.decode(wire, site, 1.0F, values);
  return values;
}
inline std::vector<float> round_trip(const Codec& codec, const std::vector<float>& values, const Site& site = {}) {
  return decoded(codec, encoded(codec, values, site), values.size(), site);
}

inline std::vector<int> as_ints(const std::vector<std::byte>& wire) {
  std::vector<int> ints;
  for (const std::byte b : wire) ints.push_back(std::to_integer<int>(b));
  return ints;
}

/// What `call` throws, as "code: text"; empty when it does not.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    return std::to_string(static_cast<int>(error.code())) + ": " + error.what();
  }
}
const inline std::string kInvalid = std::to_string(static_cast<int>(ErrorCode::invalid_argument)) + ": ";
const inline std::string kMalformed = std::to_string(static_cast<int>(ErrorCode::malformed)) + ": ";
const inline std::string kMismatch = std::to_string(static_cast<int>(ErrorCode::mismatch)) + ": ";

}  // namespace ringlet::test
