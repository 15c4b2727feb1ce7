#include "base/dtype.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "support/catch.hpp"

using namespace ringlet;

namespace {

/// The value of a binary16 by its definition.
double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

/// How many of the 2^16 halves h do not satisfy `holds(h)`: one assertion instead of 65,536.
template <class Predicate>
int failures(Predicate holds) {
  int count = 0;
  for (int h = 0; h < 65536; ++h) count += holds(static_cast<std::uint16_t>(h)) ? 0 : 1;
  return count;
}

}  // namespace

TEST_CASE("every float16 reads as its value") {
  CHECK(failures([](std::uint16_t h) {
          const double value = to_float(float16{h}), expected = half_value(h);
          if (std::isnan(expected)) return std::isnan(value);
          return value == expected && std::signbit(value) == std::signbit(expected);
        }) == 0);
}

TEST_CASE("every float16 and bfloat16 survives the way to float and back") {
  CHECK(failures([](std::uint16_t h) {
          const float value = to_float(float16{h});
          const std::uint16_t back = to_float16(value).bits;
          return std::isnan(value) ? back == (h | 0x200) : back == h;
        }) == 0);
  CHECK(failures([](std::uint16_t h) {
          const float value = to_float(bfloat16{h});
          const std::uint16_t back = to_bfloat16(value).bits;
          return std::isnan(value) ? back == (h | 0x40) : back == h;
        }) == 0);
}

TEST_CASE("between two float16 the nearer one is taken, and the even one in the middle") {
  // Halves of one sign are in the order of their bits, so the neighbour above h is h + 1; all sums are exact in float.
  CHECK(failures([](std::uint16_t h) {
          if ((h & 0x7fff) >= 0x7bff) return true;  // the largest finite one is tested below
          const float low = to_float(float16{h}), high = to_float(float16{static_cast<std::uint16_t>(h + 1)});
          const float middle = (low + high) / 2;
          const std::uint16_t even = (h & 1) == 0 ? h : static_cast<std::uint16_t>(h + 1);
          return to_float16(middle).bits == even && to_float16(std::nextafter(middle, low)).bits == h &&
                 to_float16(std::nextafter(middle, high)).bits == h + 1;
        }) == 0);
}

TEST_CASE("the same for bfloat16") {
  CHECK(failures([](std::uint16_t h) {
          if ((h & 0x7fff) >= 0x7f7f) return true;
          const std::uint32_t low = std::uint32_t{h} << 16;
          const auto at = [&](std::uint32_t offset) { return to_bfloat16(std::bit_cast<float>(low + offset)).bits; };
          const int even = (h & 1) == 0 ? h : h + 1;
          return at(0x8000) == even && at(0x7fff) == h && at(0x8001) == h + 1;
        }) == 0);
}

TEST_CASE("what is too large becomes infinite, and what is too small zero") {
  CHECK(to_float16(65504.0F).bits == 0x7bff);
  CHECK(to_float16(65519.996F).bits == 0x7bff);
  CHECK(to_float16(65520.0F).bits == 0x7c00);
  CHECK(to_float16(1e30F).bits == 0x7c00);
  CHECK(to_float16(-1e30F).bits == 0xfc00);
  CHECK(to_float16(-std::numeric_limits<float>::infinity()).bits == 0xfc00);
  CHECK(to_float16(std::ldexp(1.0F, -25)).bits == 0);
  CHECK(to_float16(std::nextafter(std::ldexp(1.0F, -25), 1.0F)).bits == 1);
  CHECK(to_float16(std::numeric_limits<float>::denorm_min()).bits == 0);
  CHECK(to_float16(-0.0F).bits == 0x8000);
  CHECK(to_bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7f800001U)))));
  CHECK(std::isnan(to_float(to_float16(std::bit_cast<float>(0x7f800001U)))));
}

TEST_CASE("dtypes and shapes have names, and with_type meets every dtype") {
  int seen = 0;
  for (int d = 0; d <= static_cast<int>(DType::boolean); ++d) {
    const auto dtype = static_cast<DType>(d);
    CAPTURE(to_string(dtype));
    CHECK(with_type(dtype, []<class T>() { return dtype_of<T>(); }) == dtype);
    CHECK(with_type(dtype, []<class T>() { return sizeof(T); }) == size_of(dtype));
    seen += is_floating(dtype) ? 1 : 0;
  }
  CHECK(seen == 4);
  CHECK_THROWS_AS(with_type(static_cast<DType>(9), []<class T>() { return sizeof(T); }), Error);
  CHECK(std::string(to_string(DType::bfloat16)) == "bfloat16");
  CHECK(to_string(Shape{3, 224, 224}) == "[3, 224, 224]");
  CHECK(to_string(Shape{0}) == "[0]");
  CHECK(to_string(Shape{}) == "[]");
}
