// A training loop of one's own: least squares, every rank on its own samples, gradients averaged by
// DistributedOptimizer under the spec of the first argument (qsgd(bits=4) without one). Returns 0 when the loss fell a
// thousandfold and the ranks hold the same weights.
#include <cstddef>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "ringlet/hvd.hpp"

namespace {

constexpr std::size_t kFeatures =
    1024;  // as many elements as are compressed at least; the one of the bias travels exact
constexpr std::size_t kSamples = 2048;  // of each rank
constexpr int kSteps = 100;

/// This rank's samples: targets are a linear function that all ranks share, and no noise.
struct Samples {
  std::vector<float> inputs = std::vector<float>(kSamples * kFeatures);
  std::vector<float> targets = std::vector<float>(kSamples);

  explicit Samples(int rank) {
    std::normal_distribution<float> normal;
    std::mt19937 shared(1);
    std::vector<float> truth(kFeatures);
    for (float& w : truth) w = normal(shared);
    std::mt19937 own(static_cast<unsigned>(rank) + 2);
    for (float& x : inputs) x = normal(own);
    for (std::size_t s = 0; s < kSamples; ++s) {
      targets[s] = 3;
      for (std::size_t f = 0; f < kFeatures; ++f) targets[s] += truth[f] * inputs[s * kFeatures + f];
    }
  }
};

struct Model {
  std::vector<float> weights = std::vector<float>(kFeatures), weight_gradients = std::vector<float>(kFeatures);
  float bias = 0, bias_gradient = 0;

  std::vector<hvd::Parameter> parameters() {
    return {{"weights", weights, weight_gradients}, {"bias", {&bias, {}}, {&bias_gradient, {}}}};
  }

  /// Half the mean squared error of this rank's samples; leaves its gradient.
  float backward(const Samples& samples) {
    float loss = 0;
    bias_gradient = 0;
    weight_gradients.assign(kFeatures, 0);
    for (std::size_t s = 0; s < kSamples; ++s) {
      const float* x = &samples.inputs[s * kFeatures];
      float error = bias - samples.targets[s];
      for (std::size_t f = 0; f < kFeatures; ++f) error += weights[f] * x[f];
      loss += error * error / (2 * kSamples);
      bias_gradient += error / kSamples;
      for (std::size_t f = 0; f < kFeatures; ++f) weight_gradients[f] += error / kSamples * x[f];
    }
    return loss;
  }
};

/// Whether `values` have the same bits everywhere: their least and their greatest over the ranks are equal.
bool same_on_every_rank(const std::vector<float>& values) {
  std::vector<float> least = values, greatest = values;
  hvd::allreduce(least, {.name = "least", .op = hvd::ReduceOp::min});
  hvd::allreduce(greatest, {.name = "greatest", .op = hvd::ReduceOp::max});
  return least == greatest;
}

bool train(const std::string& spec) {
  const Samples samples(hvd::rank());
  Model model;
  hvd::DistributedOptimizer optimizer(model.parameters(), {.learning_rate = 0.5}, {.compression = spec});
  optimizer.broadcast_parameters();  // all ranks start as rank 0

  float first = 0, last = 0;
  for (int step = 0; step < kSteps; ++step) {
    last = model.backward(samples);
    if (step == 0) first = last;
    optimizer.step();
  }
  if (hvd::rank() == 0) {
    std::printf("loss %g -> %g in %d steps with %s, ratio %.2f\n", static_cast<double>(first),
                static_cast<double>(last), kSteps, spec.c_str(), hvd::counters().ratio());
  }
  return last < first / 1000 && same_on_every_rank(model.weights);
}

}  // namespace

int main(int argc, char** argv) {
  hvd::init();
  const bool right = train(argc > 1 ? argv[1] : "qsgd(bits=4)");
  hvd::shutdown();
  return right ? 0 : 1;
}
