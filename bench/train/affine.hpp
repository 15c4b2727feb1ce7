#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/layer.hpp"

namespace ringlet::train {

/// The arithmetic that dense and convolution layers share: every row of `input` (of `in` elements) times a matrix (in x
/// out) plus a bias.
class Affine {
 public:
  Affine(std::size_t in, std::size_t out) : in_(in), out_(out) {}

  std::size_t inputs() const noexcept { return in_; }
  std::size_t outputs() const noexcept { return out_; }
  std::vector<TensorSpec> tensors() const;
  void bind(std::span<const TensorMemory> memory);

  void forward(std::span<const float> input, std::span<float> output) const;
  void parameter_gradients(std::span<const float> input, std::span<const float> output_gradient) const;
  void input_gradient(std::span<const float> output_gradient, std::span<float> input_gradient) const;

 private:
  std::size_t in_;
  std::size_t out_;
  TensorMemory weight_;
  TensorMemory bias_;
};

}  // namespace ringlet::train
