#include "train/pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ringlet/error.hpp"

namespace ringlet::train {
namespace {

ImageSize halved(ImageSize input) {
  if (input.rows % 2 != 0 || input.columns % 2 != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("pooling 2 x 2 needs even extents, not {} x {}", input.rows, input.columns));
  }
  return {input.rows / 2, input.columns / 2, input.channels};
}

/// Calls `visit(offset of the upper left pixel, offset of the output pixel)` for all samples' pixels: samples follow
/// each other like rows.
template <class Visit>
void for_each_square(ImageSize input, std::size_t elements, Visit visit) {
  const std::size_t row = input.columns * input.channels;
  std::size_t pooled = 0;
  for (std::size_t upper = 0; upper < elements; upper += 2 * row) {
    for (std::size_t column = 0; column < row; column += 2 * input.channels, pooled += input.channels)
      visit(upper + column, pooled);
  }
}

/// Gives each channel's `dy` to the largest of four pixels, which lie at `x`, `right` and `below` it. A function of its
/// own with memory that does not overlap: only so does g++ 12 vectorise it, which is 20 times faster.
void route(const float* __restrict x, const float* __restrict dy, float* __restrict dx, std::size_t right,
           std::size_t below) {
  for (std::size_t c = 0; c < right; ++c) {
    const float a = x[c], b = x[c + right], d = x[c + below], e = x[c + below + right];
    const float upper = a >= b ? a : b, lower = d >= e ? d : e, g = dy[c];
    const float g_upper = upper >= lower ? g : 0.0F, g_lower = upper >= lower ? 0.0F : g;
    dx[c] = a >= b ? g_upper : 0.0F;
    dx[c + right] = a >= b ? 0.0F : g_upper;
    dx[c + below] = d >= e ? g_lower : 0.0F;
    dx[c + below + right] = d >= e ? 0.0F : g_lower;
  }
}

}  // namespace

MaxPool::MaxPool(ImageSize input) : input_(input), output_(halved(input)) {}

void MaxPool::forward(std::span<const float> input, std::span<float> output) {
  const std::size_t right = input_.channels, below = input_.columns * input_.channels;
  for_each_square(input_, input.size(), [&](std::size_t from, std::size_t to) {
    const float* x = input.data() + from;
    float* y = output.data() + to;
    for (std::size_t c = 0; c < right; ++c) {
      y[c] = std::max(std::max(x[c], x[c + right]), std::max(x[c + below], x[c + below + right]));
    }
  });
}

void MaxPool::input_gradient(std::span<const float> input, std::span<const float> output_gradient,
                             std::span<float> input_gradient) {
  const std::size_t right = input_.channels, below = input_.columns * input_.channels;
  for_each_square(input_, input.size(), [&](std::size_t from, std::size_t to) {
    route(input.data() + from, output_gradient.data() + to, input_gradient.data() + from, right, below);
  });
}

}  // namespace ringlet::train
