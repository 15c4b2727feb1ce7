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

/// Whether error feedback keeps residuals bounded.
///
/// linf, minmax  no element errs by more than a step, so for more than one step a sign (two from end to end) the
/// largest residual is
///               at most 1 / (steps - 1) of the largest gradient element (2 / (steps - 2)). With one step a sign,
///               bits=2, it is bounded too, though only the rounding's probabilities make it so. With one step from end
///               to end, bits=1, it is not.
/// l2            the steps are as large as the bucket is long; bounded where the paper's variance min(B/s^2, sqrt(B)/s)
/// is below 1,
///               or B/(4 s^2) to nearest, B elements a bucket and s levels.
bool feedback_is_bounded(const QsgdOptions& options) noexcept;

}  // namespace ringlet::compress
