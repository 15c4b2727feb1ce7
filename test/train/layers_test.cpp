#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "gradient_check.hpp"
#include "ringlet/error.hpp"
#include "support/catch.hpp"
#include "train/conv.hpp"
#include "train/dense.hpp"
#include "train/pool.hpp"
#include "train/relu.hpp"

namespace {

using namespace ringlet::train;
using ringlet::train::test::largest_error;
using ringlet::train::test::random_floats;

/// A layer alone, with memory for everything around it and the loss sum(output * weight).
class Bench {
 public:
  Bench(Layer& layer, std::size_t samples)
      : layer_(layer),
        input(random_floats(samples * layer.inputs(), 1)),
        input_gradient(input.size(), 99.0F),
        output_(samples * layer.outputs()),
        weight_(random_floats(output_.size(), 2)) {
    unsigned seed = 3;
    for (const TensorSpec& spec : layer.tensors()) {
      values.push_back(random_floats(spec.shape.elements(), seed++));
      gradients.emplace_back(spec.shape.elements(), 99.0F);
    }
    std::vector<TensorMemory> memory;
    for (std::size_t t = 0; t < values.size(); ++t) memory.push_back({values[t], gradients[t]});
    layer.bind(memory);
  }

  double loss() {
    layer_.forward(input, output_);
    double sum = 0;
    for (std::size_t i = 0; i < output_.size(); ++i) sum += double{output_[i]} * weight_[i];
    return sum;
  }

  void backward() {
    loss();
    layer_.parameter_gradients(input, weight_);
    layer_.input_gradient(input, weight_, input_gradient);
  }

 private:
  Layer& layer_;

 public:
  AlignedFloats input;
  AlignedFloats input_gradient;
  std::vector<AlignedFloats> values;
  std::vector<AlignedFloats> gradients;

 private:
  AlignedFloats output_;
  AlignedFloats weight_;
};

/// All gradients of a layer whose output is linear in each single element within `epsilon`: there a central difference
/// errs by rounding only.
void require_gradients(Layer& layer, std::size_t samples, Bench& bench, double epsilon) {
  CAPTURE(samples, layer.inputs(), layer.outputs());
  const auto loss = [&] { return bench.loss(); };
  bench.backward();
  REQUIRE(largest_error(bench.input, bench.input_gradient, epsilon, loss) < 2e-4);
  for (std::size_t t = 0; t < bench.values.size(); ++t) {
    REQUIRE(largest_error(bench.values[t], bench.gradients[t], epsilon, loss) < 2e-4);
  }
}

/// Values none of which is within 0.01 of another or of zero, so that small steps change no comparison.
void spread(AlignedFloats& values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  const auto half = static_cast<float>(values.size()) / 2;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.02F * (static_cast<float>(order[i]) - half + 0.5F);
}

}  // namespace

TEST_CASE("Dense: gradients agree with differences", "[layers]") {
  Dense layer(7, 5);
  for (const std::size_t samples : {1UL, 3UL}) {
    Bench bench(layer, samples);
    require_gradients(layer, samples, bench, 1.0);
  }
}

TEST_CASE("Dense: a product by hand", "[layers]") {
  Dense layer(2, 3);
  std::vector<float> weight{1, 2, 3, 4, 5, 6}, bias{10, 20, 30}, unused(6), y(3);
  layer.bind(std::vector<TensorMemory>{{weight, unused}, {bias, unused}});
  layer.forward(std::vector<float>{1, -1}, y);
  REQUIRE(y == std::vector<float>{7, 17, 27});
}

TEST_CASE("Convolution: gradients agree with differences", "[layers]") {
  for (const auto& [size, kernel, filters] :
       {std::tuple{ImageSize{4, 5, 1}, 3UL, 2UL}, std::tuple{ImageSize{5, 4, 3}, 2UL, 4UL},
        std::tuple{ImageSize{3, 3, 2}, 3UL, 1UL}, std::tuple{ImageSize{3, 2, 2}, 1UL, 3UL}}) {
    Conv layer(size, kernel, filters);
    for (const std::size_t samples : {1UL, 2UL}) {
      Bench bench(layer, samples);
      require_gradients(layer, samples, bench, 1.0);
    }
  }
}

TEST_CASE("Convolution: equals its definition", "[layers]") {
  const ImageSize size{6, 5, 3};
  constexpr std::size_t kKernel = 3, kFilters = 4, kSamples = 2;
  Conv layer(size, kKernel, kFilters);
  const ImageSize out = layer.output_size();
  REQUIRE(out.rows == 4);
  REQUIRE(out.columns == 3);
  AlignedFloats weight = random_floats(kKernel * kKernel * size.channels * kFilters, 1),
                bias = random_floats(kFilters, 2);
  AlignedFloats unused(weight.size()), y(kSamples * layer.outputs());
  const AlignedFloats x = random_floats(kSamples * layer.inputs(), 3);
  layer.bind(std::vector<TensorMemory>{{weight, unused}, {bias, unused}});
  layer.forward(x, y);
  double largest = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t f = i % kFilters, column = i / kFilters % out.columns,
                      row = i / kFilters / out.columns % out.rows;
    const std::size_t sample = i / layer.outputs();
    double expected = bias[f];
    for (std::size_t k = 0; k < weight.size() / kFilters; ++k) {
      const std::size_t channel = k % size.channels, dc = k / size.channels % kKernel, dr = k / size.channels / kKernel;
      const std::size_t pixel =
          ((sample * size.rows + row + dr) * size.columns + column + dc) * size.channels + channel;
      expected += double{x[pixel]} * weight[k * kFilters + f];
    }
    largest = std::max(largest, std::abs(expected - double{y[i]}));
  }
  REQUIRE(largest < 1e-5);
}

TEST_CASE("Convolution: a smaller batch after a larger one", "[layers]") {
  Conv layer({4, 4, 2}, 3, 2);
  Bench large(layer, 5);
  large.backward();
  Bench small(layer, 2);
  require_gradients(layer, 2, small, 1.0);
}

TEST_CASE("Convolution: a kernel that does not fit is refused", "[layers]") {
  REQUIRE_THROWS_WITH(Conv({4, 9, 1}, 5, 2), Catch::Contains("5 x 5 kernel does not fit an image of 4 x 9"));
}

TEST_CASE("Pooling: gradients agree with differences", "[layers]") {
  for (const ImageSize size : {ImageSize{2, 2, 1}, ImageSize{4, 6, 3}, ImageSize{6, 4, 17}}) {
    MaxPool layer(size);
    Bench bench(layer, 2);
    spread(bench.input);
    require_gradients(layer, 2, bench, 0.004);
  }
}

TEST_CASE("Pooling: the gradient goes to one pixel, among equals to the first", "[layers]") {
  MaxPool layer({2, 2, 1});
  const std::vector<float> gradient{5};
  std::vector<float> y(1), dx(4);
  const auto route = [&](std::vector<float> x) {
    layer.forward(x, y);
    layer.input_gradient(x, gradient, dx);
    return dx;
  };
  REQUIRE(route({1, 1, 1, 1}) == std::vector<float>{5, 0, 0, 0});
  REQUIRE(route({0, 1, 1, 0}) == std::vector<float>{0, 5, 0, 0});
  REQUIRE(route({0, 0, 1, 1}) == std::vector<float>{0, 0, 5, 0});
  REQUIRE(route({-4, -3, -2, -1}) == std::vector<float>{0, 0, 0, 5});
  REQUIRE(y[0] == -1);
}

TEST_CASE("Pooling: odd extents are refused", "[layers]") {
  REQUIRE_THROWS_WITH(MaxPool({4, 5, 1}), Catch::Contains("4 x 5"));
}

TEST_CASE("Relu: gradients agree with differences", "[layers]") {
  Relu layer(33);
  Bench bench(layer, 2);
  spread(bench.input);
  require_gradients(layer, 2, bench, 0.004);
}
