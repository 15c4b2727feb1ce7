#include "train/conv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ringlet/error.hpp"

namespace ringlet::train {
namespace {

ImageSize convolved(ImageSize input, std::size_t kernel, std::size_t filters) {
  if (kernel == 0 || kernel > input.rows || kernel > input.columns) {
    throw Error(ErrorCode::invalid_argument, fmt::format("a {0} x {0} kernel does not fit an image of {1} x {2}",
                                                         kernel, input.rows, input.columns));
  }
  return {input.rows - kernel + 1, input.columns - kernel + 1, filters};
}

/// Calls `visit(offset in the image, offset in the patches)` for every run of `kernel` pixels that lies contiguous in
/// both.
template <class Visit>
void for_each_run(ImageSize input, ImageSize output, std::size_t kernel, Visit visit) {
  const std::size_t run = kernel * input.channels;
  std::size_t patch = 0;
  for (std::size_t row = 0; row < output.rows; ++row) {
    for (std::size_t column = 0; column < output.columns; ++column) {
      for (std::size_t k = 0; k < kernel; ++k, patch += run) {
        visit(((row + k) * input.columns + column) * input.channels, patch);
      }
    }
  }
}

}  // namespace

Conv::Conv(ImageSize input, std::size_t kernel, std::size_t filters)
    : input_(input),
      kernel_(kernel),
      output_(convolved(input, kernel, filters)),
      affine_(kernel * kernel * input.channels, filters) {}

std::span<float> Conv::patches(std::size_t samples) {
  const std::size_t needed = samples * output_.rows * output_.columns * affine_.inputs();
  if (patches_.size() < needed) patches_.resize(needed);
  return std::span(patches_).first(needed);
}

void Conv::forward(std::span<const float> input, std::span<float> output) {
  const std::size_t samples = input.size() / inputs();
  const std::span<float> rows = patches(samples);
  const std::size_t run = kernel_ * input_.channels;
  for (std::size_t s = 0; s < samples; ++s) {
    const float* image = input.data() + s * inputs();
    float* target = rows.data() + s * (rows.size() / samples);
    for_each_run(input_, output_, kernel_,
                 [&](std::size_t pixel, std::size_t patch) { std::copy_n(image + pixel, run, target + patch); });
  }
  affine_.forward(rows, output);
}

void Conv::parameter_gradients(std::span<const float>, std::span<const float> output_gradient) {
  affine_.parameter_gradients(patches(output_gradient.size() / outputs()), output_gradient);
}

void Conv::input_gradient(std::span<const float>, std::span<const float> output_gradient,
                          std::span<float> input_gradient) {
  const std::size_t samples = output_gradient.size() / outputs();
  const std::span<float> rows = patches(samples);
  affine_.input_gradient(output_gradient, rows);
  std::ranges::fill(input_gradient, 0.0F);
  const std::size_t run = kernel_ * input_.channels;
  for (std::size_t s = 0; s < samples; ++s) {
    float* image = input_gradient.data() + s * inputs();
    const float* source = rows.data() + s * (rows.size() / samples);
    for_each_run(input_, output_, kernel_, [&](std::size_t pixel, std::size_t patch) {
      for (std::size_t i = 0; i < run; ++i) image[pixel + i] += source[patch + i];
    });
  }
}

}  // namespace ringlet::train
