// What the library costs while it has nothing to do: a computation on every rank, timed with the library down and up in
// turns.
//
// Moves     nothing; each computation is a triad over memory and a loop of multiply-adds in cache, some 60 ms
// Prints    per rank the ratio of the medians, up over down (1.02 is the limit we set ourselves), and the processor
// time that all
//           threads but the program's own took while it slept with the library up
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "osu/huge_buffer.hpp"
#include "osu/session.hpp"
#include "ringlet/mpi.hpp"
#include "ringlet/ringlet.hpp"

namespace ringlet::idle {
namespace {

using osu::Ranks;

struct Options {
  std::size_t cycles = 10;
  std::size_t repetitions = 4;
  double sleep_seconds = 3;
  std::string json;
};

/// The work of a training step's kind: part of it bound by memory, part by arithmetic.
class Computation {
 public:
  Computation() : memory_(3 * kElements * sizeof(float)) {}

  /// Seconds.
  double run() {
    const auto begin = std::chrono::steady_clock::now();
    for (int pass = 0; pass < 20; ++pass) triad();
    for (int pass = 0; pass < 60000; ++pass) multiply_add();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  static constexpr std::size_t kElements = std::size_t{4} << 20;
  static constexpr std::size_t kBlock = 4096;  // floats, in the first-level cache

  void triad() {
    const auto all = memory_.floats(3 * kElements);
    const float* x = all.data();
    const float* y = x + kElements;
    float* z = all.data() + 2 * kElements;
#pragma GCC ivdep
    for (std::size_t i = 0; i < kElements; ++i) z[i] = x[i] + 0.5F * y[i];
    keep(z);
  }
  void multiply_add() {
    float* z = memory_.floats(kBlock).data();
    for (std::size_t i = 0; i < kBlock; ++i) z[i] = z[i] * 0.5F + 1.0F;
    keep(z);
  }
  /// The compiler must believe that somebody reads it.
  static void keep(const float* values) { asm volatile("" : : "r"(values) : "memory"); }

  osu::HugeBuffer memory_;
};

double cpu_seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Processor seconds of every thread but this one.
double cpu_of_others() { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds(CLOCK_THREAD_CPUTIME_ID); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What one rank saw.
struct Figures {
  double down_ms = 0, up_ms = 0;
  double cpu_ms = 0;       ///< of the library's threads while the program slept
  double cpu_down_ms = 0;  ///< the same with the library down: MPI's own
  double ratio() const { return up_ms / down_ms; }
};

void compute(Computation& work, std::size_t repetitions, std::vector<double>& seconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  work.run();  // what init() or the barrier left in the caches
  for (std::size_t i = 0; i < repetitions; ++i) seconds.push_back(work.run());
  MPI_Barrier(MPI_COMM_WORLD);
}

double cpu_while_asleep(double seconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double before = cpu_of_others();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return (cpu_of_others() - before) * 1e3;
}

/// One all-reduce, so that whatever is set up lazily is.
void use_once(int cycle) {
  float value = 1;
  allreduce(TensorView(&value, Shape{1}), {.name = fmt::format("idle.{}", cycle), .op = ReduceOp::sum});
}

Figures measure(const Options& options) {
  Computation work;
  std::vector<double> down, up;
  Figures figures;
  figures.cpu_down_ms = cpu_while_asleep(options.sleep_seconds);
  for (std::size_t cycle = 0; cycle < options.cycles; ++cycle) {
    compute(work, options.repetitions, down);
    init(MPI_COMM_WORLD);
    use_once(static_cast<int>(cycle));
    compute(work, options.repetitions, up);
    if (cycle == 0) figures.cpu_ms = cpu_while_asleep(options.sleep_seconds);
    shutdown();
  }
  figures.down_ms = median(down) * 1e3;
  figures.up_ms = median(up) * 1e3;
  return figures;
}

std::vector<Figures> gather(const Figures& mine, const Ranks& ranks) {
  std::vector<Figures> all(static_cast<std::size_t>(ranks.size));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

void print(const std::vector<Figures>& all, const Options& options) {
  fmt::print("# {} ranks; medians of {} computations each way, {} turns; CPU in {} s of sleep\n", all.size(),
             options.cycles * options.repetitions, options.cycles, options.sleep_seconds);
  fmt::print("{:<8}{:>18}{:>16}{:>10}{:>18}{:>18}\n", "# Rank", "library down(ms)", "library up(ms)", "Ratio",
             "CPU up(ms)", "CPU down(ms)");
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Figures& f = all[rank];
    fmt::print("{:<8}{:>18.2f}{:>16.2f}{:>10.4f}{:>18.2f}{:>18.2f}\n", rank, f.down_ms, f.up_ms, f.ratio(), f.cpu_ms,
               f.cpu_down_ms);
  }
}

void write_json(const std::string& path, const std::vector<Figures>& all, const Options& options) {
  auto array = nlohmann::json::array();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    array.push_back({{"rank", rank},
                     {"down_ms", all[rank].down_ms},
                     {"up_ms", all[rank].up_ms},
                     {"ratio", all[rank].ratio()},
                     {"cpu_up_ms", all[rank].cpu_ms},
                     {"cpu_down_ms", all[rank].cpu_down_ms},
                     {"sleep_s", options.sleep_seconds}});
  }
  std::ofstream file(path);
  file << array.dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(int argc, char** argv, const Ranks& ranks) {
  CLI::App app("What the library costs while it is idle");
  Options options;
  app.add_option("--cycles", options.cycles, "Turns of library down, library up; default 10")
      ->check(CLI::PositiveNumber);
  app.add_option("-i,--iterations", options.repetitions, "Computations a turn; default 4")->check(CLI::PositiveNumber);
  app.add_option("--sleep", options.sleep_seconds, "Seconds over which processor time is counted; default 3")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--json", options.json, "File that rank 0 writes the ranks' figures to");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return ranks.first() ? app.exit(e) : e.get_exit_code();
  }
  const auto all = gather(measure(options), ranks);
  if (ranks.first()) {
    print(all, options);
    if (!options.json.empty()) write_json(options.json, all, options);
  }
  return 0;
}

}  // namespace
}  // namespace ringlet::idle

int main(int argc, char** argv) {
  return ringlet::osu::run_session(
      argc, argv, [&](const ringlet::osu::Ranks& ranks) { return ringlet::idle::run(argc, argv, ranks); });
}
