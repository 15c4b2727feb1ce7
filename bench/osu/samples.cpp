#include "osu/samples.hpp"

#include <mpi.h>

#include <algorithm>
#include <numeric>

namespace ringlet::osu {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double over_ranks(double mine, MPI_Op op) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
  return all;
}

std::vector<double> over_ranks(std::span<const double> mine, MPI_Op op) {
  std::vector<double> all(mine.size());
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, op, MPI_COMM_WORLD);
  return all;
}

void time_calls(Contender& contender, std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) {
    const double begin = MPI_Wtime();
    contender.call();
    contender.microseconds.push_back((MPI_Wtime() - begin) * 1e6);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void warm(const Contender& contender, std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) {
    contender.call();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

Latency summarize(std::span<const double> microseconds) {
  if (microseconds.empty()) return {};
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double mean =
      std::accumulate(microseconds.begin(), microseconds.end(), 0.0) / static_cast<double>(microseconds.size());
  return {over_ranks(mean, MPI_SUM) / ranks, over_ranks(mean, MPI_MIN), over_ranks(mean, MPI_MAX),
          median(over_ranks(microseconds, MPI_SUM)) / ranks};
}

double median_of_slowest(std::span<const double> microseconds) { return median(over_ranks(microseconds, MPI_MAX)); }

std::size_t take_turns(std::span<Contender* const> contenders, const Repetitions& repetitions) {
  for (Contender* contender : contenders) warm(*contender, repetitions.warmup);
  const std::size_t blocks = std::clamp<std::size_t>(repetitions.blocks, 1, repetitions.iterations);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t calls = repetitions.iterations * (block + 1) / blocks - repetitions.iterations * block / blocks;
    for (Contender* contender : contenders) {
      warm(*contender, 1);  // what the contender before it left in the caches is not its own
      time_calls(*contender, calls);
    }
  }
  return repetitions.warmup + blocks + repetitions.iterations;
}

}  // namespace ringlet::osu
