// The distributed optimizer against SGD in one process on the batch of all ranks; over real MPI.
#include <fmt/format.h>

#include <cmath>

#include "ranks_agree.hpp"
#include "support/catch.hpp"
#include "support/gradients.hpp"

using namespace ringlet;
using test::Job;

namespace {

constexpr std::size_t kFeatures = 1200;  // more than the least that is compressed
constexpr std::size_t kBatch = 24;       // samples of one rank in one step
constexpr int kSteps = 20;
constexpr float kFeatureScale = 0.4F;

/// A least-squares problem: y = x . w* + b*, mean over the batch of (x . w + b - y)^2 / 2. Sample s of the world's
/// data.
struct Problem {
  static float feature(std::size_t sample, std::size_t i) { return kFeatureScale * test::value_at(7, 0, sample, i); }
  static float solution(std::size_t i) { return test::value_at(8, 0, 0, i); }

  static double residual(const std::vector<float>& w, const std::vector<float>& b, std::size_t sample) {
    double error = b[0] - 0.5;
    for (std::size_t i = 0; i < kFeatures; ++i) error += static_cast<double>(feature(sample, i)) * (w[i] - solution(i));
    return error;
  }
};

/// The model on one rank, or on the one process that sees everything.
struct Model {
  std::vector<float> w = std::vector<float>(kFeatures), b = std::vector<float>(1);
  std::vector<float> gw = std::vector<float>(kFeatures), gb = std::vector<float>(1);

  std::vector<Parameter> parameters() { return {{"weight", w, gw}, {"bias", b, gb}}; }

  /// The mean gradient over the samples [begin, begin + count).
  void backward(std::size_t begin, std::size_t count) {
    std::vector<double> sum(kFeatures);
    double bias = 0;
    for (std::size_t s = begin; s < begin + count; ++s) {
      const double error = Problem::residual(w, b, s);
      for (std::size_t i = 0; i < kFeatures; ++i) sum[i] += error * static_cast<double>(Problem::feature(s, i));
      bias += error;
    }
    for (std::size_t i = 0; i < kFeatures; ++i) gw[i] = static_cast<float>(sum[i] / static_cast<double>(count));
    gb[0] = static_cast<float>(bias / static_cast<double>(count));
  }

  double loss(std::size_t samples) const {
    double sum = 0;
    for (std::size_t s = 0; s < samples; ++s) sum += Problem::residual(w, b, s) * Problem::residual(w, b, s);
    return sum / static_cast<double>(samples) / 2;
  }

  double distance(const Model& other) const {
    double worst = std::abs(b[0] - other.b[0]);
    for (std::size_t i = 0; i < kFeatures; ++i) worst = std::max<double>(worst, std::abs(w[i] - other.w[i]));
    return worst;
  }
};

/// SGD as PyTorch's page writes it, in double.
class PlainSgd {
 public:
  explicit PlainSgd(const SgdOptions& options) : o_(options) {}

  void step(Model& model) {
    update(model.w, model.gw, mw_);
    update(model.b, model.gb, mb_);
    first_ = false;
  }

 private:
  void update(std::vector<float>& value, const std::vector<float>& gradient, std::vector<double>& momentum) const {
    momentum.resize(value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      const double d = gradient[i] + o_.weight_decay * value[i];
      momentum[i] = first_ ? d : o_.momentum * momentum[i] + (1 - o_.dampening) * d;
      const double u = o_.momentum == 0 ? d : o_.nesterov ? d + o_.momentum * momentum[i] : momentum[i];
      value[i] = static_cast<float>(value[i] - o_.learning_rate * u);
    }
  }

  SgdOptions o_;
  bool first_ = true;
  std::vector<double> mw_, mb_;
};

std::size_t batch_of_all() { return kBatch * static_cast<std::size_t>(hvd::size()); }
std::size_t first_sample(int step) {
  return static_cast<std::size_t>(step) * batch_of_all() + kBatch * static_cast<std::size_t>(hvd::rank());
}

/// Steps of the distributed optimizer, each rank on its part; `announce`: gradients go out one by one, last layer
/// first.
Model train(const SgdOptions& sgd, const DistributedOptions& distributed, int steps = kSteps, bool announce = false) {
  Model model;
  if (hvd::rank() != 0) model.w.assign(kFeatures, 77.0F);  // until the broadcast
  hvd::DistributedOptimizer optimizer(model.parameters(), sgd, distributed);
  optimizer.broadcast_parameters();
  const std::size_t micro = distributed.accumulate_steps;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t m = 0; m < micro; ++m) {
      model.backward(first_sample(step) + m * (kBatch / micro), kBatch / micro);
      if (announce) optimizer.gradient_ready(1);
      if (announce) optimizer.gradient_ready(0);
      const bool applied = optimizer.step();
      if (applied != (m + 1 == micro)) throw Error(ErrorCode::internal, "step() applied at the wrong micro-step");
    }
  }
  return model;
}

Model train_alone(const SgdOptions& sgd) {
  Model model;
  PlainSgd optimizer(sgd);
  for (int step = 0; step < kSteps; ++step) {
    model.backward(static_cast<std::size_t>(step) * batch_of_all(), batch_of_all());
    optimizer.step(model);
  }
  return model;
}

bool replicas_agree(const Model& model) { return test::ranks_agree(std::vector<std::vector<float>>{model.w, model.b}); }

}  // namespace

TEST_CASE("without compression, the ranks together do what one process does on their whole batch") {
  const auto sgd = GENERATE(SgdOptions{.learning_rate = 0.1}, SgdOptions{.learning_rate = 0.02, .momentum = 0.9},
                            SgdOptions{.learning_rate = 0.02, .momentum = 0.9, .nesterov = true},
                            SgdOptions{.learning_rate = 0.05, .momentum = 0.8, .dampening = 0.3, .weight_decay = 0.01});
  const bool before = GENERATE(false, true);
  CAPTURE(sgd.momentum, sgd.nesterov, sgd.weight_decay, before);
  const Job job;
  const Model alone = train_alone(sgd);
  const Model together = train(sgd, {.momentum_before_exchange = before}, kSteps, true);
  REQUIRE(replicas_agree(together));
  REQUIRE(together.distance(alone) < 1e-5);
  REQUIRE(together.loss(batch_of_all()) < Model().loss(batch_of_all()));
}

TEST_CASE("accumulating four micro-steps is one step on the big batch") {
  const SgdOptions sgd{.learning_rate = 0.02, .momentum = 0.9};
  const Job job;
  const Model alone = train_alone(sgd);
  const bool announce = GENERATE(false, true);
  const Model together = train(sgd, {.accumulate_steps = 4}, kSteps, announce);
  REQUIRE(replicas_agree(together));
  REQUIRE(together.distance(alone) < 1e-5);
}

TEST_CASE("with compression the replicas still agree to the bit") {
  const std::string spec = GENERATE("fp16", "bf16", "qsgd(bits=4)", "topk(ratio=0.01)");
  const bool before = GENERATE(false, true);
  CAPTURE(spec, before);
  const Job job;
  const Model model =
      train({.learning_rate = 0.02, .momentum = 0.9}, {.compression = spec, .momentum_before_exchange = before});
  REQUIRE(replicas_agree(model));
}

TEST_CASE("plain SGD converges with quantized and with sparse gradients") {
  const std::string spec = GENERATE("none", "qsgd(bits=4)", "qsgd(bits=8)", "topk(ratio=0.1)");
  CAPTURE(spec);
  const Job job;
  // One fixed batch, fewer samples than unknowns: the loss can reach 0.
  Model model;
  hvd::DistributedOptimizer optimizer(model.parameters(), {.learning_rate = 0.1}, {.compression = spec});
  const double before = model.loss(batch_of_all());
  for (int step = 0; step < 300; ++step) {
    model.backward(first_sample(0), kBatch);
    optimizer.step();
  }
  REQUIRE(replicas_agree(model));
  REQUIRE(model.loss(batch_of_all()) < 0.01 * before);
}

TEST_CASE("two optimizers at once do not meet") {
  const Job job;
  Model a, b;
  hvd::DistributedOptimizer first(a.parameters(), {.learning_rate = 0.3}, {.name = "a"});
  hvd::DistributedOptimizer second(b.parameters(), {.learning_rate = 0.3}, {.name = "b"});
  for (int step = 0; step < 5; ++step) {
    a.backward(first_sample(step), kBatch);
    b.backward(first_sample(step), kBatch);
    for (const std::size_t i : {1u, 0u}) {  // one after the other on even ranks, the other way round on odd ones
      (hvd::rank() % 2 == 0 ? first : second).gradient_ready(i);
      (hvd::rank() % 2 == 0 ? second : first).gradient_ready(i);
    }
    first.step();
    second.step();
  }
  REQUIRE(a.distance(b) == 0);
  REQUIRE(replicas_agree(a));
}
