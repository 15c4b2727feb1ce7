#pragma once

#include <cstddef>
#include <span>

#include "ringlet/collectives.hpp"
#include "ringlet/tensor.hpp"

namespace ringlet {

// Arithmetic on tensors' memory, element by element. Pointers are aligned for the dtype; ranges are equal or do not
// overlap.
//
// float32, float64   as the hardware does; min and max give NaN when either is NaN.
// float16, bfloat16  in float32, rounded to nearest even.
// integers           sums and products wrap around, modulo 2^bits.
// boolean            sum and max are logical or, product and min logical and; any byte but 0 reads as 1.
// ReduceOp::average  combines like sum; whoever knows the number of ranks divides.

/// dst = dst op src. dst and src do not overlap.
void reduce(ReduceOp op, DType dtype, void* dst, const void* src, std::size_t elements);

/// data *= factor, computed in float64 and rounded once for float32. Error{invalid_argument} unless the dtype is
/// floating.
void scale(DType dtype, void* data, std::size_t elements, double factor);

/// data /= by: correctly rounded for floating dtypes, towards zero for integers. Error{invalid_argument} for boolean
/// and for by < 1.
void divide(DType dtype, void* data, std::size_t elements, int by);

/// dst = sources[0] op ... op sources[P-1], in the order of recursive halving over ranks: with m the largest power of
/// two <= P, first s[i] = s[i] op s[i+m] where i+m < P, then at distances m/2, m/4, ..., 1 s[i] = s[i] op s[i+d]; the
/// lower rank is the left operand. So the result has the bits of a butterfly all-reduce with the same distances.
/// float16 and bfloat16 round once, at the end. Every source is read once. `dst` may be one of the sources.
void sum_pairwise(DType dtype, ReduceOp op, std::span<const void* const> sources, void* dst, std::size_t elements);

/// As sum_pairwise() with sum, then divided by the number of sources before the one rounding: integers are summed in 64
/// bits and divided towards zero. Error{invalid_argument} for boolean.
void sum_pairwise_average(DType dtype, std::span<const void* const> sources, void* dst, std::size_t elements);

}  // namespace ringlet
