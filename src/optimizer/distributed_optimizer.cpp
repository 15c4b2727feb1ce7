#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "optimizer/parameter_check.hpp"
#include "optimizer/sgd.hpp"
#include "ringlet/collectives.hpp"
#include "ringlet/optimizer.hpp"

namespace ringlet {
namespace {

std::span<float> floats(const TensorView& view) { return {static_cast<float*>(view.data), view.elements()}; }

/// One parameter with what the optimizer keeps for it.
struct Slot {
  Parameter parameter;
  std::string tensor;  // the name its gradient travels under
  optimizer::Sgd sgd;
  std::vector<float> accumulated;  // of the micro-steps so far; empty when every micro-step is a step
  bool announced = false;          // in this micro-step
};

void accumulate(std::vector<float>& sum, std::span<const float> gradient, bool first) {
  if (first) {
    std::ranges::copy(gradient, sum.begin());
    return;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
}

void replace_by_mean(std::span<float> gradient, std::span<const float> sum, std::size_t count) {
  const auto divisor = static_cast<float>(count);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = (sum[i] + gradient[i]) / divisor;
}

/// Collectives in flight, in the order of the parameters.
class Exchange {
 public:
  explicit Exchange(std::size_t count) : handles_(count), refused_(count) {}

  /// Starts tensor `index` by `submit()`; a refusal waits for its turn in wait().
  template <class Submit>
  void start(std::size_t index, Submit submit) {
    try {
      handles_[index] = submit();
    } catch (...) {
      refused_[index] = std::current_exception();
    }
  }

  /// Waits for every handle, whatever happens to some of them, because their memory is the network's until then; then
  /// throws the first error in the order of the parameters. Ready for the next exchange in any case.
  void wait() {
    std::exception_ptr first;
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      std::exception_ptr error = std::exchange(refused_[i], nullptr);
      try {
        std::exchange(handles_[i], Handle()).wait();
      } catch (...) {
        error = std::current_exception();
      }
      if (!first) first = error;
    }
    if (first) std::rethrow_exception(first);
  }

 private:
  std::vector<Handle> handles_;
  std::vector<std::exception_ptr> refused_;
};

}  // namespace

struct DistributedOptimizer::Impl {
  std::vector<Slot> slots;
  Exchange gradients;
  DistributedOptions options;
  double learning_rate;
  std::size_t micro_step = 0;

  Impl(std::vector<Parameter> parameters, const SgdOptions& sgd, const DistributedOptions& distributed)
      : gradients(parameters.size()), options(distributed), learning_rate(sgd.learning_rate) {
    slots.reserve(parameters.size());
    for (Parameter& parameter : parameters) {
      const std::size_t elements = parameter.value.elements();
      std::string tensor = fmt::format("{}.{}", options.name, parameter.name);
      slots.push_back({.parameter = std::move(parameter),
                       .tensor = std::move(tensor),
                       .sgd = optimizer::Sgd(sgd, elements),
                       .accumulated = std::vector<float>(options.accumulate_steps > 1 ? elements : 0)});
    }
  }

  /// What is still in flight writes into the caller's gradients, which may go right after us.
  ~Impl() {
    try {
      gradients.wait();
    } catch (...) {
      // nobody asked for these results any more
    }
  }

  bool last_micro_step() const noexcept { return micro_step + 1 == options.accumulate_steps; }

  void announce(std::size_t index) {
    Slot& slot = slots[index];
    slot.announced = true;
    const std::span<float> gradient = floats(slot.parameter.gradient);
    if (!last_micro_step()) return accumulate(slot.accumulated, gradient, micro_step == 0);
    if (options.accumulate_steps > 1) replace_by_mean(gradient, slot.accumulated, options.accumulate_steps);
    if (options.momentum_before_exchange) slot.sgd.propose(floats(slot.parameter.value), gradient);
    gradients.start(index, [&] {
      return allreduce_async(slot.parameter.gradient,
                             {.name = slot.tensor, .op = ReduceOp::average, .compression = options.compression});
    });
  }

  void apply() {
    const auto rate = static_cast<float>(learning_rate);
    for (Slot& slot : slots) {
      const std::span<float> value = floats(slot.parameter.value);
      const std::span<const float> gradient = floats(slot.parameter.gradient);
      if (options.momentum_before_exchange) {
        slot.sgd.accept(value, gradient, rate);
      } else {
        slot.sgd.step(value, gradient, rate);
      }
    }
  }
};

DistributedOptimizer::DistributedOptimizer(std::vector<Parameter> parameters, const SgdOptions& sgd,
                                           const DistributedOptions& distributed) {
  optimizer::check_options(sgd);
  optimizer::check_parameters(parameters);
  if (distributed.accumulate_steps == 0) {
    throw Error(ErrorCode::invalid_argument, "optimizer: accumulate_steps is 0; 1 exchanges at every step");
  }
  if (distributed.name.empty()) throw Error(ErrorCode::invalid_argument, "optimizer: its name is empty");
  impl_ = std::make_unique<Impl>(std::move(parameters), sgd, distributed);
}

DistributedOptimizer::~DistributedOptimizer() = default;
DistributedOptimizer::DistributedOptimizer(DistributedOptimizer&&) noexcept = default;
DistributedOptimizer& DistributedOptimizer::operator=(DistributedOptimizer&&) noexcept = default;

void DistributedOptimizer::broadcast_parameters(int root) {
  const std::string prefix = impl_->options.name + ".broadcast";
  std::vector<Parameter> parameters;
  for (const Slot& slot : impl_->slots) parameters.push_back(slot.parameter);
  optimizer::check_same_on_every_rank(parameters, prefix);
  Exchange values(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    values.start(i, [&] {
      return broadcast_async(parameters[i].value,
                             {.name = fmt::format("{}.{}", prefix, parameters[i].name), .root = root});
    });
  }
  values.wait();
}

void DistributedOptimizer::gradient_ready(std::size_t index) {
  if (index >= impl_->slots.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("optimizer: gradient_ready({}), but there are {} parameters", index, impl_->slots.size()));
  }
  const Slot& slot = impl_->slots[index];
  if (slot.announced) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("optimizer: gradient \"{}\" was announced twice before step()", slot.parameter.name));
  }
  impl_->announce(index);
}

bool DistributedOptimizer::step() {
  for (std::size_t i = 0; i < impl_->slots.size(); ++i) {
    if (!impl_->slots[i].announced) impl_->announce(i);
    impl_->slots[i].announced = false;
  }
  if (!impl_->last_micro_step()) {
    ++impl_->micro_step;
    return false;
  }
  impl_->micro_step = 0;
  impl_->gradients.wait();
  impl_->apply();
  return true;
}

void DistributedOptimizer::set_learning_rate(double rate) {
  optimizer::check_learning_rate(rate);
  impl_->learning_rate = rate;
}

double DistributedOptimizer::learning_rate() const { return impl_->learning_rate; }

}  // namespace ringlet
