#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/catch.hpp"
#include "unit/compress/vectors.hpp"

using namespace ringlet;
using namespace ringlet::test;

namespace {

struct Entry {
  std::uint32_t index;
  std::uint32_t bits;  // of the value
  bool operator==(const Entry&) const = default;
};

std::vector<std::byte> encoded(const Sparsifier& topk, std::vector<float>& values) {
  std::vector<std::byte> wire(topk.max_wire_bytes(values.size()));
  wire.resize(topk.encode(values, {}, wire));
  return wire;
}

std::vector<Entry> entries(const std::vector<std::byte>& wire) {
  std::vector<Entry> list(wire.size() / 8);
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::memcpy(&list[i].index, &wire[4 * i], 4);
    std::memcpy(&list[i].bits, &wire[4 * (list.size() + i)], 4);
  }
  return list;
}

// By sorting: larger magnitude first, NaNs before all, lower index first.
std::vector<Entry> by_sorting(const std::vector<float>& x, std::size_t k) {
  std::vector<std::uint32_t> order(x.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t i) { return std::bit_cast<std::uint32_t>(std::fabs(x[i])); };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) > key(b); });
  order.resize(k);
  std::sort(order.begin(), order.end());
  std::vector<Entry> list;
  for (const auto i : order) list.push_back({i, std::bit_cast<std::uint32_t>(x[i])});
  return list;
}

std::vector<std::byte> wire_of(const std::vector<std::uint32_t>& words) {
  std::vector<std::byte> wire(4 * words.size());
  if (!wire.empty()) std::memcpy(wire.data(), words.data(), wire.size());
  return wire;
}

}  // namespace

TEST_CASE("top-k by hand: ascending indices, then values") {
  std::vector<float> x{1, -5, 0, 3};
  CHECK(as_ints(encoded(*sparsifier("topk(k=2)"), x)) ==
        std::vector<int>{1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0xa0, 0xc0, 0, 0, 0x40, 0x40});
  CHECK(x == std::vector<float>{1, 0, 0, 0});
}

TEST_CASE("k is a share rounded down, at least one and at most all, or a number") {
  const auto [spec, n, k] = GENERATE(table<std::string, std::size_t, std::size_t>({{"topk", 0, 0},
                                                                                   {"topk", 1, 1},
                                                                                   {"topk", 199, 1},
                                                                                   {"topk", 200, 2},
                                                                                   {"topk(ratio=1)", 77, 77},
                                                                                   {"topk(ratio=0.5)", 3, 1},
                                                                                   {"topk(k=10)", 3, 3},
                                                                                   {"topk(k=10)", 0, 0},
                                                                                   {"topk(k=10)", 1000, 10}}));
  CAPTURE(spec, n);
  auto x = gaussian(n);
  CHECK(sparsifier(spec)->max_wire_bytes(n) == 8 * k);
  CHECK(encoded(*sparsifier(spec), x).size() == 8 * k);
}

TEST_CASE("the k largest are found exactly, whatever the tensor looks like") {
  const auto n = GENERATE(std::size_t{1}, std::size_t{2}, std::size_t{511}, std::size_t{4096}, std::size_t{5000},
                          std::size_t{100003}, std::size_t{300000});
  const auto ratio = GENERATE(values<std::string>({"0.0001", "0.001", "0.01", "0.1", "0.3", "0.9", "1"}));
  const auto kind = GENERATE(0, 1, 2, 3, 4, 5, 6);
  CAPTURE(n, ratio, kind);
  auto x = gaussian(n, 7);
  for (std::size_t i = 0; i < n; ++i) {
    if (kind == 1) x[i] = static_cast<float>(i % 5);      // ties everywhere
    if (kind == 2) x[i] = i % 1000 == 999 ? x[i] : 0.0F;  // fewer non-zeros than wanted
    if (kind == 3) x[i] *= std::exp(-static_cast<float>(i) / static_cast<float>(n) * 20);  // a sample that misleads
    if (kind == 4) x[i] = i % 128 < 16 ? 1e-3F * x[i] : x[i];                              // another
    if (kind == 5) x[i] = any_floats(1, static_cast<std::uint32_t>(i))[0];
    if (kind == 6) x[i] = 0;
    if (kind == 5 && i > 600) break;
  }
  const auto topk = sparsifier("topk(ef=off,ratio=" + ratio + ")");
  const auto before = bits_of(x);
  const auto got = entries(encoded(*topk, x));
  CHECK(got == by_sorting(x, topk->max_wire_bytes(n) / 8));
  CHECK(bits_of(x) == before);  // without error feedback nothing is taken out
}

TEST_CASE("sent plus left over is what came in, bit for bit") {
  const auto n = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{100003});
  const auto x = gaussian(n, 8);
  const auto topk = sparsifier("topk(ratio=0.05)");
  auto left = x;
  const auto wire = encoded(*topk, left);
  CHECK(squared_norm(left) <=
        (1 - static_cast<double>(wire.size() / 8) / static_cast<double>(std::max<std::size_t>(n, 1))) *
            squared_norm(x));
  topk->decode_add(wire, {}, left);
  CHECK(left == x);
}

TEST_CASE("top-k is a contraction even when all elements are alike") {
  std::vector<float> x(1000, 2.0F);
  encoded(*sparsifier("topk(ratio=0.25)"), x);
  CHECK(squared_norm(x) == 750 * 4);
  CHECK(x[249] == 0);  // ties: the lower index goes first
  CHECK(x[250] == 2);
}

TEST_CASE("a NaN is sent first, and no residual is left non-finite") {
  auto x = gaussian(1000, 9);
  x[3] = kNaN, x[500] = -kInf, x[700] = 1e30F;
  auto sent = x;
  const auto three = entries(encoded(*sparsifier("topk(k=3)"), sent));
  CHECK(three == by_sorting(x, 3));
  CHECK(three[0].index == 3);
  for (const float v : sent) REQUIRE(std::isfinite(v));

  auto many = x;
  for (std::size_t i = 0; i < many.size(); i += 2) many[i] = i % 4 == 0 ? kNaN : kInf;
  encoded(*sparsifier("topk(k=3)"), many);
  for (std::size_t i = 0; i < many.size(); ++i) {
    REQUIRE(std::isfinite(many[i]));
    if (i % 2 == 1 && i != 3) REQUIRE(many[i] == x[i]);
  }
}

TEST_CASE("a message that no encoder writes is malformed, and adds nothing") {
  const auto topk = sparsifier("topk(k=2)");
  std::vector<float> y(5, 1.0F);
  const auto refusal = [&](const std::vector<std::uint32_t>& words) {
    return error_of([&] { topk->decode_add(wire_of(words), {}, y); });
  };
  CHECK(refusal({0, 4, 0, 0}).empty());
  CHECK(refusal({4, 5, 0x3f800000, 0x3f800000}) ==
        kMalformed + "topk(k=2,ef=on): entry 1 of 2 has index 5, which is not above the one before and below 5");
  CHECK(refusal({3, 3, 0x3f800000, 0x3f800000}) ==
        kMalformed + "topk(k=2,ef=on): entry 1 of 2 has index 3, which is not above the one before and below 5");
  CHECK(refusal({3, 1, 0x3f800000, 0x3f800000}).find(kMalformed) == 0);
  CHECK(refusal({0xffffffff, 1, 0x3f800000, 0x3f800000}).find(kMalformed) == 0);
  CHECK(refusal({0, 0x3f800000}).find(kMalformed) == 0);
  CHECK(refusal({0, 1, 2, 0, 0, 0}).find(kMalformed) == 0);
  CHECK(refusal({}).find(kMalformed) == 0);
  CHECK(y == std::vector<float>(5, 1.0F));
}

TEST_CASE("indices beyond 2^24 are exact") {  // D11: as floats they are not
  const std::size_t n = (std::size_t{1} << 24) + 10;
  std::vector<float> x(n);
  x[n - 1] = 3, x[n - 2] = -2, x[5] = 1;
  const auto got = entries(encoded(*sparsifier("topk(k=3)"), x));
  CHECK(got[1].index == n - 2);
  CHECK(got[2].index == n - 1);
}

TEST_CASE("tensors beyond the reach of 32-bit indices are refused before they are read") {
  float element = 0;
  std::byte byte{};
  const auto topk = sparsifier("topk(k=1)");
  const std::span<float> huge(&element, (std::size_t{1} << 32) + 1);
  CHECK(
      error_of([&] {
        topk->encode(huge, {}, {&byte, 1});
      }) ==
      kInvalid +
          "topk(k=1,ef=on): 4294967297 elements are more than the 2^32 that 32-bit indices reach: split the tensor, or "
          "use another method for it");
}
