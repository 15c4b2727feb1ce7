// A thousand tensors, every rank and thread in an order of its own.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "support/catch.hpp"
#include "support/gradients.hpp"
#include "support/job.hpp"

using namespace ringlet;
using runtime::Runtime;

namespace {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kSteps = 10;
#else
constexpr int kSteps = 100;
#endif
constexpr std::size_t kTensors = 1000;
constexpr std::size_t kThreads = 3;

std::size_t elements_of(std::size_t tensor) { return 1 + tensor % 37; }

/// Enqueues this thread's share of the step, in a random order.
void enqueue_share(Runtime& runtime, std::vector<std::vector<float>>& values, std::vector<Handle>& handles,
                   std::size_t thread, unsigned seed) {
  std::vector<std::size_t> order;
  for (std::size_t t = thread; t < kTensors; t += kThreads) order.push_back(t);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  for (const std::size_t t : order)
    handles[t] = runtime.submit(test::allreduce_of(fmt::format("tensor.{}", t), values[t]));
}

}  // namespace

TEST_CASE("1,000 tensors in another random order on each of 7 ranks, from several threads, step after step",
          "[inproc][stress]") {
  constexpr int ranks = 7;
  const auto wrong = test::run_job(ranks, test::job_settings(), [&](Runtime& runtime) {
    std::size_t bad = 0;
    std::vector<std::vector<float>> values(kTensors);
    std::vector<Handle> handles(kTensors);
    for (int step = 0; step < kSteps; ++step) {
      for (std::size_t t = 0; t < kTensors; ++t) {
        values[t].assign(elements_of(t), static_cast<float>(static_cast<std::size_t>(runtime.rank()) * kTensors + t));
      }
      std::vector<std::jthread> threads;
      for (std::size_t k = 0; k < kThreads; ++k) {
        const auto seed = static_cast<unsigned>(step * 1000 + runtime.rank() * 10) + static_cast<unsigned>(k);
        threads.emplace_back([&, k, seed] { enqueue_share(runtime, values, handles, k, seed); });
      }
      threads.clear();
      for (std::size_t t = 0; t < kTensors; ++t) {
        handles[t].wait();
        const auto expected = static_cast<float>(kTensors * (ranks - 1) / 2 + t);  // the mean over ranks
        for (const float value : values[t]) bad += value != expected ? 1 : 0;
      }
    }
    const Counters counters = runtime.counters();
    if (counters.fused_tensors == 0) ++bad;                  // fusion happened
    if (counters.cache_hits < counters.cache_misses) ++bad;  // and so did the cache
    return bad;
  });
  REQUIRE(wrong == std::vector<std::size_t>(ranks, 0));
}
