// The gradients of one step of ResNet-50, 161 tensors from 64 to 2.4 million floats: ringlet's all-reduces, enqueued
// one by one as a backward pass makes them, against what a program can do with MPI, in one run.
//
// Moves     102.2 MB on every rank, in place, a step of each contender in turns
// Prints    the median of the steps, each as long as its slowest rank; ringlet's over the best of MPI's. MPI's scratch
// lies in
//           touched memory, see malloc_baseline.hpp
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "osu/huge_buffer.hpp"
#include "osu/malloc_baseline.hpp"
#include "osu/samples.hpp"
#include "osu/session.hpp"
#include "osu/validation.hpp"
#include "ringlet/mpi.hpp"
#include "ringlet/ringlet.hpp"
#include "sizes/resnet50.hpp"

namespace ringlet::osu {
namespace {

using sizes::Resnet50;

struct Options {
  std::vector<std::string> specs{"none"};
  std::size_t iterations = 20;
  std::size_t warmup = 3;
  std::string json;
  bool rivals = true;
};

/// One gradient of each tensor, last layer first, each at a cache line's start; and one buffer as long as all of them.
class Gradients {
 public:
  explicit Gradients(int rank) : memory_(kBytes), packed_(kBytes) {
    constexpr Resnet50 kModel;
    std::size_t begin = 0;
    for (auto n = kModel.elements().rbegin(); n != kModel.elements().rend(); ++n) {
      tensors_.push_back(memory_.floats(kBytes / sizeof(float)).subspan(begin, *n));
      begin += (*n + kLine - 1) / kLine * kLine;
    }
    fill_sample(memory_.floats(begin), rank);
    fill_sample(packed(), rank);
  }

  std::span<const std::span<float>> tensors() const noexcept { return tensors_; }
  std::span<float> packed() const noexcept { return packed_.floats(Resnet50::kElements); }

 private:
  static constexpr std::size_t kLine = 16;  // floats
  static constexpr std::size_t kBytes = (Resnet50::kElements + Resnet50::kTensors * kLine) * sizeof(float);

  HugeBuffer memory_, packed_;
  std::vector<std::span<float>> tensors_;
};

void all_reduce(std::span<float> values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void one_by_one(const Gradients& gradients) {
  for (const auto tensor : gradients.tensors()) all_reduce(tensor);
}

void all_at_once(const Gradients& gradients) {
  std::vector<MPI_Request> requests;
  requests.reserve(gradients.tensors().size());
  for (const auto tensor : gradients.tensors()) {
    MPI_Iallreduce(MPI_IN_PLACE, tensor.data(), static_cast<int>(tensor.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void packed_with_copies(const Gradients& gradients) {
  float* at = gradients.packed().data();
  for (const auto tensor : gradients.tensors()) at = std::copy(tensor.begin(), tensor.end(), at);
  all_reduce(gradients.packed());
  const float* from = gradients.packed().data();
  for (const auto tensor : gradients.tensors()) {
    std::memcpy(tensor.data(), from, tensor.size_bytes());
    from += tensor.size();
  }
}

/// One spec's step: every tensor is enqueued before any is waited for.
class RingletStep {
 public:
  RingletStep(const Gradients& gradients, const std::string& spec)
      : gradients_(gradients), handles_(gradients.tensors().size()) {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      // As much work as a sum, and the values stay what they are from step to step
      calls_.push_back({.name = fmt::format("{}.gradient.{}", spec, i), .op = ReduceOp::average, .compression = spec});
    }
  }
  void operator()() {
    for (std::size_t i = 0; i < handles_.size(); ++i) handles_[i] = allreduce_async(gradients_.tensors()[i], calls_[i]);
    for (const Handle& handle : handles_) handle.wait();
  }

 private:
  const Gradients& gradients_;
  std::vector<AllreduceOptions> calls_;
  std::vector<Handle> handles_;
};

struct Row {
  std::string name;
  bool is_ours = false;
  double milliseconds = 0;
  double algorithm_bandwidth() const noexcept { return Resnet50::kElements * sizeof(float) / milliseconds * 1e-6; }
};

struct Named {
  std::string name;
  bool is_ours;
  Contender contender;
};

std::vector<Named> contenders_of(const Gradients& gradients, std::vector<RingletStep>& steps, const Options& options) {
  std::vector<Named> all;
  for (std::size_t i = 0; i < steps.size(); ++i)
    all.push_back({"ringlet " + options.specs[i], true, {std::ref(steps[i])}});
  if (!options.rivals) return all;
  all.push_back({"161 MPI_Allreduce", false, {[&] { one_by_one(gradients); }}});
  all.push_back({"161 MPI_Iallreduce, MPI_Waitall", false, {[&] { all_at_once(gradients); }}});
  all.push_back({"pack, 1 MPI_Allreduce, unpack", false, {[&] { packed_with_copies(gradients); }}});
  all.push_back({"1 MPI_Allreduce, no copies", false, {[&] { all_reduce(gradients.packed()); }}});
  return all;
}

std::vector<Row> measure(const Gradients& gradients, const Options& options) {
  std::vector<RingletStep> steps;
  for (const std::string& spec : options.specs) steps.emplace_back(gradients, spec);
  auto named = contenders_of(gradients, steps, options);
  std::vector<Contender*> contenders;
  for (Named& each : named) contenders.push_back(&each.contender);
  take_turns(contenders, {options.iterations, options.warmup, std::max<std::size_t>(options.iterations / 2, 1)});
  std::vector<Row> rows;
  for (const Named& each : named) {
    rows.push_back({each.name, each.is_ours, median_of_slowest(each.contender.microseconds) * 1e-3});
  }
  return rows;
}

double best_of_mpi(std::span<const Row> rows) {
  double best = 0;
  for (const Row& row : rows) {
    if (!row.is_ours && (best == 0 || row.milliseconds < best)) best = row.milliseconds;
  }
  return best;
}

void print(std::span<const Row> rows, const Ranks& ranks) {
  fmt::print("# ResNet-50: {} tensors, {} floats, {:.1f} MB, in place, {} ranks; {}\n", Resnet50::kTensors,
             Resnet50::kElements, Resnet50::kElements * sizeof(float) * 1e-6, ranks.size, describe_fair_malloc());
  fmt::print("{:<34}{:>12}{:>14}{:>14}{:>16}\n", "# Contender", "Median(ms)", "algbw(GB/s)", "busbw(GB/s)",
             "over best MPI");
  const double best = best_of_mpi(rows);
  for (const Row& row : rows) {
    const double bandwidth = row.algorithm_bandwidth();
    fmt::print("{:<34}{:>12.2f}{:>14.3f}{:>14.3f}{:>16.3f}\n", row.name, row.milliseconds, bandwidth,
               bandwidth * 2 * (ranks.size - 1) / ranks.size, row.milliseconds / best);
  }
}

void write_json(const std::string& path, std::span<const Row> rows, const Ranks& ranks) {
  auto array = nlohmann::json::array();
  for (const Row& row : rows) {
    array.push_back({{"name", row.name},
                     {"ours", row.is_ours},
                     {"ranks", ranks.size},
                     {"median_ms", row.milliseconds},
                     {"algbw", row.algorithm_bandwidth()},
                     {"over_best_mpi", row.milliseconds / best_of_mpi(rows)}});
  }
  std::ofstream file(path);
  file << array.dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

int run(int argc, char** argv, const Ranks& ranks) {
  CLI::App app("One step's gradients of ResNet-50: ringlet beside plain MPI");
  Options options;
  app.add_option("--spec", options.specs, "Compression, one contender each; may be repeated; default none");
  app.add_option("-i,--iterations", options.iterations, "Timed steps of each contender; default 20")
      ->check(CLI::PositiveNumber);
  app.add_option("-x,--warmup", options.warmup, "Steps before them; default 3")->check(CLI::NonNegativeNumber);
  app.add_flag("!--no-mpi", options.rivals, "Leave out plain MPI");
  app.add_option("--json", options.json, "File that rank 0 writes the rows to");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return ranks.first() ? app.exit(e) : e.get_exit_code();
  }
  make_malloc_fair();
  init(MPI_COMM_WORLD);
  const Gradients gradients(ranks.rank);
  reserve_heap(2 * Resnet50::kElements * sizeof(float));
  const auto rows = measure(gradients, options);
  if (ranks.first()) {
    print(rows, ranks);
    if (!options.json.empty()) write_json(options.json, rows, ranks);
  }
  shutdown();
  return 0;
}

}  // namespace
}  // namespace ringlet::osu

int main(int argc, char** argv) {
  return ringlet::osu::run_session(
      argc, argv, [&](const ringlet::osu::Ranks& ranks) { return ringlet::osu::run(argc, argv, ranks); });
}
