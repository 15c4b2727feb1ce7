#include "runtime/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace ringlet::runtime {
namespace {

using std::chrono::microseconds;

constexpr std::size_t kSpins = 300;   // polls of about 0.3 us
constexpr std::size_t kYields = 300;  // of about 2 us
constexpr auto kFirstSleep = microseconds(50);
constexpr auto kLastSleep = microseconds(500);
constexpr auto kIdleSleep = microseconds(5000);

}  // namespace

Backoff::Backoff(transport::Transport& net, int ranks_here, std::chrono::nanoseconds tick)
    : net_(net),
      tick_(tick),
      spins_(static_cast<std::size_t>(ranks_here) > std::thread::hardware_concurrency() ? 0 : kSpins) {}

void Backoff::pause(bool anything_in_flight) {
  if (net_.wakes_on_arrival()) return net_.wait(tick_);
  if (!anything_in_flight) return net_.wait(kIdleSleep);
  const std::size_t round = idle_rounds_++;
  if (round < spins_) return;
  if (round < spins_ + kYields) {
    ::sched_yield();
    return;
  }
  const auto doublings = std::min<std::size_t>((round - spins_ - kYields) / 16, 10);
  net_.wait(std::min<std::chrono::nanoseconds>(kFirstSleep * (std::size_t{1} << doublings), kLastSleep));
}

}  // namespace ringlet::runtime
