#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ringlet/optimizer.hpp"
#include "train/aligned_floats.hpp"
#include "train/dataset.hpp"
#include "train/epoch_order.hpp"
#include "train/model.hpp"
#include "train/options.hpp"
#include "train/progress_bar.hpp"
#include "train/report.hpp"

namespace ringlet::train {

/// Data-parallel training of one model: each rank computes gradients on its part of every step, the optimizer averages
/// them. One thread a rank; `options` and `dataset` outlive it.
class Trainer {
 public:
  /// Makes the model and gives every rank rank 0's weights. Collective.
  Trainer(const TrainOptions& options, const Dataset& dataset);

  /// Trains for one epoch (counted from 1), checks that the ranks' weights are the same bits, and evaluates.
  /// Collective; the report is the same on every rank.
  EpochReport run_epoch(std::size_t epoch, ProgressBar& progress);

 private:
  struct Measured;

  Measured train(std::size_t epoch, ProgressBar& progress);
  double compute_gradients(std::size_t step);
  double learning_rate(std::size_t steps_done) const;

  const TrainOptions& options_;
  const Dataset& dataset_;
  Model model_;
  EpochOrder order_;
  DistributedOptimizer optimizer_;
  AlignedFloats pixels_;
  AlignedFloats logit_gradient_;
  std::vector<std::uint8_t> labels_;
};

}  // namespace ringlet::train
