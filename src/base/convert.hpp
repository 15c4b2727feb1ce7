#pragma once

#include <span>

#include "ringlet/tensor.hpp"

namespace ringlet {

/// to[i] = from[i] as float32, for a floating dtype. float64 rounds to nearest even.
void to_float32(DType dtype, const void* from, std::span<float> to);
/// to[i] = from[i] in the floating dtype, rounded to nearest even.
void from_float32(DType dtype, std::span<const float> from, void* to);

}  // namespace ringlet
