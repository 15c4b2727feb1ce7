#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringlet/optimizer.hpp"
#include "train/aligned_floats.hpp"
#include "train/image_size.hpp"
#include "train/layer.hpp"

namespace ringlet::train {

struct NamedLayer {
  std::string name;
  std::unique_ptr<Layer> layer;
};

/// A chain of layers with the memory for its parameters, their gradients and its activations. One thread.
class Model {
 public:
  /// Weights start uniform in +-sqrt(6 / fan in), biases as zeros: a function of `seed` and the layers alone.
  /// Source: He et al., Delving deep into rectifiers, ICCV 2015.
  Model(std::vector<NamedLayer> layers, std::size_t max_batch, std::uint64_t seed);

  std::size_t inputs() const noexcept { return layers_.front().layer->inputs(); }
  std::size_t outputs() const noexcept { return layers_.back().layer->outputs(); }

  /// "conv1.weight", "conv1.bias", ... in the order of the layers; the views stay valid as long as the model.
  std::vector<Parameter> parameters();
  /// All values in one piece (with zeros between tensors, each of which starts on a cache line).
  std::span<const float> weights() const noexcept { return values_; }

  /// Outputs for a batch of inputs, at most `max_batch`. Valid until the next call.
  std::span<const float> forward(std::span<const float> input);
  /// From the gradient by the outputs of the last forward(), whose `input` this must be again: fills all parameters'
  /// gradients, the last layer's first, and calls `ready(index in parameters())` as soon as each is complete.
  void backward(std::span<const float> input, std::span<const float> output_gradient,
                const std::function<void(std::size_t)>& ready);

 private:
  struct Tensor {
    TensorSpec spec;  // named in full
    std::size_t offset;
  };

  std::span<float> at(AlignedFloats& memory, const Tensor& tensor) {
    return {memory.data() + tensor.offset, tensor.spec.shape.elements()};
  }
  void lay_out();
  void bind();
  void draw_weights(std::uint64_t seed);

  std::vector<NamedLayer> layers_;
  std::vector<Tensor> tensors_;
  std::vector<std::size_t> first_tensor_;  // of each layer, and the end
  AlignedFloats values_;
  AlignedFloats gradients_;
  std::vector<AlignedFloats> outputs_;          // of each layer
  std::vector<AlignedFloats> input_gradients_;  // of each layer but the first
};

/// `name`: "cnn" (two 5 x 5 convolutions with pooling, two dense layers) or "mlp" (three dense layers), for images of
/// `size`. Error{invalid_argument} for another name, or a size that the layers do not divide.
Model make_model(const std::string& name, ImageSize size, std::size_t classes, std::size_t max_batch,
                 std::uint64_t seed);

}  // namespace ringlet::train
