#include "train/model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gradient_check.hpp"
#include "ringlet/error.hpp"
#include "support/catch.hpp"
#include "train/loss.hpp"

namespace {

using namespace ringlet::train;
using ringlet::train::test::random_floats;

constexpr std::size_t kSamples = 4;
const std::vector<std::uint8_t> kLabels{3, 9, 0, 3};

std::span<float> floats(const ringlet::TensorView& view) { return {static_cast<float*>(view.data), view.elements()}; }

/// The smallest images that each network takes.
ImageSize smallest(const std::string& name) { return name == "cnn" ? ImageSize{16, 16, 1} : ImageSize{4, 4, 1}; }

struct Fixture {
  explicit Fixture(const std::string& name)
      : model(make_model(name, smallest(name), 10, kSamples, 1)), input(random_floats(kSamples * model.inputs(), 2)) {}

  double loss() { return cross_entropy(model.forward(input), kLabels); }
  std::vector<std::size_t> backward() {
    std::vector<std::size_t> order;
    AlignedFloats gradient(kSamples * 10);
    cross_entropy_gradient(model.forward(input), kLabels, 1, gradient);
    model.backward(input, gradient, [&](std::size_t index) { order.push_back(index); });
    return order;
  }

  Model model;
  AlignedFloats input;
};

/// Steps cross the kinks of pooling and rectifiers, so this shows wrong wiring, not small errors; those the layers' own
/// tests show.
constexpr double kTolerance = 0.1;

/// Difference between the derivative along random signs and what the gradient says, over the gradient's length.
double error_along_signs(Fixture& fixture, const ringlet::Parameter& parameter, unsigned seed) {
  constexpr double kStep = 2e-4;
  const auto value = floats(parameter.value);
  const auto gradient = floats(parameter.gradient);
  std::mt19937 random(seed);
  std::vector<float> signs(value.size());
  for (float& sign : signs) sign = random() % 2 == 0 ? 1.0F : -1.0F;
  const std::vector<float> kept(value.begin(), value.end());
  const auto loss_at = [&](double step) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<float>(kept[i] + step * signs[i]);
    return fixture.loss();
  };
  const double derivative = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  std::ranges::copy(kept, value.begin());
  double expected = 0;
  double squares = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    expected += double{gradient[i]} * signs[i];
    squares += double{gradient[i]} * gradient[i];
  }
  return std::abs(derivative - expected) / std::sqrt(squares);
}

}  // namespace

TEST_CASE("Both networks' gradients agree with differences", "[model]") {
  const auto name = GENERATE(values<std::string>({"cnn", "mlp"}));
  Fixture fixture(name);
  fixture.backward();
  for (const ringlet::Parameter& parameter : fixture.model.parameters()) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      CAPTURE(name, parameter.name, seed);
      REQUIRE(error_along_signs(fixture, parameter, seed) < kTolerance);
    }
  }
}

TEST_CASE("Gradients are announced once each, complete, the last layer's first", "[model]") {
  const auto name = GENERATE(values<std::string>({"cnn", "mlp"}));
  Fixture fixture(name);
  const auto parameters = fixture.model.parameters();
  fixture.backward();
  std::vector<std::vector<float>> complete;
  for (const auto& parameter : parameters) {
    const auto gradient = floats(parameter.gradient);
    complete.emplace_back(gradient.begin(), gradient.end());
    std::ranges::fill(gradient, 77.0F);
  }
  AlignedFloats gradient(kSamples * 10);
  cross_entropy_gradient(fixture.model.forward(fixture.input), kLabels, 1, gradient);
  std::vector<std::size_t> order;
  bool all_complete = true;
  fixture.model.backward(fixture.input, gradient, [&](std::size_t index) {
    order.push_back(index);
    all_complete = all_complete && std::ranges::equal(floats(parameters[index].gradient), complete[index]);
  });
  REQUIRE(all_complete);
  REQUIRE(parameters[order.front()].name.substr(0, 6) == (name == "cnn" ? "dense2" : "dense3"));
  REQUIRE(parameters[order.back()].name.substr(0, 5) == (name == "cnn" ? "conv1" : "dense"));
  std::ranges::sort(order);
  for (std::size_t i = 0; i < parameters.size(); ++i) REQUIRE(order.at(i) == i);
  REQUIRE(order.size() == parameters.size());
}

TEST_CASE("Parts of a batch add up to the batch, also an empty part", "[model]") {
  const auto name = GENERATE(values<std::string>({"cnn", "mlp"}));
  Fixture fixture(name);
  fixture.backward();
  const auto parameters = fixture.model.parameters();
  std::vector<std::vector<double>> whole;
  for (const auto& parameter : parameters)
    whole.emplace_back(floats(parameter.gradient).begin(), floats(parameter.gradient).end());
  for (const auto& [begin, count] : {std::pair{0UL, 1UL}, std::pair{1UL, 0UL}, std::pair{1UL, 3UL}}) {
    const auto input =
        std::span<const float>(fixture.input).subspan(begin * fixture.model.inputs(), count * fixture.model.inputs());
    const auto labels = std::span(kLabels).subspan(begin, count);
    AlignedFloats gradient(count * 10);
    cross_entropy_gradient(fixture.model.forward(input), labels, 1, gradient);
    fixture.model.backward(input, gradient, [](std::size_t) {});
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const auto part = floats(parameters[p].gradient);
      for (std::size_t i = 0; i < part.size(); ++i) whole[p][i] -= double{part[i]};
    }
  }
  double largest = 0;
  for (const auto& rest : whole) {
    for (const double value : rest) largest = std::max(largest, std::abs(value));
  }
  REQUIRE(largest < 2e-5);
}

TEST_CASE("A model's start is its seed's", "[model]") {
  const auto weights = [](std::uint64_t seed) {
    const Model model = make_model("cnn", {28, 28, 1}, 10, 1, seed);
    return std::vector<float>(model.weights().begin(), model.weights().end());
  };
  REQUIRE(weights(1) == weights(1));
  REQUIRE(weights(1) != weights(2));
}

TEST_CASE("Weights start within their bound, biases as zeros, tensors on cache lines", "[model]") {
  Model model = make_model("mlp", {28, 28, 1}, 10, 1, 1);
  for (const ringlet::Parameter& parameter : model.parameters()) {
    CAPTURE(parameter.name);
    REQUIRE(reinterpret_cast<std::uintptr_t>(parameter.value.data) % 64 == 0);
    REQUIRE(reinterpret_cast<std::uintptr_t>(parameter.gradient.data) % 64 == 0);
    double largest = 0;
    for (const float value : floats(parameter.value)) largest = std::max(largest, std::abs(double{value}));
    const bool bias = parameter.value.shape.dims() == 1;
    const double bound = bias ? 0 : std::sqrt(6.0 / static_cast<double>(parameter.value.shape[0]));
    REQUIRE(largest <= bound);
    REQUIRE(largest >= 0.99 * bound);
  }
}

TEST_CASE("The networks have the size that the guide states", "[model]") {
  const auto elements = [](const std::string& name) {
    Model model = make_model(name, {28, 28, 1}, 10, 1, 1);
    std::size_t sum = 0;
    for (const ringlet::Parameter& parameter : model.parameters()) sum += parameter.value.elements();
    return sum;
  };
  REQUIRE(elements("cnn") == 281034);
  REQUIRE(elements("mlp") == 235146);
}

TEST_CASE("Networks that do not exist or do not fit are refused", "[model]") {
  REQUIRE_THROWS_WITH(make_model("vgg", {28, 28, 1}, 10, 1, 1), Catch::Contains("there are cnn and mlp"));
  REQUIRE_THROWS_AS(make_model("cnn", {27, 28, 1}, 10, 1, 1), ringlet::Error);
  REQUIRE_THROWS_AS(make_model("cnn", {4, 4, 1}, 10, 1, 1), ringlet::Error);
}
