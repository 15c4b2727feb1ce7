#pragma once

#include "train/affine.hpp"
#include "train/aligned_floats.hpp"
#include "train/image_size.hpp"
#include "train/layer.hpp"

namespace ringlet::train {

/// Convolution with a square kernel, stride 1, no padding. Every output position's patch of the input is laid out as a
/// row, which makes it a product of matrices. Source: Chellapilla, Puri and Simard, High performance convolutional
/// neural networks for document processing, IWFHR 2006.
class Conv final : public Layer {
 public:
  /// Error{invalid_argument} when the kernel is larger than the image.
  Conv(ImageSize input, std::size_t kernel, std::size_t filters);

  ImageSize output_size() const noexcept { return output_; }
  std::size_t inputs() const noexcept override { return input_.elements(); }
  std::size_t outputs() const noexcept override { return output_.elements(); }
  std::vector<TensorSpec> tensors() const override { return affine_.tensors(); }
  void bind(std::span<const TensorMemory> memory) override { affine_.bind(memory); }

  void forward(std::span<const float> input, std::span<float> output) override;
  void parameter_gradients(std::span<const float> input, std::span<const float> output_gradient) override;
  void input_gradient(std::span<const float> input, std::span<const float> output_gradient,
                      std::span<float> input_gradient) override;

 private:
  std::span<float> patches(std::size_t samples);

  ImageSize input_;
  std::size_t kernel_;
  ImageSize output_;
  Affine affine_;
  AlignedFloats patches_;  // of the last forward(), then their gradients
};

}  // namespace ringlet::train
