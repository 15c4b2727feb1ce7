#pragma once

#include "compress/registry.hpp"

namespace ringlet::compress {

/// Quantization to a few levels per bucket of elements, rounded at random without bias (Alistarh et al., QSGD:
/// communication-efficient SGD via gradient quantization and encoding, NeurIPS 2017; norm=minmax as in Markov et al.,
/// CGX, Middleware 2022).
///
/// norm=linf, l2: s = 2^(bits-1) - 1 levels a sign between 0 and the norm of the bucket; code = level + s in 0..2s.
/// norm=minmax:   2^bits - 1 equal steps from the bucket's smallest to its largest element; both ends exact. bits=1
///                needs it.
///
/// Wire, little-endian, n elements in g = ceil(n / bucket) buckets:
///   g scales      linf, l2: fp32 norm; minmax: fp32 smallest, fp32 largest. NaN when an element of the bucket is
///                 not finite
///   g code runs   each ceil(elements * bits / 8) bytes, element j of the bucket in bits [j * bits, (j + 1) * bits)
///
/// Randomness: 16 bits an element, from PhiloxKey; the probability of a level is exact to 2^-16 (and a float's
/// rounding). Error feedback needs a quantizer whose error is smaller than its input: `ef` is off by default, and
/// refused, where it is not.
Method qsgd_method();

}  // namespace ringlet::compress
