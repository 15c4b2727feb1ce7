#pragma once

#include "compress/registry.hpp"

namespace ringlet::compress {

/// IEEE binary16, two bytes an element, to nearest even. A finite value beyond 65504 becomes 65504, never an infinity.
/// What holds a sum (Stage::partial_sum and result) travels divided by the power of two that is at least Site::ranks,
/// so the sum of P values that fit, fits.
Method fp16_method();

/// The upper half of a float, to nearest even: two bytes an element and the range of a float.
Method bf16_method();

}  // namespace ringlet::compress
