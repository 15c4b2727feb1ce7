// All-reduces of one float32 tensor, of sizes that double: ringlet's against the same through plain MPI_Allreduce, in
// one run.
//
// Moves     `size` bytes on every rank, out of place unless -l, a barrier after each call, as OSU's osu_allreduce
// Prints    OSU 7.4's columns; the median; GB/s as nccl-tests define them; bytes a rank sends; and MPI_Allreduce's
// median twice,
//           see malloc_baseline.hpp: fair in turns with ringlet's, with malloc as it comes before everything else
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <map>

#include "osu/allreduce_options.hpp"
#include "osu/allreduce_table.hpp"
#include "osu/huge_buffer.hpp"
#include "osu/malloc_baseline.hpp"
#include "osu/session.hpp"
#include "ringlet/mpi.hpp"
#include "ringlet/ringlet.hpp"

namespace ringlet::osu {
namespace {

class Benchmark {
 public:
  Benchmark(const AllreduceBenchOptions& options, const Ranks& ranks)
      : options_(options), ranks_(ranks), sizes_(sizes_of(options)), send_(sizes_.back()), receive_(sizes_.back()) {}

  /// The exit status.
  int run();

 private:
  static std::vector<std::size_t> sizes_of(const AllreduceBenchOptions& options);
  void measure_default_mpi();
  AllreduceRow measure(const std::string& spec, std::size_t bytes);
  /// What this exchange is called by the counters, and whether its result is right. Also negotiates `options.name` for
  /// the first time.
  void check(AllreduceRow& row, AllreduceOptions options);
  std::uint64_t wire_bytes(const Counters& before, std::size_t calls) const;
  Contender mpi(std::size_t elements);

  const AllreduceBenchOptions& options_;
  const Ranks ranks_;
  const std::vector<std::size_t> sizes_;
  HugeBuffer send_, receive_;
  std::map<std::size_t, Latency> default_mpi_;
};

std::vector<std::size_t> Benchmark::sizes_of(const AllreduceBenchOptions& options) {
  std::vector<std::size_t> sizes;
  const std::size_t largest = std::min(options.largest, options.memory_limit / 2);
  for (std::size_t bytes = options.smallest; bytes <= largest; bytes *= 2)
    sizes.push_back(bytes / sizeof(float) * sizeof(float));
  if (sizes.empty()) throw CLI::ValidationError("-M", "no size fits the memory limit");
  return sizes;
}

Contender Benchmark::mpi(std::size_t elements) {
  // In place ringlet and MPI each have a buffer of their own: MPI's sums of sums grow beyond all floats.
  const void* from = options_.in_place ? MPI_IN_PLACE : send_.floats(elements).data();
  float* to = (options_.in_place ? send_ : receive_).floats(elements).data();
  return {[=] { MPI_Allreduce(from, to, static_cast<int>(elements), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }};
}

void Benchmark::measure_default_mpi() {
  for (const std::size_t bytes : sizes_) {
    Contender rival = mpi(bytes / sizeof(float));
    Contender* only[] = {&rival};
    // A tenth of the calls: where it matters, each takes ten times as long
    take_turns(only, {std::max<std::size_t>(options_.iterations_of(bytes) / 10, 3),
                      std::min<std::size_t>(options_.warmup_of(bytes), 3), 1});
    default_mpi_[bytes] = summarize(rival.microseconds);
  }
}

void Benchmark::check(AllreduceRow& row, AllreduceOptions options) {
  const auto elements = row.bytes / sizeof(float);
  options.name += ".check";  // its own residual, which is empty
  options.output = TensorView(receive_.floats(elements));
  fill_sample(send_.floats(elements), ranks_.rank);
  const Counters before = counters();
  allreduce(TensorView(send_.floats(elements)), options);
  for (const auto& [exchange, buckets] : (counters() - before).exchanges) {
    if (buckets > 0) row.exchange = exchange;
  }
  if (options_.validate) row.verdict = judge_sum(receive_.floats(elements), row.exchange, ranks_);
}

std::uint64_t Benchmark::wire_bytes(const Counters& before, std::size_t calls) const {
  const std::uint64_t mine = (counters() - before).bytes_sent;
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all / static_cast<std::uint64_t>(ranks_.size) / calls;
}

AllreduceRow Benchmark::measure(const std::string& spec, std::size_t bytes) {
  const std::size_t elements = bytes / sizeof(float);
  AllreduceOptions call{.name = fmt::format("osu.{}.{}", spec, bytes), .op = ReduceOp::sum, .compression = spec};
  AllreduceRow row;
  row.bytes = bytes;
  row.spec = spec;
  row.ranks = ranks_.size;
  row.iterations = options_.iterations_of(bytes);
  check(row, call);

  TensorView tensor(send_.floats(elements));
  if (options_.in_place) {
    tensor = TensorView(receive_.floats(elements));
    fill_sample(receive_.floats(elements), ranks_.rank);
    call.op = ReduceOp::average;  // of averages: they stay what they are
  } else {
    call.output = TensorView(receive_.floats(elements));
  }
  Contender ours{[&] { allreduce(tensor, call); }}, rival = mpi(elements);
  std::vector<Contender*> contenders{&ours};
  if (options_.rivals) {
    contenders.push_back(&rival);
    reserve_heap(2 * bytes);
  }
  const Repetitions repetitions{.iterations = row.iterations, .warmup = options_.warmup_of(bytes)};
  const Counters before = counters();
  const std::size_t calls = take_turns(contenders, repetitions);
  row.wire_bytes = wire_bytes(before, calls);
  row.ours = summarize(ours.microseconds);
  if (options_.rivals) {
    row.mpi = summarize(rival.microseconds);
    row.mpi_default = default_mpi_.at(bytes);
  }
  return row;
}

int Benchmark::run() {
  if (options_.rivals) {
    measure_default_mpi();
    make_malloc_fair();
  }
  std::vector<AllreduceRow> rows;
  for (const std::string& spec : options_.specs) {
    const AllreduceColumns columns{options_.full, options_.validate, options_.rivals};
    if (ranks_.first()) {
      fmt::print(
          "\n# spec {}, {} ranks, {}; algbw, busbw in GB/s; MPI columns are medians, Ratio = ours / MPI (medians)\n",
          spec, ranks_.size, options_.in_place ? "in place" : "out of place");
      if (options_.rivals) fmt::print("# MPI default = malloc as it comes; {}\n", describe_fair_malloc());
      print_header(columns);
    }
    for (const std::size_t bytes : sizes_) {
      rows.push_back(measure(spec, bytes));
      if (ranks_.first()) print_row(rows.back(), columns);
    }
  }
  if (ranks_.first() && !options_.json.empty()) write_json(options_.json, rows);
  return std::any_of(rows.begin(), rows.end(), [](const AllreduceRow& row) { return row.verdict == Verdict::fail; })
             ? 1
             : 0;
}

int run(int argc, char** argv, const Ranks& ranks) {
  CLI::App app("Latency and bandwidth of ringlet's all-reduce beside MPI_Allreduce's, in OSU's format");
  AllreduceBenchOptions options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return ranks.first() ? app.exit(e) : e.get_exit_code();
  }
  init(MPI_COMM_WORLD);
  const int status = Benchmark(options, ranks).run();
  shutdown();
  return status;
}

}  // namespace
}  // namespace ringlet::osu

int main(int argc, char** argv) {
  return ringlet::osu::run_session(
      argc, argv, [&](const ringlet::osu::Ranks& ranks) { return ringlet::osu::run(argc, argv, ranks); });
}
