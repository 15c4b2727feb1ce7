#pragma once

#include "compress/registry.hpp"

namespace ringlet::compress {

/// The k elements of largest magnitude, k = max(1, floor(ratio n)) or as given, at most n; among equals the lower
/// index. A NaN counts as larger than anything, so it is seen; with error feedback no residual is left non-finite
/// (Stich et al., Sparsified SGD with memory, NeurIPS 2018).
///
/// Wire, little-endian: k uint32 indices, ascending, then their k fp32 values. Tensors have at most 2^32 elements.
Method topk_method();

}  // namespace ringlet::compress
