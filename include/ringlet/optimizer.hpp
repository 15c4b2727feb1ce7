#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringlet/export.hpp"
#include "ringlet/tensor.hpp"

namespace ringlet {

/// One trainable tensor: its values, and the gradient the caller's backward pass writes. float32, host, equal shapes.
struct Parameter {
  std::string name;
  TensorView value;
  TensorView gradient;
};

/// Stochastic gradient descent:  d = g + weight_decay w;  m = momentum m + (1 - dampening) d (m = d at the first step);
/// u = nesterov ? d + momentum m : m;  w -= learning_rate u.   Without momentum u = d.
///
/// Source: Sutskever et al., On the importance of initialization and momentum in deep learning, ICML 2013, in PyTorch's
/// form.
struct SgdOptions {
  double learning_rate = 0.01;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
};

struct DistributedOptions {
  std::string compression = {};      ///< a spec for every gradient; empty: RINGLET_COMPRESSION's rules by name
  std::size_t accumulate_steps = 1;  ///< micro-steps summed locally (then divided by their number) before one exchange
  /// Momentum (and weight decay) are applied to the local gradient before compression instead of to the average after
  /// it; then what error feedback delays is momentum's output and not its input, which keeps sparse specs stable under
  /// momentum.
  bool momentum_before_exchange = false;
  std::string name = "gradient";  ///< prefix of the tensors' names, so that two optimizers do not meet
};

/// SGD whose gradients are averaged over the ranks. Each gradient goes out when the caller says it is ready; step()
/// waits for all and applies. One thread at a time.
///
///     hvd::DistributedOptimizer optimizer(parameters, {.learning_rate = 0.1}, {.compression = "qsgd(bits=4)"});
///     optimizer.broadcast_parameters();                       // all ranks start as rank 0
///     for (...) { backward(..., [&](i) { optimizer.gradient_ready(i); }); optimizer.step(); }
class RINGLET_EXPORT DistributedOptimizer {
 public:
  DistributedOptimizer(std::vector<Parameter> parameters, const SgdOptions& sgd,
                       const DistributedOptions& distributed = {});
  ~DistributedOptimizer();
  DistributedOptimizer(DistributedOptimizer&&) noexcept;
  DistributedOptimizer& operator=(DistributedOptimizer&&) noexcept;

  /// Overwrites every rank's values with `root`'s. Errors: mismatch when the ranks' parameters differ in name or shape.
  void broadcast_parameters(int root = 0);

  /// Gradient `index` (of the constructor's order) of this micro-step is complete. Twice in one micro-step is
  /// invalid_argument.
  void gradient_ready(std::size_t index);

  /// Ends a micro-step. On the last of `accumulate_steps`, sends what gradient_ready() was not called for, waits, and
  /// applies one SGD step; returns whether it did. Gradients are left as the averages that were applied. Errors: the
  /// first failed gradient's, by name; nothing is applied then.
  bool step();

  void set_learning_rate(double rate);
  double learning_rate() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringlet
