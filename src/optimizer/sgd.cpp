#include "optimizer/sgd.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

#include "ringlet/error.hpp"

namespace ringlet::optimizer {
namespace {

void check_number(std::string_view name, double value) {
  if (!std::isfinite(value) || value < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("SGD: {} is {}; it must be a finite number >= 0", name, value));
  }
}

/// One element of the rule; the caller stores the new velocity where it belongs.
struct Rule {
  float momentum;
  float gain;  // 1 - dampening, or 1 at the first step
  float decay;
  bool nesterov;

  float direction(float gradient, float value) const noexcept { return gradient + decay * value; }
  float velocity(float direction, float old) const noexcept { return momentum * old + gain * direction; }
  float update(float direction, float velocity) const noexcept {
    return nesterov ? direction + momentum * velocity : velocity;
  }
};

}  // namespace

void check_learning_rate(double rate) { check_number("learning rate", rate); }

void check_options(const SgdOptions& options) {
  check_learning_rate(options.learning_rate);
  check_number("momentum", options.momentum);
  check_number("dampening", options.dampening);
  check_number("weight decay", options.weight_decay);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("SGD: nesterov needs momentum > 0 and dampening 0; momentum is {}, dampening {}",
                            options.momentum, options.dampening));
  }
}

Sgd::Sgd(const SgdOptions& options, std::size_t elements)
    : momentum_(static_cast<float>(options.momentum)),
      dampening_(static_cast<float>(options.dampening)),
      weight_decay_(static_cast<float>(options.weight_decay)),
      nesterov_(options.nesterov),
      velocity_(options.momentum == 0 ? 0 : elements) {}

void Sgd::step(std::span<float> value, std::span<const float> gradient, float rate) {
  const Rule rule{momentum_, gain(), weight_decay_, nesterov_};
  if (velocity_.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] -= rate * rule.direction(gradient[i], value[i]);
    return;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    const float direction = rule.direction(gradient[i], value[i]);
    velocity_[i] = rule.velocity(direction, velocity_[i]);
    value[i] -= rate * rule.update(direction, velocity_[i]);
  }
  started_ = true;
}

void Sgd::propose(std::span<const float> value, std::span<float> gradient) {
  const Rule rule{momentum_, gain(), weight_decay_, nesterov_};
  if (velocity_.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) gradient[i] = rule.direction(gradient[i], value[i]);
    return;
  }
  proposed_.resize(velocity_.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const float direction = rule.direction(gradient[i], value[i]);
    proposed_[i] = rule.velocity(direction, velocity_[i]);
    gradient[i] = rule.update(direction, proposed_[i]);
  }
}

void Sgd::accept(std::span<float> value, std::span<const float> update, float rate) {
  for (std::size_t i = 0; i < value.size(); ++i) value[i] -= rate * update[i];
  if (velocity_.empty()) return;
  std::swap(velocity_, proposed_);
  started_ = true;
}

}  // namespace ringlet::optimizer
