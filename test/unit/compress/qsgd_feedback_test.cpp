#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::test;

namespace {

// Residual norm over gradient norm after each of `steps` steps of error feedback on fresh Gaussian gradients.
double residual_after(const Codec& qsgd, std::size_t n, std::uint32_t steps) {
  std::vector<float> v(n);
  std::vector<std::byte> wire(qsgd.wire_bytes(n));
  for (std::uint32_t step = 0; step < steps; ++step) {
    const auto g = gaussian(n, step + 1);
    for (std::size_t i = 0; i < n; ++i) v[i] += g[i];
    qsgd.encode_feedback(v, {.step = step}, wire);
  }
  return std::sqrt(squared_norm(v) / static_cast<double>(n));
}

}  // namespace

TEST_CASE("encode_feedback leaves exactly what decoding does not give") {
  const auto spec = GENERATE(
      values<std::string>({"qsgd(bits=4)", "qsgd(bits=8,bucket=5)", "qsgd(bits=3,norm=l2)", "qsgd(bits=1,norm=minmax)",
                           "qsgd(bits=6,norm=minmax,bucket=1500)", "qsgd(bits=2,rounding=nearest)"}));
  const auto n = GENERATE(0u, 1u, 511u, 512u, 513u, 10007u);
  CAPTURE(spec, n);
  const auto qsgd = codec(spec);
  const auto x = gaussian(n, 3);
  const Site site{.step = 9};
  auto left = x;
  std::vector<std::byte> wire(qsgd->wire_bytes(n));
  qsgd->encode_feedback(left, site, wire);
  CHECK(wire == encoded(*qsgd, x, site));
  const auto sent = decoded(*qsgd, wire, n, site);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) wrong += left[i] == x[i] - sent[i] ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("sent plus left over is what came in, over many steps") {
  const auto spec = GENERATE(values<std::string>({"qsgd(bits=4)", "qsgd(bits=8,norm=l2)", "qsgd(bits=4,norm=minmax)"}));
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  REQUIRE(qsgd->error_feedback());
  const std::size_t n = 1000;
  std::vector<double> in(n), out(n);
  std::vector<float> v(n);
  std::vector<std::byte> wire(qsgd->wire_bytes(n));
  for (std::uint32_t step = 0; step < 100; ++step) {
    const auto g = gaussian(n, step);
    for (std::size_t i = 0; i < n; ++i) in[i] += g[i], v[i] += g[i];
    qsgd->encode_feedback(v, {.step = step}, wire);
    const auto sent = decoded(*qsgd, wire, n);
    for (std::size_t i = 0; i < n; ++i) out[i] += sent[i];
  }
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::fabs(in[i] - out[i] - v[i]));
  CHECK(worst < 1e-4);
}

TEST_CASE("residuals stay bounded wherever error feedback is on by default") {
  const auto bits = GENERATE(1, 2, 3, 4, 8);
  const auto norm = GENERATE(values<std::string>({"linf", "l2", "minmax"}));
  const auto rounding = GENERATE(values<std::string>({"stochastic", "nearest"}));
  const auto bucket = GENERATE(16, 512, 8192);
  if (bits == 1 && norm != "minmax") return;
  const std::string spec = "qsgd(bits=" + std::to_string(bits) + ",bucket=" + std::to_string(bucket) + ",norm=" + norm +
                           ",rounding=" + rounding + ")";
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  if (!qsgd->error_feedback()) return;
  const double early = residual_after(*qsgd, 8192, 100), late = residual_after(*qsgd, 8192, 200);
  CAPTURE(early, late);
  CHECK(late < 40);
  CHECK(late < 1.3 * early + 0.1);
}

TEST_CASE("residuals do grow where error feedback is refused") {
  const auto [spec, growth] =
      GENERATE(table<std::string, double>({{"qsgd(bits=4,norm=l2)", 3},
                                           {"qsgd(bits=2,norm=l2,bucket=16)", 3},
                                           {"qsgd(bits=2,norm=l2,rounding=nearest)", 1.3},  // nothing is ever sent
                                           {"qsgd(bits=1,norm=minmax)", 3},
                                           {"qsgd(bits=1,norm=minmax,rounding=nearest)", 1.3}}));
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  CHECK_FALSE(qsgd->error_feedback());
  CHECK(residual_after(*qsgd, 8192, 80) > growth * residual_after(*qsgd, 8192, 40));
}

TEST_CASE("the largest residual is a fraction of the largest gradient element") {
  const auto [spec, bound] = GENERATE(table<std::string, float>({{"qsgd(bits=3)", 1.0F / 2},
                                                                 {"qsgd(bits=4)", 1.0F / 6},
                                                                 {"qsgd(bits=8)", 1.0F / 126},
                                                                 {"qsgd(bits=2,norm=minmax)", 2.0F / 1},
                                                                 {"qsgd(bits=4,norm=minmax)", 2.0F / 13}}));
  CAPTURE(spec);
  const auto qsgd = codec(spec);
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<float> v(4096);
  std::vector<std::byte> wire(qsgd->wire_bytes(v.size()));
  for (std::uint32_t step = 0; step < 200; ++step) {
    for (float& x : v) x += draw(engine);
    qsgd->encode_feedback(v, {.step = step}, wire);
    for (const float x : v) REQUIRE(std::fabs(x) <= 1.0001F * bound);
  }
}
