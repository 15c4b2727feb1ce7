// A rank fails, leaves or falls silent in the middle of a step; what do the others hear, and do they end?
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "modes.hpp"

namespace ringlet::test {
namespace {

using namespace std::chrono_literals;

constexpr int kFailingStep = 5;

/// Memory that is never given back. What is in flight when a program ends must outlive main, and the exit handlers too:
/// objects that are destroyed at exit go before the library's own handler when they were made after init().
std::vector<float>& immortal(std::size_t elements) { return *new std::vector<float>(elements, 1.0F); }

/// Steps without end, for every rank; `fate` meets its rank between two tensors of one step.
template <class Fate>
void train(int culprit, Fate fate) {
  auto& weights = immortal(50'000);
  auto& bias = immortal(100);
  for (int step = 0;; ++step) {
    const auto first = hvd::allreduce_async(weights, {.name = "weights"});
    if (step == kFailingStep && hvd::rank() == culprit) fate();
    const auto second = hvd::allreduce_async(bias, {.name = "bias"});
    first.wait();
    second.wait();
  }
}

/// As most programs do it: the error is told, and main returns 1.
template <class Fate>
int train_and_tell(Fate fate, int culprit = kCulprit) {
  hvd::init();
  const int rank = hvd::rank();
  try {
    train(culprit, fate);
  } catch (const hvd::Error& e) {
    hear(rank, e.what());
  }
  return 1;
}

int throws() {
  return train_and_tell([] { throw std::runtime_error("planted: the loss is no number"); });
}

/// Nobody catches anything.
int throws_uncaught_by_all() {
  hvd::init();
  train(kCulprit, [] { throw std::runtime_error("planted: the loss is no number"); });
  return 0;
}

int throws_on_another_thread() {
  return train_and_tell([] { std::thread([] { throw std::runtime_error("planted: the reader broke"); }).join(); });
}

/// The culprit's main catches its own exception, says it and returns 1: the destructors and exit handlers do the rest.
int caught_in_main() {
  hvd::init();
  const int rank = hvd::rank();
  try {
    train(kCulprit, [] { throw std::runtime_error("planted: no such file"); });
  } catch (const std::exception& e) {
    hear(rank, e.what());
  }
  return 1;
}

int aborts() {
  return train_and_tell([] { hvd::abort("planted: out of disk"); });
}

int exits() {
  return train_and_tell([] { std::exit(3); });
}

int is_killed() {
  return train_and_tell([] { ::raise(SIGKILL); });
}

int is_stopped() {
  return train_and_tell([] { ::raise(SIGSTOP); });
}

int root_is_stopped() {
  return train_and_tell([] { ::raise(SIGSTOP); }, 0);
}

/// The errors of a stopped rank come before an orderly end: shutdown() by hand, then return.
int is_stopped_and_others_shut_down() {
  const int status = train_and_tell([] { ::raise(SIGSTOP); });
  const auto begin = std::chrono::steady_clock::now();
  hvd::shutdown();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print(stderr, "shutdown took {:.1f} s\n", took.count());
  return status;
}

/// Stops while its exchange is under way: the plan has gone out and every rank works on it.
int is_stopped_in_exchange() {
  hvd::init();
  const int rank = hvd::rank();
  auto& large = immortal(std::size_t{64} << 20);
  try {
    hvd::allreduce(large, {.name = "large"});
    const auto handle = hvd::allreduce_async(large, {.name = "large"});
    if (rank == kCulprit) {
      handle.wait_for(20ms);
      ::raise(SIGSTOP);
    }
    handle.wait();
  } catch (const hvd::Error& e) {
    hear(rank, e.what());
  }
  return 1;
}

/// main's end instead of shutdown(), with exit status 0, while the others want to go on.
int returns_early() {
  hvd::init();
  const int rank = hvd::rank();
  auto& values = immortal(1000);
  hvd::allreduce(values, {.name = "together"});
  if (rank == kCulprit) return 0;
  hear(rank, error_of([&] { hvd::allreduce(values, {.name = "pending"}); }));
  return 1;
}

/// Nobody calls shutdown(), which is no failure.
int returns_together() {
  hvd::init();
  expect_a_working_job();
  return 0;
}

int shuts_down_early() {
  hvd::init();
  const int rank = hvd::rank();
  auto& values = immortal(1000);
  hvd::allreduce(values, {.name = "together"});
  if (rank == kCulprit) {
    hvd::shutdown();
    return 0;
  }
  hear(rank, error_of([&] { hvd::allreduce(values, {.name = "pending"}); }));
  hear(rank, error_of([&] { hvd::allreduce(values, {.name = "late"}); }));
  hvd::shutdown();
  return 1;
}

/// Everything is done and all shut down, but one stops before it.
int is_stopped_before_shutdown() {
  hvd::init();
  expect_a_working_job();
  if (hvd::rank() == kCulprit) ::raise(SIGSTOP);
  hvd::shutdown();
  return 0;
}

/// The culprit's exception unwinds main's locals, an optimizer with gradients on their way among them.
int unwinds() {
  hvd::init();
  const int rank = hvd::rank();
  try {
    std::vector<float> weights(50'000, 1.0F), bias(100, 1.0F), weights_gradient(50'000, 1.0F), bias_gradient(100, 1.0F);
    hvd::DistributedOptimizer optimizer({{"weights", weights, weights_gradient}, {"bias", bias, bias_gradient}},
                                        {.learning_rate = 0.1});
    for (int step = 0;; ++step) {
      optimizer.gradient_ready(1);
      if (step == kFailingStep && rank == kCulprit) throw std::runtime_error("planted: no such file");
      optimizer.step();
    }
  } catch (const std::exception& e) {
    hear(rank, e.what());
  }
  return 1;
}

/// Rank 0 wants a tensor that no other rank has.
int extra_tensor() {
  hvd::init();
  const int rank = hvd::rank();
  auto& extra = immortal(1000);
  auto& values = immortal(1000);
  try {
    if (rank == 0) hvd::allreduce(extra, {.name = "extra"});
    hvd::allreduce(values, {.name = "next"});
  } catch (const hvd::Error& e) {
    hear(rank, e.what());
  }
  return 1;
}

constexpr std::array kModes{Mode{"throw", throws},
                            Mode{"throw-uncaught", throws_uncaught_by_all},
                            Mode{"throw-on-thread", throws_on_another_thread},
                            Mode{"caught-in-main", caught_in_main},
                            Mode{"abort", aborts},
                            Mode{"exit", exits},
                            Mode{"kill", is_killed},
                            Mode{"stop", is_stopped},
                            Mode{"stop-root", root_is_stopped},
                            Mode{"stop-then-shutdown", is_stopped_and_others_shut_down},
                            Mode{"stop-in-exchange", is_stopped_in_exchange},
                            Mode{"return-early", returns_early},
                            Mode{"return-together", returns_together},
                            Mode{"shutdown-early", shuts_down_early},
                            Mode{"stop-before-shutdown", is_stopped_before_shutdown},
                            Mode{"unwind", unwinds},
                            Mode{"extra-tensor", extra_tensor}};

}  // namespace

std::span<const Mode> lost_rank_modes() { return kModes; }

}  // namespace ringlet::test
