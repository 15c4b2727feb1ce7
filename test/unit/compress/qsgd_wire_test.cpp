#include <Random123/philox.h>

#include <cstring>

#include "compress/philox.hpp"
#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::test;

// The wire format of qsgd: examples worked by hand, and a transcription of the definition in double precision.

TEST_CASE("four bits by hand: two scales, then two runs of codes") {
  // s = 7. {7, -3, 0, 1.4} of norm 7: levels 7 -3 0 1, codes 14 4 7 8. {-2} of norm 2: level -7, code 0.
  const auto wire = encoded(*codec("qsgd(bits=4,bucket=4,rounding=nearest)"), {7, -3, 0, 1.4F, -2});
  CHECK(as_ints(wire) == std::vector<int>{0, 0, 0xe0, 0x40, 0, 0, 0, 0x40, 0x4e, 0x87, 0x00});
}

TEST_CASE("three bits by hand: codes cross bytes") {
  // s = 3, norm 3: codes 6 0 4 2 5 1 3 3, the little-endian bit string 0x6cd506.
  const auto wire = encoded(*codec("qsgd(bits=3,bucket=8,rounding=nearest)"), {3, -3, 1, -1, 2, -2, 0, 0});
  CHECK(as_ints(wire) == std::vector<int>{0, 0, 0x40, 0x40, 0x06, 0xd5, 0x6c});
}

TEST_CASE("min and max by hand: both ends on the wire") {
  CHECK(as_ints(encoded(*codec("qsgd(bits=2,bucket=8,norm=minmax,rounding=nearest)"), {0, 1, 2, 3})) ==
        std::vector<int>{0, 0, 0, 0, 0, 0, 0x40, 0x40, 0xe4});
  CHECK(as_ints(encoded(*codec("qsgd(bits=1,bucket=8,norm=minmax)"), {-1, 2, 2, -1, 2})) ==
        std::vector<int>{0, 0, 0x80, 0xbf, 0, 0, 0, 0x40, 0x16});
}

TEST_CASE("the Euclidean norm by hand") {
  // norm 5, s = 127: 3/5 of 127 is 76.2, 4/5 is 101.6; to nearest 76 and -102, codes 203 and 25
  CHECK(as_ints(encoded(*codec("qsgd(bits=8,norm=l2,rounding=nearest)"), {3, -4})) ==
        std::vector<int>{0, 0, 0xa0, 0x40, 203, 25});
}

TEST_CASE("the wire has the size that was promised") {
  const auto [spec, n, bytes] = GENERATE(table<std::string, std::size_t, std::size_t>({
      {"qsgd(bits=4,bucket=512)", 0, 0},
      {"qsgd(bits=4,bucket=512)", 1, 4 + 1},
      {"qsgd(bits=4,bucket=512)", 512, 4 + 256},
      {"qsgd(bits=4,bucket=512)", 513, 8 + 256 + 1},
      {"qsgd(bits=3,bucket=5)", 11, 12 + 2 + 2 + 1},
      {"qsgd(bits=8,bucket=3,norm=minmax)", 10, 32 + 10},
      {"qsgd(bits=2,bucket=512)", 100003, 4 * 196 + 195 * 128 + 41},
  }));
  CAPTURE(spec, n);
  CHECK(codec(spec)->wire_bytes(n) == bytes);
}

namespace {

struct Setup {
  int bits;
  std::size_t bucket;
  std::string norm, rounding;
  std::string spec() const {
    return "qsgd(bits=" + std::to_string(bits) + ",bucket=" + std::to_string(bucket) + ",norm=" + norm +
           ",rounding=" + rounding + ",ef=off)";
  }
};

// 16 random bits of element e, by the published generator.
unsigned random16(const compress::PhiloxKey& key, std::uint64_t e) {
  const std::uint64_t block = 8 * (e / 64) + e % 32 / 4;
  const r123::Philox4x32::ctr_type counter{{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                                            static_cast<std::uint32_t>(key.counter_high),
                                            static_cast<std::uint32_t>(key.counter_high >> 32)}};
  const std::uint32_t word =
      r123::Philox4x32()(counter, {{key.round_keys[0], key.round_keys[1]}})[2 * (e % 64 / 32) + e % 4 / 2];
  return e % 2 == 0 ? word & 0xffff : word >> 16;
}

// What x should decode to, in double precision; `near_edge` tells where single precision may fall to the other side.
double transcription(const Setup& setup, const std::vector<float>& bucket, double x, double dither, bool& near_edge) {
  double low = bucket[0], high = bucket[0], squares = 0, largest = 0;
  for (const double v : bucket) {
    low = std::min(low, v), high = std::max(high, v), largest = std::max(largest, std::fabs(v)), squares += v * v;
  }
  const bool minmax = setup.norm == "minmax";
  const double levels = minmax ? std::pow(2, setup.bits) - 1 : std::pow(2, setup.bits - 1) - 1;
  const double range = minmax ? high - low : setup.norm == "l2" ? std::sqrt(squares) : largest;
  if (range == 0) return minmax ? low : 0;
  const double at = (minmax ? x - low : std::fabs(x)) / range * levels + dither;
  near_edge = std::fabs(at - std::round(at)) < 1e-4;
  const double value = std::min(std::floor(at), levels) / levels * range;
  return minmax ? low + value : std::copysign(value, x);
}

}  // namespace

TEST_CASE("qsgd does what its definition says, for every width, norm and rounding") {
  const auto bits = GENERATE(1, 2, 3, 4, 5, 6, 7, 8);
  const auto norm = GENERATE(values<std::string>({"linf", "l2", "minmax"}));
  const auto rounding = GENERATE(values<std::string>({"stochastic", "nearest"}));
  const auto bucket =
      GENERATE(std::size_t{3}, std::size_t{5}, std::size_t{48}, std::size_t{512}, std::size_t{2500});  // D4
  if (bits == 1 && norm != "minmax") return;
  const Setup setup{bits, bucket, norm, rounding};
  CAPTURE(setup.spec());
  const auto qsgd = codec(setup.spec());
  const std::size_t first = 7 * bucket;
  const Site site{.seed = 11, .tensor = 99, .step = 3, .rank = 2, .offset = first};
  const auto key = compress::philox_key(site);
  const auto x = gaussian(2 * bucket + 50, 4);
  const auto y = round_trip(*qsgd, x, site);
  std::size_t wrong = 0, edges = 0;
  for (std::size_t begin = 0; begin < x.size(); begin += bucket) {
    const std::vector<float> part(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                  x.begin() + static_cast<std::ptrdiff_t>(std::min(begin + bucket, x.size())));
    for (std::size_t i = 0; i < part.size(); ++i) {
      const double dither = rounding == "nearest" ? 0.5 : (random16(key, first + begin + i) + 0.5) / 65536;
      bool near_edge = false;
      const double want = transcription(setup, part, part[i], dither, near_edge);
      edges += near_edge ? 1 : 0;
      wrong += near_edge || std::fabs(y[begin + i] - want) <= 2e-6 * std::max(1.0, std::fabs(want)) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
  CHECK(edges <= 2 * (x.size() / bucket + 1) + x.size() / 200);  // the ends of a bucket, and a few by chance
}
