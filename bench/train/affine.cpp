#include "train/affine.hpp"

#include <Eigen/Core>

namespace ringlet::train {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index rows(std::size_t size, std::size_t columns) { return static_cast<Eigen::Index>(size / columns); }

Eigen::Map<const Matrix> view(std::span<const float> data, std::size_t columns) {
  return {data.data(), rows(data.size(), columns), static_cast<Eigen::Index>(columns)};
}

Eigen::Map<Matrix> writable(std::span<float> data, std::size_t columns) {
  return {data.data(), rows(data.size(), columns), static_cast<Eigen::Index>(columns)};
}

}  // namespace

std::vector<TensorSpec> Affine::tensors() const {
  return {{.name = "weight", .shape = Shape{in_, out_}, .fan_in = in_}, {.name = "bias", .shape = Shape{out_}}};
}

void Affine::bind(std::span<const TensorMemory> memory) {
  weight_ = memory[0];
  bias_ = memory[1];
}

void Affine::forward(std::span<const float> input, std::span<float> output) const {
  auto y = writable(output, out_);
  y.noalias() = view(input, in_) * view(weight_.value, out_);
  y.rowwise() += view(bias_.value, out_).row(0);
}

void Affine::parameter_gradients(std::span<const float> input, std::span<const float> output_gradient) const {
  writable(weight_.gradient, out_).noalias() = view(input, in_).transpose() * view(output_gradient, out_);
  writable(bias_.gradient, out_).row(0) = view(output_gradient, out_).colwise().sum();
}

void Affine::input_gradient(std::span<const float> output_gradient, std::span<float> input_gradient) const {
  writable(input_gradient, in_).noalias() = view(output_gradient, out_) * view(weight_.value, out_).transpose();
}

}  // namespace ringlet::train
