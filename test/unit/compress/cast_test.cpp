#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::test;

TEST_CASE("the wire of a cast is two bytes an element, little-endian") {
  CHECK(as_ints(encoded(*codec("fp16"), {1.0F, -2.0F, 65504.0F, 1e6F, -1e30F, 0x1p-24F})) ==
        std::vector<int>{0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0xff, 0x7b, 0xff, 0xfb, 0x01, 0x00});
  CHECK(as_ints(encoded(*codec("bf16"), {1.0F, -2.0F, 1e30F, std::numeric_limits<float>::max()})) ==
        std::vector<int>{0x80, 0x3f, 0x00, 0xc0, 0x4a, 0x71, 0x7f, 0x7f});
}

TEST_CASE("a cast errs by half a unit in the last place") {
  const auto [spec, bound] = GENERATE(table<std::string, double>({{"fp16", 0x1p-11}, {"bf16", 0x1p-8}}));
  const auto n = GENERATE(0u, 1u, 15u, 16u, 17u, 2047u, 2048u, 2049u, 100003u);
  CAPTURE(spec, n);
  const auto x = gaussian(n);
  const auto y = round_trip(*codec(spec), x);
  double worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double least = 0x1p-25;  // a subnormal half's half unit
    worst = std::max(worst, std::fabs(static_cast<double>(x[i]) - y[i]) /
                                std::max(std::fabs(static_cast<double>(x[i])), least / bound));
  }
  CHECK(worst <= bound);
}

TEST_CASE("an encoded element depends on nothing but its value") {
  const auto spec = GENERATE(values<std::string>({"fp16", "bf16"}));
  const auto cast = codec(spec);
  const auto x = any_floats(1000);
  const auto whole = encoded(*cast, x);
  for (const std::size_t at : {1u, 7u, 16u, 993u, 999u}) {
    const std::vector<float> part(x.begin() + static_cast<std::ptrdiff_t>(at), x.end());
    const auto wire = encoded(*cast, part, {.rank = 3, .offset = at});
    CHECK(std::equal(wire.begin(), wire.end(), whole.begin() + static_cast<std::ptrdiff_t>(2 * at)));
  }
  CHECK(cast->grain() == 1);
}

TEST_CASE("sums of P values that fit, fit") {
  const auto stage = GENERATE(Stage::partial_sum, Stage::result);
  const auto [ranks, factor] =
      GENERATE(table<int, float>({{1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {8, 8}, {1024, 1024}}));
  CAPTURE(ranks);
  const Site site{.stage = stage, .ranks = ranks};
  const auto fp16 = codec("fp16");
  const std::vector<float> sums{65504.0F * static_cast<float>(ranks), -65504.0F * static_cast<float>(ranks), 3.0F};
  const auto back = round_trip(*fp16, sums, site);
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(back[i] == Approx(sums[i]).epsilon(0x1p-11));
  CHECK(as_ints(encoded(*fp16, {factor}, site)) == std::vector<int>{0x00, 0x3c});  // scaled to 1
  // bfloat16 has a float's range, and contributions go as they are
  CHECK(as_ints(encoded(*codec("bf16"), {1.0F}, site)) == std::vector<int>{0x80, 0x3f});
  CHECK(as_ints(encoded(*fp16, {1.0F}, {.ranks = ranks})) == std::vector<int>{0x00, 0x3c});
}

TEST_CASE("decoding scales, adds, and keeps what is not finite") {
  const Site site{.stage = Stage::result, .ranks = 3};
  const auto fp16 = codec("fp16");
  const std::vector<float> x{8, -4, kInf, kNaN, 1e9F};
  const auto wire = encoded(*fp16, x, site);
  std::vector<float> y(5, 1.0F);
  fp16->decode_add(wire, site, y);
  CHECK(y[0] == 9);
  CHECK(y[1] == -3);
  CHECK(y[2] == kInf);
  CHECK(std::isnan(y[3]));
  CHECK(y[4] == 65504.0F * 4 + 1);
  fp16->decode(wire, site, 0.5F, y);
  CHECK(y[0] == 4);
  CHECK(y[4] == 65504.0F * 2);
}

TEST_CASE("error feedback of a cast keeps exactly what was lost, and nothing that is not finite") {
  const auto spec = GENERATE(values<std::string>({"fp16(ef=on)", "bf16(ef=on)"}));
  const auto stage = GENERATE(Stage::contribution, Stage::result);
  const auto cast = codec(spec);
  CHECK(cast->error_feedback());
  const Site site{.stage = stage, .ranks = 5};
  auto x = gaussian(5001, 3, 100);
  x[0] = kNaN, x[1] = kInf, x[2] = 3e38F, x[3] = -1e6F, x[4] = 1e-42F;
  auto left = x;
  std::vector<std::byte> wire(cast->wire_bytes(x.size()));
  cast->encode_feedback(left, site, wire);
  CHECK(wire == encoded(*cast, x, site));
  const auto sent = decoded(*cast, wire, x.size(), site);
  std::size_t wrong = 0;
  for (std::size_t i = 2; i < x.size(); ++i) wrong += left[i] == x[i] - sent[i] ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(left[0] == 0);
  CHECK(left[1] == 0);
}

TEST_CASE("a message of the wrong size is malformed") {
  const auto fp16 = codec("fp16");
  std::vector<float> y(3);
  const std::string want = kMalformed +
                           "fp16(ef=off): a message for 3 elements has 6 bytes, not 5: do all ranks run the same "
                           "version with the same compression?";
  CHECK(error_of([&] { fp16->decode(std::vector<std::byte>(5), {}, 1, y); }) == want);
  CHECK(error_of([&] { fp16->decode_add(std::vector<std::byte>(5), {}, y); }) == want);
  CHECK_FALSE(error_of([&] {
                std::vector<std::byte> small(5);
                fp16->encode(y, {}, small);
              }).empty());
}
