#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ringlet/tensor.hpp"

namespace ringlet::train {

/// A trainable tensor as its layer asks for it.
struct TensorSpec {
  std::string name;  ///< within the layer
  Shape shape;
  std::size_t fan_in = 0;  ///< inputs of one output, for its random start; 0: starts as zeros
};

/// Where the model put it.
struct TensorMemory {
  std::span<float> value;
  std::span<float> gradient;
};

/// One step of a network, over batches of samples that lie one after the other; the batch size is that of the spans.
/// Images are rows x columns x channels, the channel running fastest. One thread.
///
/// A training step calls forward(), then parameter_gradients(), then (unless this is the first layer) input_gradient(),
/// with the same batch: a layer may keep what its backward half needs. The parameters' gradients come first so that
/// they travel while the rest is computed.
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  /// Elements of one sample.
  virtual std::size_t inputs() const noexcept = 0;
  virtual std::size_t outputs() const noexcept = 0;

  virtual std::vector<TensorSpec> tensors() const { return {}; }
  /// Memory for tensors(), in their order, for as long as the layer lives.
  virtual void bind(std::span<const TensorMemory> memory) { static_cast<void>(memory); }

  virtual void forward(std::span<const float> input, std::span<float> output) = 0;
  /// Overwrites the gradients of tensors().
  virtual void parameter_gradients(std::span<const float> input, std::span<const float> output_gradient) {
    static_cast<void>(input), static_cast<void>(output_gradient);
  }
  /// Overwrites `input_gradient`.
  virtual void input_gradient(std::span<const float> input, std::span<const float> output_gradient,
                              std::span<float> input_gradient) = 0;
};

}  // namespace ringlet::train
