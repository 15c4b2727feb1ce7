#include "compress/methods/qsgd_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compress/arguments.hpp"

namespace ringlet::compress {
namespace {

constexpr std::size_t kMaxBucket = std::size_t{1} << 20;

// Squared error over squared input, at most, under the Euclidean norm.
double l2_error(const QsgdOptions& options) noexcept {
  const auto bucket = static_cast<double>(options.bucket);
  const double levels = options.levels();
  if (!options.stochastic) return bucket / (4 * levels * levels);  // half a step an element
  return std::min(bucket / (levels * levels), std::sqrt(bucket) / levels);
}

const char* name(Norm norm) noexcept { return norm == Norm::linf ? "linf" : norm == Norm::l2 ? "l2" : "minmax"; }

std::string text(const QsgdOptions& options) {
  return fmt::format("qsgd(bits={},bucket={},norm={},rounding={},ef={})", options.bits, options.bucket,
                     name(options.norm), options.stochastic ? "stochastic" : "nearest",
                     options.error_feedback ? "on" : "off");
}

// The nearest options under which residuals stay bounded: more bits if that is enough, else smaller buckets of 8 bits.
QsgdOptions bounded(QsgdOptions options) noexcept {
  while (options.bits < 8 && !feedback_is_bounded(options)) ++options.bits;
  while (options.bucket > 1 && !feedback_is_bounded(options)) options.bucket /= 2;
  return options;
}

[[noreturn]] void refuse_feedback(const Arguments& arguments, const QsgdOptions& options) {
  const std::string reason =
      options.norm == Norm::l2
          ? fmt::format("its error is up to {:.2f} of the input, and must be below 1", l2_error(options))
          : "two levels have no room for it";
  QsgdOptions without = options;
  without.error_feedback = false;
  arguments.fail(
      fmt::format("ef=on: the residual of bits={},bucket={},norm={} grows without bound ({}); nearest valid: {} or {}",
                  options.bits, options.bucket, name(options.norm), reason, text(bounded(options)), text(without)));
}

}  // namespace

bool feedback_is_bounded(const QsgdOptions& options) noexcept {
  return options.norm == Norm::l2 ? l2_error(options) < 1 : options.levels() > 1 || options.norm == Norm::linf;
}

QsgdOptions read_qsgd_options(Arguments& arguments) {
  QsgdOptions options;
  options.bits = static_cast<unsigned>(arguments.integer("bits", options.bits, 1, 8));
  options.bucket = arguments.integer("bucket", options.bucket, 1, kMaxBucket);
  options.norm = static_cast<Norm>(arguments.choice("norm", {"linf", "l2", "minmax"}));
  options.stochastic = arguments.choice("rounding", {"stochastic", "nearest"}) == 0;
  if (options.bits == 1 && options.norm != Norm::minmax) {
    arguments.fail(fmt::format("bits=1 leaves norm={} no level but zero: use bits=2..8, or bits=1,norm=minmax",
                               name(options.norm)));
  }
  options.error_feedback = arguments.on_off("ef", feedback_is_bounded(options));
  if (options.error_feedback && !feedback_is_bounded(options)) refuse_feedback(arguments, options);
  return options;
}

}  // namespace ringlet::compress
