#pragma once

#include <cstdint>

#include "train/image_size.hpp"
#include "train/layer.hpp"

namespace ringlet::train {

/// The largest of every 2 x 2 pixels, channel by channel.
class MaxPool final : public Layer {
 public:
  /// Error{invalid_argument} when rows or columns are odd.
  explicit MaxPool(ImageSize input);

  ImageSize output_size() const noexcept { return output_; }
  std::size_t inputs() const noexcept override { return input_.elements(); }
  std::size_t outputs() const noexcept override { return output_.elements(); }

  void forward(std::span<const float> input, std::span<float> output) override;
  /// The gradient goes to the largest pixel; among equals to the first.
  void input_gradient(std::span<const float> input, std::span<const float> output_gradient,
                      std::span<float> input_gradient) override;

 private:
  ImageSize input_;
  ImageSize output_;
};

}  // namespace ringlet::train
