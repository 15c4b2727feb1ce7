#pragma once

#include "train/affine.hpp"
#include "train/layer.hpp"

namespace ringlet::train {

/// Every output is a weighted sum of all inputs plus a bias.
class Dense final : public Layer {
 public:
  Dense(std::size_t inputs, std::size_t outputs) : affine_(inputs, outputs) {}

  std::size_t inputs() const noexcept override { return affine_.inputs(); }
  std::size_t outputs() const noexcept override { return affine_.outputs(); }
  std::vector<TensorSpec> tensors() const override { return affine_.tensors(); }
  void bind(std::span<const TensorMemory> memory) override { affine_.bind(memory); }

  void forward(std::span<const float> input, std::span<float> output) override { affine_.forward(input, output); }
  void parameter_gradients(std::span<const float> input, std::span<const float> output_gradient) override {
    affine_.parameter_gradients(input, output_gradient);
  }
  void input_gradient(std::span<const float>, std::span<const float> output_gradient,
                      std::span<float> input_gradient) override {
    affine_.input_gradient(output_gradient, input_gradient);
  }

 private:
  Affine affine_;
};

}  // namespace ringlet::train
