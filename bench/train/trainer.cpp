#include "train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "ringlet/collectives.hpp"
#include "ringlet/observe.hpp"
#include "ringlet/runtime.hpp"
#include "train/evaluation.hpp"
#include "train/loss.hpp"
#include "train/replica_check.hpp"

namespace ringlet::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

ImageSize size_of_images(const Dataset& dataset) { return {dataset.training().rows, dataset.training().columns, 1}; }

}  // namespace

/// What this rank measured while it trained for an epoch.
struct Trainer::Measured {
  double loss_sum = 0;
  double seconds = 0;
  double waiting = 0;
  Counters moved;
};

Trainer::Trainer(const TrainOptions& options, const Dataset& dataset)
    : options_(options),
      dataset_(dataset),
      model_(make_model(options.model, size_of_images(dataset), Dataset::kClasses,
                        std::max(options.batch, kEvaluationBatch), options.seed)),
      order_(dataset.training().count, size(), options.batch, options.accumulate),
      optimizer_(model_.parameters(), options.sgd,
                 {.compression = options.compression,
                  .accumulate_steps = options.accumulate,
                  .momentum_before_exchange = options.momentum_before}),
      pixels_(options.batch * model_.inputs()),
      logit_gradient_(options.batch * model_.outputs()),
      labels_(options.batch) {
  optimizer_.broadcast_parameters();
}

/// Fills the gradients, announcing each as it is complete; returns the sum of this rank's losses.
double Trainer::compute_gradients(std::size_t step) {
  const auto part = order_.part(step, rank());
  const auto input = std::span(pixels_).first(part.size() * model_.inputs());
  const auto labels = std::span(labels_).first(part.size());
  const auto gradient = std::span(logit_gradient_).first(part.size() * model_.outputs());
  dataset_.gather(dataset_.training(), part, input, labels);
  const auto logits = model_.forward(input);
  // The ranks' average is to be the mean over all images of the step, also where their parts differ in size.
  const float scale = static_cast<float>(size()) / static_cast<float>(order_.images_in(step));
  cross_entropy_gradient(logits, labels, scale, gradient);
  const double loss = cross_entropy(logits, labels);
  model_.backward(input, gradient, [this](std::size_t index) { optimizer_.gradient_ready(index); });
  return loss;
}

double Trainer::learning_rate(std::size_t steps_done) const {
  const double rate = options_.sgd.learning_rate;
  if (options_.schedule == "constant") return rate;
  return rate * (1 - static_cast<double>(steps_done) / static_cast<double>(options_.epochs * order_.steps()));
}

Trainer::Measured Trainer::train(std::size_t epoch, ProgressBar& progress) {
  order_.shuffle(options_.seed, epoch);
  const std::string label = fmt::format("epoch {}/{}", epoch, options_.epochs);
  Measured measured;
  const Counters before = counters();
  const auto start = Clock::now();
  for (std::size_t step = 0; step < order_.steps(); ++step) {
    optimizer_.set_learning_rate(learning_rate((epoch - 1) * order_.steps() + step));
    measured.loss_sum += compute_gradients(step);
    const auto computed = Clock::now();
    optimizer_.step();
    measured.waiting += seconds_since(computed);
    progress.update(label, step + 1, order_.steps());
  }
  measured.seconds = seconds_since(start);
  measured.moved = counters() - before;
  progress.clear();
  return measured;
}

EpochReport Trainer::run_epoch(std::size_t epoch, ProgressBar& progress) {
  const Measured m = train(epoch, progress);
  std::array<double, 10> mean{m.loss_sum,
                              m.seconds,
                              m.waiting,
                              m.moved.negotiation_seconds,
                              m.moved.encode_seconds,
                              m.moved.wire_seconds,
                              m.moved.decode_seconds,
                              static_cast<double>(m.moved.bytes_sent),
                              static_cast<double>(m.moved.bytes_received),
                              static_cast<double>(m.moved.dense_bytes)};
  allreduce(mean, {.name = "train.measured", .op = ReduceOp::average, .compression = "none"});
  const auto bytes = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
  EpochReport report{.epoch = epoch,
                     .loss = mean[0] * size() / static_cast<double>(dataset_.training().count),
                     .images = dataset_.training().count,
                     .seconds = mean[1],
                     .compute_seconds = mean[1] - mean[2],
                     .waiting_seconds = mean[2],
                     .negotiation_seconds = mean[3],
                     .encode_seconds = mean[4],
                     .wire_seconds = mean[5],
                     .decode_seconds = mean[6],
                     .bytes_sent = bytes(mean[7]),
                     .bytes_received = bytes(mean[8]),
                     .dense_bytes = bytes(mean[9])};
  report.weights_hash = check_replicas(model_.weights());
  report.accuracy = evaluate(model_, dataset_, dataset_.test());
  return report;
}

}  // namespace ringlet::train
