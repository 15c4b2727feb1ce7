// Settings from the environment: wrong, misspelt, or not the same on every rank.
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "modes.hpp"

namespace ringlet::test {
namespace {

/// Something in the environment is wrong: init() must say so, and before it has begun anything that it would have to
/// end.
int wrong_setting() {
  const std::string text = error_of([] { hvd::init(); });
  int begun = 0;
  MPI_Initialized(&begun);
  fmt::print(stderr, "init said: {}\nMPI was {}\n", text, begun == 0 ? "not begun" : "begun");
  expect(!hvd::is_initialized(), "initialised after an error");
  return 1;
}

/// A job on whatever the environment says.
int any_setting() {
  hvd::init();
  expect_a_working_job();
  hvd::shutdown();
  return 0;
}

/// What a launcher does that hands the environment to some ranks only.
void set_on_culprit(const char* variable, const char* value) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  expect(rank != nullptr, "Open MPI's mpirun sets OMPI_COMM_WORLD_RANK");
  if (std::string(rank) == std::to_string(kCulprit)) ::setenv(variable, value, 1);
}

int compression_differs() {
  set_on_culprit("RINGLET_COMPRESSION", "*=qsgd(bits=4)");
  hvd::init();
  std::vector<float> values(5000, 1.0F);
  hear(hvd::rank(), error_of([&] { hvd::allreduce(values, {.name = "conv.weight"}); }));
  expect_a_working_job();  // too small to be compressed on any rank
  hvd::shutdown();
  return 0;
}

/// The ranks would speak past each other if each took its own schedule.
int exchange_differs() {
  set_on_culprit("RINGLET_EXCHANGE", "ring");
  hvd::init();
  const int rank = hvd::rank();
  for (const std::size_t n : {std::size_t{100}, std::size_t{5000}, std::size_t{300'000}}) {
    std::vector<float> values(n, 1.0F);
    for (const char* compression : {"none", "qsgd(bits=4)"}) {
      hear(rank, error_of([&] { hvd::allreduce(values, {.name = "conv.weight", .compression = compression}); }));
    }
  }
  hvd::barrier();  // the job goes on with what has no schedule
  hvd::shutdown();
  return 0;
}

constexpr std::array kModes{Mode{"wrong-setting", wrong_setting}, Mode{"any-setting", any_setting},
                            Mode{"compression-differs", compression_differs},
                            Mode{"exchange-differs", exchange_differs}};

}  // namespace

std::span<const Mode> setting_modes() { return kModes; }

}  // namespace ringlet::test
