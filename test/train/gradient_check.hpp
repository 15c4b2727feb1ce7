#pragma once

#include <cstddef>
#include <functional>
#include <random>
#include <span>

#include "train/aligned_floats.hpp"

namespace ringlet::train::test {

inline AlignedFloats random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  AlignedFloats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

/// The largest difference between `gradient` and central differences of `loss` by each element of `values`, with steps
/// of `epsilon`.
inline double largest_error(std::span<float> values, std::span<const float> gradient, double epsilon,
                            const std::function<double()>& loss) {
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float kept = values[i];
    values[i] = static_cast<float>(double{kept} + epsilon);
    const double above = values[i];
    const double high = loss();
    values[i] = static_cast<float>(double{kept} - epsilon);
    const double below = values[i];
    const double low = loss();
    values[i] = kept;
    largest = std::max(largest, std::abs((high - low) / (above - below) - double{gradient[i]}));
  }
  return largest;
}

}  // namespace ringlet::train::test
