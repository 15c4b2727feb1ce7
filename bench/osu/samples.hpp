#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace ringlet::osu {

/// What many timed calls of one kind come to, in microseconds.
struct Latency {
  double average = 0;  ///< mean over ranks of each rank's mean: the "Avg Latency" of OSU's benchmarks
  double minimum = 0;  ///< the fastest rank's mean
  double maximum = 0;  ///< the slowest rank's mean
  double median = 0;   ///< over the calls, of the mean over the ranks; what ratios are made of, because a stray
                       ///< interrupt does not move it
};

/// Collective over MPI_COMM_WORLD: `microseconds[i]` is this rank's time of call i. Valid on every rank.
Latency summarize(std::span<const double> microseconds);

/// As summarize()'s median, of the slowest rank's time of each call: for a call that ends when all ranks have.
double median_of_slowest(std::span<const double> microseconds);

/// Something to be timed against others.
struct Contender {
  std::function<void()> call;
  std::vector<double> microseconds = {};
};

struct Repetitions {
  std::size_t iterations = 100;
  std::size_t warmup = 10;
  std::size_t blocks =
      10;  ///< the contenders take turns this often, so that a machine that slows down slows all of them
};

/// Times `iterations` calls of each contender, a barrier after each call as OSU's benchmarks do it. Returns how often
/// each was called, untimed calls included.
std::size_t take_turns(std::span<Contender* const> contenders, const Repetitions& repetitions);

}  // namespace ringlet::osu
