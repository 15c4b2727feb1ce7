#include "train/loss.hpp"

#include <cmath>
#include <vector>

#include "gradient_check.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringlet::train;
using ringlet::train::test::largest_error;
using ringlet::train::test::random_floats;

const std::vector<std::uint8_t> kLabels{2, 0, 4, 1};

}  // namespace

TEST_CASE("Cross-entropy follows its definition", "[loss]") {
  const AlignedFloats logits = random_floats(20, 1);
  double expected = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < 5; ++c) sum += std::exp(double{logits[5 * i + c]});
    expected -= std::log(std::exp(double{logits[5 * i + kLabels[i]]}) / sum);
  }
  REQUIRE(cross_entropy(logits, kLabels) == Approx(expected).epsilon(1e-12));
}

TEST_CASE("Its gradient agrees with differences and carries the scale", "[loss]") {
  AlignedFloats logits = random_floats(20, 1);
  AlignedFloats gradient(20);
  cross_entropy_gradient(logits, kLabels, 0.25F, gradient);
  REQUIRE(largest_error(logits, gradient, 1e-3, [&] { return 0.25 * cross_entropy(logits, kLabels); }) < 1e-6);
}

TEST_CASE("Large logits do not overflow", "[loss]") {
  const std::vector<float> logits{1e4F, -1e4F, 0, 0, 0};
  const std::vector<std::uint8_t> wrong{1};
  std::vector<float> gradient(5);
  cross_entropy_gradient(logits, wrong, 1, gradient);
  REQUIRE(cross_entropy(logits, wrong) == Approx(2e4));
  REQUIRE(gradient == std::vector<float>{1, -1, 0, 0, 0});
}

TEST_CASE("No samples, no loss", "[loss]") {
  std::vector<float> none;
  cross_entropy_gradient(none, {}, 1, none);
  REQUIRE(cross_entropy(none, {}) == 0);
  REQUIRE(count_correct(none, {}) == 0);
}

TEST_CASE("Correct is where the label's logit is the largest", "[loss]") {
  const std::vector<float> logits{1, 2, 3, 3, 2, 1, -1, -2, -3};
  REQUIRE(count_correct(logits, std::vector<std::uint8_t>{2, 0, 0}) == 3);
  REQUIRE(count_correct(logits, std::vector<std::uint8_t>{2, 1, 1}) == 1);
}
