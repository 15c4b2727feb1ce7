#include <array>
#include <string>

#include "base/settings.hpp"
#include "support/catch.hpp"

using namespace ringlet;

TEST_CASE("nearest is the smallest edit distance, the first among equals") {
  const std::array<std::string, 4> known{"qsgd", "topk", "powersgd", "none"};
  CHECK(nearest("qsdg", known) == "qsgd");
  CHECK(nearest("top", known) == "topk");
  CHECK(nearest("powrsgd", known) == "powersgd");
  CHECK(nearest("none", known) == "none");
  CHECK(nearest("", std::array<std::string, 2>{"ab", "cd"}) == "ab");
  CHECK(nearest("anything", std::span<const std::string>()).empty());
}
