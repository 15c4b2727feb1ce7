// Inside a program that runs MPI itself: its thread level, its communicators, its MPI_Finalize.
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "modes.hpp"
#include "ringlet/mpi.hpp"

namespace ringlet::test {
namespace {

void begin_mpi(int level) {
  int provided = -1;
  MPI_Init_thread(nullptr, nullptr, level, &provided);
  expect(provided == level, fmt::format("MPI provides thread level {}, asked for {}", provided, level));
}

int world_sum(int mine) {
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Waiting, polling, callbacks and several tensors at once, where the calls themselves must make the progress.
void work_in_calls() {
  constexpr std::size_t kTensors = 20;
  std::vector<std::vector<float>> values;
  std::vector<hvd::Handle> handles;
  std::size_t called = 0;
  for (std::size_t t = 0; t < kTensors; ++t) values.emplace_back(1000 * t, static_cast<float>(hvd::rank()));
  for (std::size_t t = 0; t < kTensors; ++t) {
    handles.push_back(hvd::allreduce_async(values[t], {.name = fmt::format("t{}", t)}));
    handles.back().on_complete([&](const hvd::Error* error) { called += error == nullptr ? 1 : 0; });
  }
  while (!handles[kTensors - 1].poll()) {
  }
  while (!handles[0].wait_for(std::chrono::milliseconds(1))) {
  }
  for (const hvd::Handle& handle : handles) handle.wait();
  expect(called == kTensors, fmt::format("{} callbacks of {}", called, kTensors));
  const float mean = static_cast<float>(hvd::size() - 1) / 2;
  for (std::size_t t = 1; t < kTensors; ++t)
    expect(values[t] == std::vector<float>(1000 * t, mean), fmt::format("t{}", t));
  hvd::barrier();
}

template <int level>
int at_level() {
  begin_mpi(level);
  hvd::init(MPI_COMM_WORLD);
  work_in_calls();
  expect(world_sum(1) == hvd::size(), "MPI between our calls");
  hvd::shutdown();
  MPI_Finalize();
  return 0;
}

/// One rank computes for a while without a call into the library; the others wait, and nothing is lost.
int one_computes() {
  begin_mpi(MPI_THREAD_FUNNELED);
  hvd::init(MPI_COMM_WORLD);
  if (hvd::rank() == kCulprit) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  work_in_calls();
  hvd::shutdown();
  MPI_Finalize();
  return 0;
}

/// A rank that will never come, where the waiting itself must notice the time.
int one_never_comes() {
  begin_mpi(MPI_THREAD_FUNNELED);
  hvd::init(MPI_COMM_WORLD);
  const int rank = hvd::rank();
  std::vector<float> values(1000, 1.0F);
  if (rank == kCulprit) {
    std::this_thread::sleep_for(std::chrono::seconds(20));
    return 1;
  }
  hear(rank, error_of([&] { hvd::allreduce(values, {.name = "lonely"}); }));
  MPI_Abort(MPI_COMM_WORLD, 1);  // the program's own MPI: its MPI_Finalize would wait for the lost rank
  return 1;
}

/// A rank that runs MPI but never calls init(): init() on the others must not wait for ever.
int one_never_inits() {
  begin_mpi(MPI_THREAD_MULTIPLE);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == kCulprit) {
    std::this_thread::sleep_for(std::chrono::seconds(20));
    return 1;
  }
  hear(rank, error_of([&] { rank == 0 ? hvd::init(MPI_COMM_WORLD) : hvd::init(); }));
  expect(!hvd::is_initialized(), "initialised without a rank");
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

/// An uncaught exception, where the dying rank's own thread must tell the others.
int one_throws() {
  begin_mpi(MPI_THREAD_FUNNELED);
  hvd::init(MPI_COMM_WORLD);
  work_in_calls();
  const int rank = hvd::rank();
  if (rank == kCulprit) throw std::runtime_error("planted: the loss is no number");
  std::vector<float> values(1000, 1.0F);
  hear(rank, error_of([&] { hvd::allreduce(values, {.name = "lonely"}); }));
  return 1;
}

/// MPI_COMM_WORLD in two halves, each a job of its own with the same tensor names, of which one meets an error.
int two_halves() {
  begin_mpi(MPI_THREAD_MULTIPLE);
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const int half = world_rank % 2;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, half, -world_rank, &comm);  // ranks run backwards
  hvd::init(comm);
  expect(hvd::size() == 2 && hvd::rank() == (world_rank < 2 ? 1 : 0),
         fmt::format("rank {} of {}", hvd::rank(), hvd::size()));
  std::vector<int> who{world_rank};
  hvd::allreduce(hvd::TensorView(who.data(), {1}), {.name = "who", .op = hvd::ReduceOp::sum});
  expect(who[0] == (half == 0 ? 0 + 2 : 1 + 3), fmt::format("half {} has the sum {}", half, who[0]));
  if (half == 1) {
    const std::string text = error_of([&] {
      std::vector<float> odd(static_cast<std::size_t>(10 + hvd::rank()));
      hvd::allreduce(odd, {.name = "odd"});
    });
    hear(world_rank, text);
  }
  work_in_calls();
  expect(world_sum(1) == 4, "MPI_COMM_WORLD beside the halves");
  hvd::shutdown();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}

std::vector<float> compressed_steps() {
  std::vector<float> values(5000), all;
  for (std::size_t step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i + step) % 97) * 0.01F;
    hvd::allreduce(values, {.name = "weights", .compression = "qsgd(bits=4)"});
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// Each round begins afresh, without the residuals and step counters of the last one.
int again() {
  begin_mpi(MPI_THREAD_MULTIPLE);
  std::vector<float> first;
  for (int round = 0; round < 4; ++round) {
    round == 2 ? hvd::init() : hvd::init(MPI_COMM_WORLD);
    const auto values = compressed_steps();
    if (round == 0) first = values;
    expect(std::memcmp(values.data(), first.data(), first.size() * sizeof(float)) == 0,
           fmt::format("round {} has other bits", round));
    hvd::shutdown();
    expect(world_sum(1) > 1, "MPI after shutdown");
  }
  MPI_Finalize();
  return 0;
}

/// A failed job does not spoil the program's MPI: the next one works.
int again_after_failure() {
  begin_mpi(MPI_THREAD_MULTIPLE);
  for (int round = 0; round < 3; ++round) {
    hvd::init(MPI_COMM_WORLD);
    expect_a_working_job();
    std::vector<float> values(100'000, 1.0F);
    const auto handle = hvd::allreduce_async(values, {.name = "doomed"});
    if (hvd::rank() == kCulprit) hvd::abort("planted: round " + std::to_string(round));
    try {
      handle.wait();
      hvd::allreduce(values, {.name = "doomed too"});
      expect(false, "a collective after abort() that fails nowhere");
    } catch (const hvd::Error& e) {
      hear(hvd::rank(), e.what());
    }
    hvd::shutdown();
  }
  MPI_Finalize();
  return 0;
}

/// MPI is ours and ends with the first shutdown(); a second init() must say what is to be done instead.
int again_without_own_mpi() {
  hvd::init();
  const int rank = hvd::rank();
  expect_a_working_job();
  hvd::shutdown();
  hear(rank, error_of([] { hvd::init(); }));
  return 0;
}

int finalizes_first() {
  begin_mpi(MPI_THREAD_MULTIPLE);
  hvd::init(MPI_COMM_WORLD);
  const int rank = hvd::rank();
  expect_a_working_job();
  static std::vector<float> values(1000, 1.0F);
  const auto pending = hvd::allreduce_async(values, {.name = fmt::format("of rank {}", rank)});  // no other rank has it
  MPI_Finalize();
  hear(rank, error_of([&] { pending.wait(); }));
  hear(rank, error_of([&] { hvd::allreduce(values, {.name = "late"}); }));
  hvd::shutdown();
  return 0;
}

/// The same, and nobody ever calls shutdown().
int finalizes_only() {
  begin_mpi(MPI_THREAD_MULTIPLE);
  hvd::init(MPI_COMM_WORLD);
  expect_a_working_job();
  MPI_Finalize();
  return 0;
}

constexpr std::array kModes{Mode{"level-single", at_level<MPI_THREAD_SINGLE>},
                            Mode{"level-funneled", at_level<MPI_THREAD_FUNNELED>},
                            Mode{"level-serialized", at_level<MPI_THREAD_SERIALIZED>},
                            Mode{"one-computes", one_computes},
                            Mode{"one-never-comes", one_never_comes},
                            Mode{"one-never-inits", one_never_inits},
                            Mode{"one-throws", one_throws},
                            Mode{"two-halves", two_halves},
                            Mode{"again", again},
                            Mode{"again-after-failure", again_after_failure},
                            Mode{"again-without-own-mpi", again_without_own_mpi},
                            Mode{"finalize-first", finalizes_first},
                            Mode{"finalize-only", finalizes_only}};

}  // namespace

std::span<const Mode> own_mpi_modes() { return kModes; }

}  // namespace ringlet::test
