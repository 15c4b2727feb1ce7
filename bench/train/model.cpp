#include "train/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ringlet/error.hpp"
#include "train/conv.hpp"
#include "train/dense.hpp"
#include "train/pool.hpp"
#include "train/relu.hpp"

namespace ringlet::train {
namespace {

constexpr std::size_t kCacheLine = 16;  // floats

std::size_t round_up(std::size_t elements) { return (elements + kCacheLine - 1) / kCacheLine * kCacheLine; }

/// Uniform in [-1, 1), by hand: the standard's distributions differ between libraries.
float symmetric(std::mt19937_64& random) { return std::ldexp(static_cast<float>(random() >> 40), -23) - 1.0F; }

void add(std::vector<NamedLayer>& layers, const char* name, std::unique_ptr<Layer> layer) {
  NamedLayer& entry = layers.emplace_back();
  entry.name = name;
  entry.layer = std::move(layer);
}

std::vector<NamedLayer> mlp(ImageSize image, std::size_t classes) {
  std::vector<NamedLayer> layers;
  add(layers, "dense1", std::make_unique<Dense>(image.elements(), 256));
  add(layers, "relu1", std::make_unique<Relu>(256));
  add(layers, "dense2", std::make_unique<Dense>(256, 128));
  add(layers, "relu2", std::make_unique<Relu>(128));
  add(layers, "dense3", std::make_unique<Dense>(128, classes));
  return layers;
}

/// Pooling comes before the non-linearity: they commute, and it leaves a quarter of the work.
std::vector<NamedLayer> cnn(ImageSize image, std::size_t classes) {
  auto conv1 = std::make_unique<Conv>(image, 5, 16);
  auto pool1 = std::make_unique<MaxPool>(conv1->output_size());
  auto conv2 = std::make_unique<Conv>(pool1->output_size(), 5, 32);
  auto pool2 = std::make_unique<MaxPool>(conv2->output_size());
  const ImageSize half = pool1->output_size();
  const ImageSize quarter = pool2->output_size();
  std::vector<NamedLayer> layers;
  add(layers, "conv1", std::move(conv1));
  add(layers, "pool1", std::move(pool1));
  add(layers, "relu1", std::make_unique<Relu>(half.elements()));
  add(layers, "conv2", std::move(conv2));
  add(layers, "pool2", std::move(pool2));
  add(layers, "relu2", std::make_unique<Relu>(quarter.elements()));
  add(layers, "dense1", std::make_unique<Dense>(quarter.elements(), 512));
  add(layers, "relu3", std::make_unique<Relu>(512));
  add(layers, "dense2", std::make_unique<Dense>(512, classes));
  return layers;
}

}  // namespace

Model::Model(std::vector<NamedLayer> layers, std::size_t max_batch, std::uint64_t seed) : layers_(std::move(layers)) {
  lay_out();
  bind();
  draw_weights(seed);
  for (const NamedLayer& entry : layers_) {
    outputs_.emplace_back(max_batch * entry.layer->outputs());
    input_gradients_.emplace_back(outputs_.size() == 1 ? 0 : max_batch * entry.layer->inputs());
  }
}

void Model::lay_out() {
  std::size_t offset = 0;
  for (const NamedLayer& entry : layers_) {
    first_tensor_.push_back(tensors_.size());
    for (TensorSpec& spec : entry.layer->tensors()) {
      const std::size_t elements = spec.shape.elements();
      spec.name = fmt::format("{}.{}", entry.name, spec.name);
      tensors_.push_back({std::move(spec), offset});
      offset += round_up(elements);
    }
  }
  first_tensor_.push_back(tensors_.size());
  values_.resize(offset);
  gradients_.resize(offset);
}

void Model::bind() {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    std::vector<TensorMemory> memory;
    for (std::size_t t = first_tensor_[l]; t < first_tensor_[l + 1]; ++t) {
      memory.push_back({at(values_, tensors_[t]), at(gradients_, tensors_[t])});
    }
    layers_[l].layer->bind(memory);
  }
}

void Model::draw_weights(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (const Tensor& tensor : tensors_) {
    if (tensor.spec.fan_in == 0) continue;
    const float bound = std::sqrt(6.0F / static_cast<float>(tensor.spec.fan_in));
    for (float& value : at(values_, tensor)) value = bound * symmetric(random);
  }
}

std::vector<Parameter> Model::parameters() {
  std::vector<Parameter> result;
  for (const Tensor& tensor : tensors_) {
    result.push_back({tensor.spec.name,
                      {at(values_, tensor).data(), tensor.spec.shape},
                      {at(gradients_, tensor).data(), tensor.spec.shape}});
  }
  return result;
}

std::span<const float> Model::forward(std::span<const float> input) {
  const std::size_t samples = input.size() / inputs();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const std::span<float> output = std::span(outputs_[l]).first(samples * layers_[l].layer->outputs());
    layers_[l].layer->forward(input, output);
    input = output;
  }
  return input;
}

void Model::backward(std::span<const float> input, std::span<const float> output_gradient,
                     const std::function<void(std::size_t)>& ready) {
  const std::size_t samples = input.size() / inputs();
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = *layers_[l].layer;
    const auto layer_input = l == 0 ? input : std::span<const float>(outputs_[l - 1]).first(samples * layer.inputs());
    layer.parameter_gradients(layer_input, output_gradient);
    for (std::size_t t = first_tensor_[l]; t < first_tensor_[l + 1]; ++t) ready(t);
    if (l == 0) return;
    const std::span<float> gradient = std::span(input_gradients_[l]).first(samples * layer.inputs());
    layer.input_gradient(layer_input, output_gradient, gradient);
    output_gradient = gradient;
  }
}

Model make_model(const std::string& name, ImageSize size, std::size_t classes, std::size_t max_batch,
                 std::uint64_t seed) {
  if (name == "cnn") return Model(cnn(size, classes), max_batch, seed);
  if (name == "mlp") return Model(mlp(size, classes), max_batch, seed);
  throw Error(ErrorCode::invalid_argument, fmt::format("model \"{}\" is unknown; there are cnn and mlp", name));
}

}  // namespace ringlet::train
