#include <algorithm>

#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::test;

namespace {

const std::vector<std::string> kSpecs{"qsgd(bits=4)",
                                      "qsgd(bits=2)",
                                      "qsgd(bits=8,bucket=48)",
                                      "qsgd(bits=3,bucket=5)",
                                      "qsgd(bits=5,bucket=3,rounding=nearest)",
                                      "qsgd(bits=4,norm=l2)",
                                      "qsgd(bits=8,norm=l2,bucket=1500)",
                                      "qsgd(bits=1,norm=minmax)",
                                      "qsgd(bits=4,norm=minmax,bucket=48)",
                                      "qsgd(bits=8,norm=minmax,rounding=nearest)"};
std::string any_spec() { return GENERATE(from_range(kSpecs)); }

std::vector<float> scaled(std::vector<float> v, float by) {
  for (float& x : v) x *= by;
  return v;
}

std::vector<float> slice(const std::vector<float>& v, std::size_t begin, std::size_t end) {
  return {v.begin() + static_cast<std::ptrdiff_t>(begin),
          v.begin() + static_cast<std::ptrdiff_t>(std::min(end, v.size()))};
}

}  // namespace

TEST_CASE("what an element decodes to does not depend on the range it is encoded in") {
  const auto spec = any_spec();
  const auto qsgd = codec(spec);
  const std::size_t grain = qsgd->grain();
  const auto n = GENERATE(0u, 1u, 511u, 512u, 513u, 5000u, 100003u);
  CAPTURE(spec, n);
  const auto x = gaussian(n, 9);
  const Site site{.seed = 1, .tensor = 2, .step = 3, .rank = 4, .stage = Stage::result, .hop = 5};
  const auto whole = round_trip(*qsgd, x, site);
  std::vector<float> pieces;
  for (std::size_t at = 0, grains = 1; at < n; grains = grains % 7 + 1) {
    Site there = site;
    there.offset = at;
    const auto part = round_trip(*qsgd, slice(x, at, at + grains * grain), there);
    pieces.insert(pieces.end(), part.begin(), part.end());
    at += part.size();
  }
  CHECK(bits_of(pieces) == bits_of(whole));
  CHECK(encoded(*qsgd, x, site) == encoded(*qsgd, x, site));
}

TEST_CASE("the largest element of a bucket is exact") {  // D14
  const auto bits = GENERATE(2, 3, 4, 5, 6, 7, 8);
  const auto rounding = GENERATE(values<std::string>({"stochastic", "nearest"}));
  CAPTURE(bits, rounding);
  const auto qsgd = codec("qsgd(bucket=48,bits=" + std::to_string(bits) + ",rounding=" + rounding + ",ef=off)");
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    const auto x = gaussian(48, trial, std::exp(static_cast<float>(trial) / 5 - 30));
    const auto largest = static_cast<std::size_t>(
        std::max_element(x.begin(), x.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); }) - x.begin());
    REQUIRE(round_trip(*qsgd, x, {.step = trial})[largest] == x[largest]);
  }
}

TEST_CASE("both ends of a bucket are exact under minmax") {
  const auto bits = GENERATE(1, 2, 3, 4, 5, 6, 7, 8);
  const auto qsgd = codec("qsgd(bucket=48,norm=minmax,ef=off,bits=" + std::to_string(bits) + ")");
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    auto x = gaussian(48, trial, std::exp(static_cast<float>(trial) / 5 - 30));
    if (trial % 3 == 0) {
      for (float& v : x) v += 1000;
    }
    const auto y = round_trip(*qsgd, x, {.step = trial});
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    REQUIRE(y[static_cast<std::size_t>(low - x.begin())] == *low);
    REQUIRE(y[static_cast<std::size_t>(high - x.begin())] == *high);
  }
}

TEST_CASE("scaling by a power of two scales the result, from 1e-30 to 1e30") {  // D16
  const auto spec = any_spec();
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  const auto x = gaussian(2000, 6);
  const auto y = round_trip(*qsgd, x);
  for (int exponent = -100; exponent <= 100; exponent += 10) {
    const float by = std::ldexp(1.0F, exponent);
    CHECK(round_trip(*qsgd, scaled(x, by)) == scaled(y, by));
  }
}

TEST_CASE("zeros, constants and empty tensors") {
  const auto spec = any_spec();
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  CHECK(round_trip(*qsgd, {}).empty());
  CHECK(round_trip(*qsgd, std::vector<float>(1000, 0.0F)) == std::vector<float>(1000, 0.0F));
  CHECK(round_trip(*qsgd, std::vector<float>(1000, -0.0F)) == std::vector<float>(1000, 0.0F));
  if (spec.find("l2") == std::string::npos) {
    for (const float c : {1.0F, -3.7F, 1e-40F, 3e38F}) {
      CHECK(round_trip(*qsgd, std::vector<float>(1000, c)) == std::vector<float>(1000, c));
    }
  }
}

TEST_CASE("subnormal and huge elements are encoded like any other") {
  const auto spec = any_spec();
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  const float most = std::numeric_limits<float>::max();
  for (const float scale : {1e-45F, 3e-42F, 1e-38F, most}) {
    const std::vector<float> x{scale, -scale, scale / 2, 0.0F, -scale / 4};
    const auto y = round_trip(*qsgd, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(std::isfinite(y[i]));
      const double range = spec.find("minmax") != std::string::npos ? 2.0 * scale : 1.6 * scale;
      CHECK(std::fabs(static_cast<double>(y[i]) - x[i]) <= range);
    }
  }
  // one huge element among small ones: the others stay between their neighbouring levels
  auto x = gaussian(40, 2, 1e-20F);
  x[17] = most;
  for (const float v : round_trip(*qsgd, x)) CHECK(std::isfinite(v));
}

TEST_CASE("a bucket with an element that is not finite decodes to NaN, and only that bucket") {
  const auto spec = any_spec();
  const auto bad = GENERATE(values<float>({kNaN, -kNaN, kInf, -kInf}));
  CAPTURE(spec, bad);
  const auto qsgd = codec(spec);
  const std::size_t grain = qsgd->grain();
  auto x = gaussian(3 * grain, 8);
  const auto clean = round_trip(*qsgd, x);
  x[grain + grain / 2] = bad;
  const auto y = round_trip(*qsgd, x);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i / grain == 1) {
      REQUIRE(std::isnan(y[i]));
    } else {
      REQUIRE(y[i] == clean[i]);
    }
  }
  std::vector<std::byte> wire(qsgd->wire_bytes(x.size()));
  qsgd->encode_feedback(x, {}, wire);
  for (std::size_t i = 0; i < x.size(); ++i) {
    REQUIRE(std::isfinite(x[i]));
    if (i / grain == 1) REQUIRE(x[i] == 0);
  }
}

TEST_CASE("decode scales and decode_add adds what decode gives") {
  const auto spec = any_spec();
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  const auto x = gaussian(1234, 8), start = gaussian(1234, 10);
  const auto wire = encoded(*qsgd, x);
  const auto y = decoded(*qsgd, wire, x.size());
  auto sum = start, thirds = start;
  qsgd->decode_add(wire, {}, sum);
  qsgd->decode(wire, {}, 0.3F, thirds);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) wrong += sum[i] == start[i] + y[i] && thirds[i] == y[i] * 0.3F ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("any message of the right size decodes, any other is malformed") {
  const auto spec = any_spec();
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  std::mt19937 engine(5);
  std::vector<float> y(700);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::byte> wire(qsgd->wire_bytes(y.size()));
    for (auto& b : wire) b = static_cast<std::byte>(engine());
    CHECK_NOTHROW(qsgd->decode(wire, {}, 1, y));
  }
  std::vector<std::byte> small(qsgd->wire_bytes(y.size()) - 1);
  CHECK(error_of([&] { qsgd->decode(small, {}, 1, y); }).find(kMalformed + qsgd->spec()) == 0);
  CHECK(error_of([&] { qsgd->decode_add(small, {}, y); }).find(kMalformed + qsgd->spec()) == 0);
  CHECK_FALSE(error_of([&] { qsgd->encode(y, {}, small); }).empty());
}

namespace {

struct Moments {
  std::vector<double> mean;
  double squared_error = 0;  // expected, of the whole vector
};

Moments repeated(const Codec& qsgd, const std::vector<float>& x, std::uint64_t draws) {
  Moments m{std::vector<double>(x.size()), 0};
  for (std::uint64_t step = 0; step < draws; ++step) {
    const auto y = round_trip(qsgd, x, {.seed = 4, .step = step});
    for (std::size_t i = 0; i < x.size(); ++i) {
      m.mean[i] += y[i] / static_cast<double>(draws);
      m.squared_error += std::pow(static_cast<double>(y[i]) - x[i], 2) / static_cast<double>(draws);
    }
  }
  return m;
}

}  // namespace

TEST_CASE("stochastic rounding is unbiased") {
  const auto [spec, levels] = GENERATE(table<std::string, double>({{"qsgd(bits=2,bucket=64)", 1},
                                                                   {"qsgd(bits=4,bucket=64)", 7},
                                                                   {"qsgd(bits=8,bucket=64)", 127},
                                                                   {"qsgd(bits=3,bucket=64,norm=l2)", 3},
                                                                   {"qsgd(bits=1,bucket=64,norm=minmax)", 1},
                                                                   {"qsgd(bits=4,bucket=64,norm=minmax)", 15}}));
  CAPTURE(spec);
  const auto x = gaussian(64, 21);
  const std::uint64_t draws = 20000;
  const auto m = repeated(*codec(spec), x, draws);
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const bool minmax = spec.find("minmax") != std::string::npos;
  const double range = minmax                                 ? static_cast<double>(*high) - *low
                       : spec.find("l2") != std::string::npos ? std::sqrt(squared_norm(x))
                                                              : std::max(std::fabs(*low), *high);
  double chi = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at =
        (minmax ? static_cast<double>(x[i]) - *low : std::fabs(static_cast<double>(x[i]))) / range * levels;
    const double p = at - std::floor(at);
    const double deviation = range / levels * std::sqrt(std::max(p * (1 - p), 1e-6) / static_cast<double>(draws));
    const double z = (m.mean[i] - x[i]) / deviation;
    CHECK(std::fabs(z) < 5);
    chi += z * z;
  }
  CHECK(chi < 64 + 5 * std::sqrt(2.0 * 64));
}

TEST_CASE("the variance of QSGD is within the paper's bound") {
  const auto bits = GENERATE(2, 3, 4, 8);
  const auto bucket = GENERATE(16, 64, 256);
  CAPTURE(bits, bucket);
  const auto x = gaussian(static_cast<std::size_t>(bucket), 31);
  const double s = std::pow(2, bits - 1) - 1;
  const auto m = repeated(
      *codec("qsgd(ef=off,norm=l2,bits=" + std::to_string(bits) + ",bucket=" + std::to_string(bucket) + ")"), x, 2000);
  CHECK(m.squared_error > 0);
  CHECK(m.squared_error <= 1.05 * std::min(bucket / (s * s), std::sqrt(bucket) / s) * squared_norm(x));
}

TEST_CASE("ranks round independently") {  // D3
  const auto qsgd = codec("qsgd(bits=4)");
  const auto x = gaussian(100000, 41);
  double own = 0, common = 0;
  const auto a = round_trip(*qsgd, x, {.rank = 0}), b = round_trip(*qsgd, x, {.rank = 1});
  for (std::size_t i = 0; i < x.size(); ++i) {
    own += std::pow(static_cast<double>(a[i]) - x[i], 2);
    common += (static_cast<double>(a[i]) - x[i]) * (static_cast<double>(b[i]) - x[i]);
  }
  CHECK(std::fabs(common / own) < 5 / std::sqrt(100000.0));
}
