#include "compress/methods/qsgd_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compress/arguments.hpp"

namespace ringlet::compress {
namespace {

constexpr std::size_t kMaxBucket = std::size_t{1} << 20;

// Expected largest magnitude of `count` standard Gaussians, count >= 16 (David and Nagaraja, Order statistics, 2003,
// section 10.5).
double expected_largest(double count) noexcept {
  const double two_sided = 2 * count, root = std::sqrt(2 * std::log(two_sided));
  return root - (std::log(std::log(two_sided)) + std::log(4 * std::numbers::pi)) / (2 * root) +
         std::numbers::egamma / root;
}

const char* name(Norm norm) noexcept { return norm == Norm::linf ? "linf" : norm == Norm::l2 ? "l2" : "minmax"; }

std::string text(const QsgdOptions& options) {
  return fmt::format("qsgd(bits={},bucket={},norm={},rounding={},ef={})", options.bits, options.bucket,
                     name(options.norm), options.stochastic ? "stochastic" : "nearest",
                     options.error_feedback ? "on" : "off");
}

// The nearest options with error feedback that contract: more bits if that is enough, else smaller buckets of 8 bits.
QsgdOptions contracting(QsgdOptions options) noexcept {
  while (options.bits < 8 && residual_growth(options) >= 1) ++options.bits;
  while (options.bucket > 1 && residual_growth(options) >= 1) options.bucket /= 2;
  return options;
}

}  // namespace

double residual_growth(const QsgdOptions& options) noexcept {
  const auto bucket = static_cast<double>(options.bucket);
  const double levels = options.levels();
  if (options.norm == Norm::l2) {
    // to nearest, an element errs by half a step at most
    if (!options.stochastic) return bucket / (4 * levels * levels);
    return std::min(bucket / (levels * levels), std::sqrt(bucket) / levels);
  }
  // to nearest of a grid with a zero, no element errs by more than itself, and the largest not at all
  if (options.norm == Norm::linf && !options.stochastic) return 1 - 1 / bucket;
  const bool signed_grid = options.norm == Norm::linf;
  const double worst = bucket / ((signed_grid ? 4 : 2) * levels * levels);
  if (options.bucket < 16) return worst;
  const double step = expected_largest(bucket) * (signed_grid ? 1 : 2) / levels;
  return std::min(worst, step * step / (options.stochastic ? 6 : 12));
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
  options.error_feedback = arguments.on_off("ef", residual_growth(options) < 1);
  if (options.error_feedback && residual_growth(options) >= 1) {
    QsgdOptions without = options;
    without.error_feedback = false;
    arguments.fail(
        fmt::format("ef=on: the residual of norm={},bits={},bucket={} grows without bound (error {:.2f} of the "
                    "input, needs to be below 1); nearest valid: {} or {}",
                    name(options.norm), options.bits, options.bucket, residual_growth(options),
                    text(contracting(options)), text(without)));
  }
  return options;
}

}  // namespace ringlet::compress
