#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ringlet/optimizer.hpp"

namespace ringlet::optimizer {

/// Error{invalid_argument} for what no training run can mean: a negative or non-finite number, Nesterov without
/// momentum or with dampening.
void check_options(const SgdOptions& options);
/// Error{invalid_argument} unless `rate` is finite and not negative.
void check_learning_rate(double rate);

/// The update rule of SgdOptions for one tensor, in float32, with the momentum it needs. One thread.
///
/// step() does all of it. For momentum in front of the exchange the rule splits in two: propose() turns this rank's
/// gradient into the update to be averaged, accept() applies the average. Until accept() a proposal leaves no trace, so
/// that a failed exchange can be repeated.
class Sgd {
 public:
  Sgd(const SgdOptions& options, std::size_t elements);

  /// value -= rate u(gradient, value).
  void step(std::span<float> value, std::span<const float> gradient, float rate);

  /// `gradient` becomes u(gradient, value).
  void propose(std::span<const float> value, std::span<float> gradient);
  /// value -= rate update; the momentum of the last proposal is now the momentum.
  void accept(std::span<float> value, std::span<const float> update, float rate);

 private:
  float gain() const noexcept { return started_ ? 1.0F - dampening_ : 1.0F; }

  float momentum_;
  float dampening_;
  float weight_decay_;
  bool nesterov_;
  bool started_ = false;         // the first step takes the gradient undampened
  std::vector<float> velocity_;  // empty without momentum
  std::vector<float> proposed_;  // the velocity after accept(); empty until propose() is first used
};

}  // namespace ringlet::optimizer
