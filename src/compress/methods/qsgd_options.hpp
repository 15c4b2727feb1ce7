#pragma once

#include <cstddef>

namespace ringlet::compress {

class Arguments;

enum class Norm { linf, l2, minmax };

struct QsgdOptions {
  unsigned bits = 4;
  std::size_t bucket = 512;
  Norm norm = Norm::linf;
  bool stochastic = true;
  bool error_feedback = true;

  /// Steps of the grid: from 0 to the norm, or from the smallest to the largest element.
  unsigned levels() const noexcept { return norm == Norm::minmax ? (1U << bits) - 1 : (1U << (bits - 1)) - 1; }
};

/// Reads bits, bucket, norm, rounding, ef, and refuses what cannot work: bits=1 without minmax, ef=on where residuals
/// would grow.
QsgdOptions read_qsgd_options(Arguments& arguments);

/// Squared error over squared input that error feedback has to reckon with: below 1, residuals stay bounded. For l2 the
/// bound of the paper, min(B/s^2, sqrt(B)/s), B elements a bucket and s levels; for linf and minmax the smaller of the
/// worst case and of what a bucket of Gaussian elements meets.
double residual_growth(const QsgdOptions& options) noexcept;

}  // namespace ringlet::compress
