#include "optimizer/parameter_check.hpp"

#include <array>
#include <vector>

#include "support/catch.hpp"

namespace {

using ringlet::Parameter;
using ringlet::Shape;
using ringlet::TensorView;

struct Memory {
  std::array<float, 6> value{};
  std::array<float, 6> gradient{};
  std::array<double, 6> wide{};

  Parameter parameter(const std::string& name) {
    return {name, {value.data(), Shape{2, 3}}, {gradient.data(), Shape{2, 3}}};
  }
};

void require_refusal(const std::vector<Parameter>& parameters, const std::string& text) {
  REQUIRE_THROWS_WITH(ringlet::optimizer::check_parameters(parameters), Catch::Contains(text));
}

}  // namespace

TEST_CASE("Parameters that fit are accepted", "[optimizer]") {
  Memory memory;
  Parameter empty{"empty", TensorView(static_cast<float*>(nullptr), Shape{0}),
                  TensorView(static_cast<float*>(nullptr), Shape{0})};
  REQUIRE_NOTHROW(
      ringlet::optimizer::check_parameters(std::vector{memory.parameter("a"), memory.parameter("b"), empty}));
}

TEST_CASE("Parameters that do not fit are refused by name and reason", "[optimizer]") {
  Memory memory;
  const Parameter good = memory.parameter("layer.weight");
  require_refusal({good, good}, "\"layer.weight\": two parameters have this name");

  Parameter bad = good;
  bad.name.clear();
  require_refusal({bad}, "no name");

  bad = good;
  bad.name = "a\nb";
  require_refusal({bad}, "one line");

  bad = good;
  bad.gradient = {memory.gradient.data(), Shape{3, 2}};
  require_refusal({bad}, "its value is [2, 3], its gradient [3, 2]");

  bad = good;
  bad.value = {memory.wide.data(), Shape{2, 3}};
  require_refusal({bad}, "its value is float64");

  bad = good;
  bad.gradient = {static_cast<float*>(nullptr), Shape{2, 3}};
  require_refusal({bad}, "its gradient has no memory");

  bad = good;
  bad.value = {static_cast<const float*>(memory.value.data()), Shape{2, 3}};
  require_refusal({bad}, "its value is read-only");

  bad = good;
  bad.gradient.device = {.ordinal = 1};
  require_refusal({bad}, "its gradient is on device 1");
}
