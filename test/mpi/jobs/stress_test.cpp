// Hundreds of tensors, each rank and each thread in an order of its own; over real MPI.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <thread>

#include "ranks_agree.hpp"
#include "support/catch.hpp"

using namespace ringlet;

namespace {

constexpr std::size_t kTensors = 300;
constexpr std::size_t kThreads = 3;
constexpr int kSteps = 20;

/// Enqueues this thread's share of the tensors, in a random order, every fifth one compressed.
void enqueue_share(std::vector<std::vector<float>>& values, std::vector<hvd::Handle>& handles, std::size_t thread,
                   unsigned seed) {
  std::vector<std::size_t> order;
  for (std::size_t t = thread; t < kTensors; t += kThreads) order.push_back(t);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  for (const std::size_t t : order) {
    const bool compressed = t % 5 == 0;
    handles[t] = hvd::allreduce_async(
        values[t], {.name = fmt::format("tensor.{}", t), .compression = compressed ? "qsgd(bits=4)" : ""});
  }
}

}  // namespace

TEST_CASE("300 tensors in a random order from three threads, 20 steps") {
  const test::Job job;
  const auto rank = static_cast<std::size_t>(hvd::rank()), ranks = static_cast<std::size_t>(hvd::size());
  std::vector<std::vector<float>> values(kTensors);
  std::vector<hvd::Handle> handles(kTensors);
  for (int step = 0; step < kSteps; ++step) {
    // Constant tensors: a bucket's largest element is a level of its own, so QSGD sends them exactly.
    for (std::size_t t = 0; t < kTensors; ++t) values[t].assign(1 + 37 * t, static_cast<float>(rank * kTensors + t));
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < kThreads; ++k) {
      const auto seed = static_cast<unsigned>(step * 1000) + static_cast<unsigned>(rank * 10 + k);
      threads.emplace_back([&, k, seed] { enqueue_share(values, handles, k, seed); });
    }
    threads.clear();
    std::size_t wrong = 0;
    for (std::size_t t = 0; t < kTensors; ++t) {
      handles[t].wait();
      const double mean = static_cast<double>(kTensors * (ranks - 1)) / 2 + static_cast<double>(t);
      for (const float v : values[t]) wrong += std::abs(v - mean) > 1e-3 ? 1 : 0;
    }
    REQUIRE(wrong == 0);
    REQUIRE(test::ranks_agree(values));
  }
  const Counters counters = hvd::counters();
  REQUIRE(counters.tensors == kTensors * kSteps);
  REQUIRE(counters.fused_tensors > 0);
  REQUIRE(counters.cache_misses == kTensors);  // full requests in the first step only
}
