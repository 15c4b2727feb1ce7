#include "optimizer/sgd.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ringlet/error.hpp"
#include "support/catch.hpp"

namespace {

using ringlet::Error;
using ringlet::SgdOptions;
using ringlet::optimizer::Sgd;

constexpr std::size_t kElements = 257;
constexpr int kSteps = 20;
constexpr double kRate = 0.05;

/// The rule as SgdOptions states it, one element at a time, in double.
class Oracle {
 public:
  explicit Oracle(const SgdOptions& options) : options_(options), momentum_(kElements) {}

  double update(std::size_t i, double value, double gradient) {
    const double d = gradient + options_.weight_decay * value;
    if (options_.momentum == 0) return d;
    double& m = momentum_[i];
    m = first_ ? d : options_.momentum * m + (1 - options_.dampening) * d;
    return options_.nesterov ? d + options_.momentum * m : m;
  }
  void end_step() { first_ = false; }

 private:
  SgdOptions options_;
  std::vector<double> momentum_;
  bool first_ = true;
};

std::vector<float> random_floats(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(kElements);
  for (float& value : values) value = normal(random);
  return values;
}

double largest_difference(const std::vector<float>& values, const std::vector<double>& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    largest = std::max(largest, std::abs(double{values[i]} - expected[i]));
  return largest;
}

std::vector<SgdOptions> every_kind() {
  return {{},
          {.weight_decay = 0.1},
          {.momentum = 0.9},
          {.momentum = 0.9, .weight_decay = 0.01},
          {.momentum = 0.9, .dampening = 0.4},
          {.momentum = 0.9, .dampening = 0.4, .weight_decay = 0.1},
          {.momentum = 0.8, .nesterov = true},
          {.momentum = 0.8, .weight_decay = 0.1, .nesterov = true}};
}

}  // namespace

TEST_CASE("SGD in one piece follows the rule in double", "[sgd]") {
  for (const SgdOptions& options : every_kind()) {
    CAPTURE(options.momentum, options.dampening, options.weight_decay, options.nesterov);
    Sgd sgd(options, kElements);
    Oracle oracle(options);
    std::vector<float> value = random_floats(1);
    std::vector<double> expected(value.begin(), value.end());
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<float> gradient = random_floats(static_cast<unsigned>(100 + step));
      sgd.step(value, gradient, static_cast<float>(kRate));
      for (std::size_t i = 0; i < kElements; ++i) expected[i] -= kRate * oracle.update(i, expected[i], gradient[i]);
      oracle.end_step();
      REQUIRE(largest_difference(value, expected) < 2e-5);
    }
  }
}

TEST_CASE("SGD in two parts averages the ranks' updates", "[sgd]") {
  for (const SgdOptions& options : every_kind()) {
    CAPTURE(options.momentum, options.dampening, options.weight_decay, options.nesterov);
    std::vector<Sgd> ranks(2, Sgd(options, kElements));
    std::vector<Oracle> oracles(2, Oracle(options));
    std::vector<float> value = random_floats(1);
    std::vector<double> expected(value.begin(), value.end());
    for (int step = 0; step < kSteps; ++step) {
      std::vector<float> average(kElements);
      std::vector<double> expected_average(kElements);
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        std::vector<float> update = random_floats(static_cast<unsigned>(100 + 2 * step) + static_cast<unsigned>(r));
        for (std::size_t i = 0; i < kElements; ++i) {
          expected_average[i] += oracles[r].update(i, expected[i], update[i]) / 2;
        }
        ranks[r].propose(value, update);
        for (std::size_t i = 0; i < kElements; ++i) average[i] += update[i] / 2;
        oracles[r].end_step();
      }
      std::vector<float> other = value;
      ranks[0].accept(value, average, static_cast<float>(kRate));
      ranks[1].accept(other, average, static_cast<float>(kRate));
      for (std::size_t i = 0; i < kElements; ++i) expected[i] -= kRate * expected_average[i];
      REQUIRE(value == other);
      REQUIRE(largest_difference(value, expected) < 2e-5);
    }
  }
}

TEST_CASE("A proposal that is not accepted leaves no trace", "[sgd]") {
  const SgdOptions options{.momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1};
  Sgd disturbed(options, kElements);
  Sgd undisturbed(options, kElements);
  std::vector<float> a = random_floats(1);
  std::vector<float> b = a;
  for (unsigned step = 0; step < 5; ++step) {
    std::vector<float> lost = random_floats(50 + step);
    disturbed.propose(a, lost);  // and its exchange fails
    std::vector<float> u = random_floats(100 + step);
    std::vector<float> v = u;
    disturbed.propose(a, u);
    undisturbed.propose(b, v);
    REQUIRE(u == v);
    disturbed.accept(a, u, 0.05F);
    undisturbed.accept(b, v, 0.05F);
    REQUIRE(a == b);
  }
}

TEST_CASE("SGD refuses options without a meaning", "[sgd]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const SgdOptions& options : std::vector<SgdOptions>{{.learning_rate = -1},
                                                           {.learning_rate = nan},
                                                           {.momentum = -0.1},
                                                           {.momentum = 0.9, .dampening = nan},
                                                           {.weight_decay = std::numeric_limits<double>::infinity()},
                                                           {.nesterov = true},
                                                           {.momentum = 0.9, .dampening = 0.1, .nesterov = true}}) {
    REQUIRE_THROWS_AS(ringlet::optimizer::check_options(options), Error);
  }
  for (const SgdOptions& options : every_kind()) REQUIRE_NOTHROW(ringlet::optimizer::check_options(options));
  REQUIRE_THROWS_WITH(ringlet::optimizer::check_options({.momentum = -0.5}), Catch::Contains("momentum is -0.5"));
}
