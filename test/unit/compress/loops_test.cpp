#include "compress/loops/loops.hpp"

#include <Random123/philox.h>

#include <cstring>

#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::compress;
using namespace ringlet::test;

namespace {

std::vector<std::pair<std::string, const Loops*>> variants() {
  std::vector<std::pair<std::string, const Loops*>> found;
  for (const auto& [name, isa] : {std::pair{"plain", Isa::plain}, {"avx2", Isa::avx2}, {"avx512", Isa::avx512}}) {
    if (const Loops* with = loops_for(isa)) found.emplace_back(name, with);
  }
  return found;
}

// ---- slow references, written from the definitions of the formats ----

// The value of a half by IEEE 754: sign, 5 exponent bits, 10 fraction bits.
double half_value(unsigned half) {
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(half >> 10 & 31);
  const double fraction = half & 1023;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

// The half nearest to a finite x, ties to even, by counting in units of the last place.
unsigned nearest_half(float x) {
  const double a = std::fabs(static_cast<double>(x));
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  if (a >= 65504) return sign | 0x7bff;
  const int exponent = std::max(-14, a == 0 ? -14 : std::ilogb(a));
  const double units = std::nearbyint(std::ldexp(a, 10 - exponent));    // even ties: the default rounding mode
  return sign | static_cast<unsigned>(units + (exponent + 14) * 1024);  // 1024 units carry into the next exponent
}

unsigned nearest_bfloat(float x) {
  const double a = std::fabs(static_cast<double>(x));
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  const int exponent = std::max(-126, a == 0 ? -126 : std::ilogb(a));
  const double units = std::nearbyint(std::ldexp(a, 7 - exponent));
  return sign | std::min(0x7f7fU, static_cast<unsigned>(units + (exponent + 126) * 128));
}

unsigned encode16(decltype(Loops::to_fp16) cast, float x) {
  std::byte wire[2];
  cast(&x, 1, 1.0F, wire);
  return std::to_integer<unsigned>(wire[0]) | std::to_integer<unsigned>(wire[1]) << 8;
}

std::vector<float> floats_to_cast() {
  std::vector<float> x = any_floats(20000, 7);
  std::mt19937 engine(3);
  for (unsigned half = 0; half < 0x7c00; half += 3) {  // halves, what lies between two of them, and its neighbours
    const auto low = static_cast<float>(half_value(half)), high = static_cast<float>(half_value(half + 1));
    if (!std::isfinite(high)) continue;
    const float middle = low + (high - low) / 2;
    for (const float v : {low, middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)}) {
      x.push_back(engine() % 2 == 0 ? v : -v);
    }
  }
  return x;
}

struct Case {
  std::size_t n, shift;  // elements, and elements by which the memory is off alignment
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::size_t n = 0; n <= 70; ++n) all.push_back({n, n % 3});
  for (const std::size_t n : {127, 128, 129, 511, 512, 513, 1000}) all.push_back({n, 1});
  return all;
}

}  // namespace

TEST_CASE("every half decodes to its value, in every variant") {
  for (const auto& [name, with] : variants()) {
    CAPTURE(name);
    std::vector<std::uint16_t> halves(65536);
    for (std::size_t h = 0; h < halves.size(); ++h) halves[h] = static_cast<std::uint16_t>(h);
    std::vector<float> values(halves.size());
    with->from_fp16(reinterpret_cast<const std::byte*>(halves.data()), halves.size(), {}, values.data());
    std::size_t wrong = 0;
    for (std::size_t h = 0; h < halves.size(); ++h) {
      const auto want = static_cast<float>(half_value(static_cast<unsigned>(h)));
      const bool same = std::isnan(want) ? std::isnan(values[h]) : bits_of({want}) == bits_of({values[h]});
      // and encodes to itself, infinities included; a NaN to a NaN of the same sign
      const unsigned back = encode16(with->to_fp16, values[h]);
      const bool returns = std::isnan(want) ? (back & 0x7fff) > 0x7c00 && (back >> 15) == h >> 15 : back == h;
      wrong += same && returns ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("floats cast to the nearest half and bfloat, ties to even, finite ones to finite ones") {
  for (const auto& [name, with] : variants()) {
    std::size_t wrong = 0;
    for (const float x : floats_to_cast()) {
      const unsigned half = encode16(with->to_fp16, x), bfloat = encode16(with->to_bf16, x);
      if (std::isfinite(x)) {
        wrong += half == nearest_half(x) && bfloat == nearest_bfloat(x) ? 0 : 1;
      } else if (std::isnan(x)) {
        wrong += (half & 0x7fff) > 0x7c00 && (bfloat & 0x7fff) > 0x7f80 ? 0 : 1;
      } else {
        wrong += (half & 0x7fff) == 0x7c00 && (bfloat & 0x7fff) == 0x7f80 ? 0 : 1;
      }
    }
    CAPTURE(name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("random bits are Philox4x32-10's, wherever one starts") {
  const Site site{.seed = 5, .tensor = 0x123456789abcdef0, .step = 7, .rank = 3, .stage = Stage::result, .hop = 2};
  const PhiloxKey key = philox_key(site);
  for (const auto& [name, with] : variants()) {
    for (const std::uint64_t unit :
         {std::uint64_t{0}, std::uint64_t{1} << 29, (std::uint64_t{1} << 32) - 2}) {  // carries into the second word
      for (const std::size_t units : {1, 2, 3, 5, 17}) {
        std::vector<std::uint16_t> got(units * Loops::kDitherUnit + 1, 0xbeef);
        with->dither(key, unit, units, got.data());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < units * Loops::kDitherUnit; ++i) {
          const std::uint64_t e = unit * 64 + i, block = 8 * (e / 64) + e % 32 / 4;
          const r123::Philox4x32::ctr_type counter{
              {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
               static_cast<std::uint32_t>(key.counter_high), static_cast<std::uint32_t>(key.counter_high >> 32)}};
          const auto words = r123::Philox4x32()(counter, {{key.round_keys[0], key.round_keys[1]}});
          const std::uint32_t word = words[2 * (e % 64 / 32) + e % 4 / 2];
          wrong += got[i] == (e % 2 == 0 ? word & 0xffff : word >> 16) ? 0 : 1;
        }
        CAPTURE(name, unit, units);
        CHECK(wrong == 0);
        CHECK(got.back() == 0xbeef);
      }
    }
  }
}

TEST_CASE("every field of a site changes its random bits") {
  const auto first_bits = [](const Site& site) {
    std::vector<std::uint16_t> bits(64);
    loops().dither(philox_key(site), 0, 1, bits.data());
    return bits;
  };
  const auto base = first_bits({});
  CHECK(first_bits({}) == base);
  CHECK(first_bits({.ranks = 4, .offset = 640}) == base);  // these say where, not which
  CHECK(first_bits({.seed = 1}) != base);
  CHECK(first_bits({.tensor = 1}) != base);
  CHECK(first_bits({.step = 1}) != base);
  CHECK(first_bits({.rank = 1}) != base);
  CHECK(first_bits({.stage = Stage::partial_sum}) != base);
  CHECK(first_bits({.stage = Stage::result}) != base);
  CHECK(first_bits({.hop = 1}) != base);
  CHECK(first_bits({.rank = 1}) != first_bits({.hop = 1}));
}

TEST_CASE("codes of any width pack to the little-endian bit string and come back") {
  for (const auto& [name, with] : variants()) {
    for (unsigned bits = 1; bits <= 8; ++bits) {
      for (const auto& [n, shift] : cases()) {
        std::mt19937 engine(static_cast<std::uint32_t>(n));
        std::vector<std::uint8_t> codes(n + shift);
        for (auto& code : codes) code = static_cast<std::uint8_t>(engine() & ((1U << bits) - 1));
        std::vector<std::byte> want(packed_bytes(n, bits) + shift);
        for (std::size_t i = 0; i < n * bits; ++i) {
          if ((codes[shift + i / bits] >> i % bits & 1) != 0) want[shift + i / 8] |= std::byte{1} << i % 8;
        }
        want.push_back(std::byte{0x5a});  // a guard
        std::vector<std::byte> got(want.size(), std::byte{0});
        got.back() = std::byte{0x5a};
        with->pack(codes.data() + shift, n, bits, got.data() + shift);
        std::vector<std::uint8_t> back(n + shift + 1, 0xee);
        with->unpack(got.data() + shift, n, bits, back.data() + shift);
        const bool same = std::equal(codes.begin() + static_cast<std::ptrdiff_t>(shift), codes.end(),
                                     back.begin() + static_cast<std::ptrdiff_t>(shift));
        if (got != want || !same || back.back() != 0xee) {
          CAPTURE(name, bits, n, shift);
          CHECK(got == want);
          CHECK(same);
          CHECK(back.back() == 0xee);
        }
      }
    }
  }
}

TEST_CASE("measures agree with plain loops") {
  for (const auto& [name, with] : variants()) {
    for (const auto& [n, shift] : cases()) {
      CAPTURE(name, n, shift);
      const std::vector<float> x = any_floats(n + shift, static_cast<std::uint32_t>(n)), g = gaussian(n + shift, 2);
      std::uint32_t most = 0;
      std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = std::numeric_limits<std::int32_t>::min();
      double squares = 0;
      for (std::size_t i = shift; i < n + shift; ++i) {
        most = std::max(most, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffff);
        low = std::min(low, order_key(std::bit_cast<std::int32_t>(x[i])));
        high = std::max(high, order_key(std::bit_cast<std::int32_t>(x[i])));
        squares += std::pow(static_cast<double>(g[i]) * 3, 2);
      }
      CHECK(with->max_abs_bits(x.data() + shift, n) == most);
      if (n > 0) {
        const KeyRange range = with->key_range(x.data() + shift, n);
        CHECK(range.low == low);
        CHECK(range.high == high);
      }
      CHECK(with->sum_squares(g.data() + shift, n, 3) == Approx(squares).epsilon(1e-5));
    }
  }
}

TEST_CASE("order keys put floats in order, NaNs outside") {
  const std::vector<float> ascending{-kNaN, -kInf, -1e30F, -1.0F, -1e-45F, -0.0F, 0.0F, 1e-45F, 2.0F, kInf, kNaN};
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    CHECK(order_key(std::bit_cast<std::int32_t>(ascending[i - 1])) <
          order_key(std::bit_cast<std::int32_t>(ascending[i])));
  }
}

namespace {

// Everything one variant computes of one input, as bytes.
class Transcript {
 public:
  template <class T>
  void add(const std::vector<T>& v) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(v.data());
    bytes_.insert(bytes_.end(), bytes, bytes + v.size() * sizeof(T));
  }
  bool operator==(const Transcript&) const = default;

 private:
  std::vector<unsigned char> bytes_;
};

using Decode16 = decltype(Loops::from_fp16);

void transcribe_casts(const Loops& with, const Case& where, Transcript& out) {
  const auto& [n, shift] = where;
  const std::vector<float> x = any_floats(n + shift, 11), y = gaussian(n + shift, 5);
  for (const auto encode : {with.to_fp16, with.to_bf16}) {
    std::vector<std::byte> wire(2 * n + shift);
    encode(x.data() + shift, n, 0.25F, wire.data() + shift);
    out.add(wire);
    for (const Decode16 decode :
         {with.from_fp16, with.add_fp16, with.subtract_fp16, with.from_bf16, with.add_bf16, with.subtract_bf16}) {
      auto z = y;
      decode(wire.data() + shift, n, {4.0F, 0.3F}, z.data() + shift);
      out.add(z);
    }
  }
}

void transcribe_quantizing(const Loops& with, const Case& where, Transcript& out) {
  const auto& [n, shift] = where;
  const std::vector<float> x = gaussian(n + shift, 12);
  out.add(std::vector{with.sum_squares(x.data() + shift, n, 0.7F)});
  std::vector<std::uint16_t> random(1024);
  with.dither(philox_key({.seed = n}), 3, 16, random.data());
  for (const Grid& grid :
       {centered_grid(3.1F, 7), centered_grid(3.1F, 127), range_grid(-3.2F, 2.9F, 255), range_grid(-3, 3, 1)}) {
    for (const std::uint16_t* dither :
         {static_cast<const std::uint16_t*>(nullptr), static_cast<const std::uint16_t*>(random.data())}) {
      std::vector<std::uint8_t> codes(n + shift);
      with.quantize(x.data() + shift, n, grid, dither, codes.data() + shift);
      out.add(codes);
      auto set = x, added = x, rest = x;
      with.dequantize(codes.data() + shift, n, grid, 0.3F, set.data() + shift);
      with.add_dequantized(codes.data() + shift, n, grid, added.data() + shift);
      with.subtract_dequantized(codes.data() + shift, n, grid, rest.data() + shift);
      out.add(set), out.add(added), out.add(rest);
    }
  }
}

void transcribe_rest(const Loops& with, const Case& where, Transcript& out) {
  const auto& [n, shift] = where;
  const std::vector<float> x = any_floats(n + shift, 13);
  auto y = gaussian(n + shift, 14);
  with.add(x.data() + shift, n, y.data() + shift);
  out.add(y);
  y = gaussian(n + shift, 15);
  with.scale(n, 1.7F, y.data() + shift);
  out.add(y);
  std::vector<std::uint32_t> indices(n + Loops::kCompactSlack);
  std::vector<float> values(n + Loops::kCompactSlack);
  const std::size_t found = with.compact(x.data() + shift, n, 1000, 0x3f800000, indices.data(), values.data());
  indices.resize(found), values.resize(found);
  out.add(indices), out.add(values);
}

}  // namespace

TEST_CASE("every variant gives the same bits") {
  for (const Case& where : cases()) {
    Transcript plain;
    transcribe_casts(*loops_for(Isa::plain), where, plain);
    transcribe_quantizing(*loops_for(Isa::plain), where, plain);
    transcribe_rest(*loops_for(Isa::plain), where, plain);
    for (const auto& [name, with] : variants()) {
      Transcript other;
      transcribe_casts(*with, where, other);
      transcribe_quantizing(*with, where, other);
      transcribe_rest(*with, where, other);
      CAPTURE(name, where.n);
      CHECK(other == plain);
    }
  }
}

TEST_CASE("compaction keeps what reaches the threshold, in order") {
  const std::vector<float> x{1, -3, 0, kNaN, 2, -2, kInf, 1.99F};
  for (const auto& [name, with] : variants()) {
    std::vector<std::uint32_t> indices(x.size() + Loops::kCompactSlack);
    std::vector<float> values(x.size() + Loops::kCompactSlack);
    const std::size_t found =
        with->compact(x.data(), x.size(), 50, std::bit_cast<std::uint32_t>(2.0F), indices.data(), values.data());
    indices.resize(found), values.resize(found);
    CAPTURE(name);
    CHECK(indices == std::vector<std::uint32_t>{51, 53, 54, 55, 56});
    CHECK(bits_of(values) == bits_of({-3, kNaN, 2, -2, kInf}));
  }
}
