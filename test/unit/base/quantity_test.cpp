#include "base/parse_quantity.hpp"
#include "support/catch.hpp"

using namespace ringlet;
using namespace std::chrono_literals;

TEST_CASE("sizes are read with their units and only whole") {
  CHECK(parse_bytes("1048576") == 1048576U);
  CHECK(parse_bytes("0") == 0U);
  CHECK(parse_bytes("64MiB") == 67108864U);
  CHECK(parse_bytes("64MB") == 64000000U);
  CHECK(parse_bytes("64mb") == 64000000U);
  CHECK(parse_bytes("64 MiB") == 67108864U);
  CHECK(parse_bytes("1.5KiB") == 1536U);
  CHECK(parse_bytes("1TiB") == 1099511627776U);
  for (const char* bad : {"", "MiB", "64M", "64 MiBs", "-1", "+1", "0x10", "1e6", "1.5", "nan", "inf", " 64", "64MiB ",
                          "9007199254740992", "99999999999TiB", "1,5MiB"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_bytes(bad));
  }
}

TEST_CASE("times are read in their units, plain numbers in the caller's") {
  CHECK(parse_seconds("20", 1.0) == 20.0);
  CHECK(parse_seconds("20", 1e-3) == 0.02);
  CHECK(parse_seconds("20s", 1e-3) == 20.0);
  CHECK(parse_seconds("500ms", 1.0) == 0.5);
  CHECK(parse_seconds("0.5 s", 1.0) == 0.5);
  CHECK(parse_seconds("2min", 1.0) == 120.0);
  CHECK(parse_seconds("1h", 1.0) == 3600.0);
  for (const char* bad : {"", "s", "20sec", "-1s", "1e3", "inf", "nan", "1000000001", "20s 5", "."}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_seconds(bad, 1.0));
  }
}

TEST_CASE("whole numbers are digits and nothing else") {
  CHECK(parse_whole("18446744073709551615") == UINT64_MAX);
  for (const char* bad : {"", "18446744073709551616", "-1", "+1", "1.0", "0x1", " 1", "1 "}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_whole(bad));
  }
}

TEST_CASE("what is printed reads back as the same") {
  for (const std::size_t bytes : {0UL, 1UL, 1000UL, 1024UL, 1536UL, 67108864UL, 67108865UL, 1099511627776UL}) {
    CAPTURE(bytes);
    CHECK(parse_bytes(print_bytes(bytes)) == bytes);
  }
  CHECK(print_bytes(67108864) == "64MiB");
  for (const std::chrono::microseconds time : {0us, 1us, 1500us, 20000000us, 20500000us}) {
    const auto seconds = parse_seconds(print_time(time), 1e9);
    REQUIRE(seconds);
    CHECK(std::chrono::round<std::chrono::microseconds>(std::chrono::duration<double>(*seconds)) == time);
  }
  CHECK(print_time(20s) == "20s");
  CHECK(print_time(500ms) == "500ms");
}
