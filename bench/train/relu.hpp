#pragma once

#include "train/layer.hpp"

namespace ringlet::train {

/// max(x, 0), element by element.
class Relu final : public Layer {
 public:
  explicit Relu(std::size_t elements) : elements_(elements) {}

  std::size_t inputs() const noexcept override { return elements_; }
  std::size_t outputs() const noexcept override { return elements_; }

  void forward(std::span<const float> input, std::span<float> output) override {
    for (std::size_t i = 0; i < input.size(); ++i) output[i] = input[i] > 0 ? input[i] : 0.0F;
  }
  void input_gradient(std::span<const float> input, std::span<const float> output_gradient,
                      std::span<float> input_gradient) override {
    for (std::size_t i = 0; i < input.size(); ++i) input_gradient[i] = input[i] > 0 ? output_gradient[i] : 0.0F;
  }

 private:
  std::size_t elements_;
};

}  // namespace ringlet::train
