#include "mpi/bootstrap.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/environment.hpp"
#include "mpi/communicator.hpp"
#include "mpi/mpi_check.hpp"
#include "ringlet/error.hpp"

namespace ringlet::mpi {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 4> kLevels{{{"multiple", MPI_THREAD_MULTIPLE},
                                                                   {"serialized", MPI_THREAD_SERIALIZED},
                                                                   {"funneled", MPI_THREAD_FUNNELED},
                                                                   {"single", MPI_THREAD_SINGLE}}};

/// Where launchers say how many processes they started: Open MPI's mpirun, Hydra (MPICH, Intel MPI) and Slurm's pmi2.
constexpr std::array kSizeVariables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
/// What else only a launched process has: PMIx launchers (srun --mpi=pmix, prte), PMI-1, PALS (Cray).
constexpr std::array kLaunchVariables{"PMIX_RANK", "PMI_RANK", "PALS_RANKID"};

int provided_level() {
  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  return level;
}

std::string library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  const std::string_view whole(text.data(), static_cast<std::size_t>(length));
  std::string line(whole.substr(0, whole.find_first_of(",\n")));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

/// A launcher of another MPI starts processes that each believe to be alone; each would then train by itself, silently.
void check_launcher(int size) {
  std::string claims;
  for (const char* variable : kSizeVariables) {
    const auto value = environment_value(variable);
    if (!value) continue;
    if (*value == std::to_string(size)) return;
    claims += fmt::format("{}{}={}", claims.empty() ? "" : ", ", variable, *value);
  }
  if (claims.empty() || size != 1) return;
  throw Error(
      ErrorCode::backend,
      fmt::format("the launcher started several processes ({}), but {} finds only this one: start the program with the "
                  "mpirun that belongs to this library, or link the library that belongs to that mpirun",
                  claims, library()));
}

}  // namespace

bool is_finalized() noexcept {
  int over = 0;
  MPI_Finalized(&over);
  return over != 0;
}

bool is_running() noexcept {
  int begun = 0;
  MPI_Initialized(&begun);
  return begun != 0 && !is_finalized();
}

bool launched_by_mpi() {
  const auto is_set = [](const char* variable) { return environment_value(variable).has_value(); };
  return std::any_of(kSizeVariables.begin(), kSizeVariables.end(), is_set) ||
         std::any_of(kLaunchVariables.begin(), kLaunchVariables.end(), is_set);
}

int thread_level(std::string_view name) {
  for (const auto& [known, level] : kLevels) {
    if (known == name) return level;
  }
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("RINGLET_MPI_THREAD_LEVEL is \"{}\": multiple, serialized, funneled or single was expected", name));
}

const char* to_string(int thread_level) noexcept {
  for (const auto& [known, level] : kLevels) {
    if (level == thread_level) return known.data();
  }
  return "unknown";
}

Bootstrap Bootstrap::start(std::string_view level) {
  const int wanted = thread_level(level);
  if (is_finalized()) {
    throw Error(
        ErrorCode::invalid_argument,
        "MPI has been finalised in this process and cannot be started again: call init() and shutdown() once, or call "
        "MPI_Init before init(), so that shutdown() leaves MPI running");
  }
  if (is_running()) return {false, provided_level()};
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, wanted, &provided), "MPI_Init_thread");
  Bootstrap begun{true, provided};
  check_launcher(size_of(MPI_COMM_WORLD));
  return begun;
}

Bootstrap Bootstrap::join() {
  if (is_finalized()) {
    throw Error(
        ErrorCode::invalid_argument,
        "init(comm) was called after MPI_Finalize: initialise ringlet before, and shut it down before MPI_Finalize");
  }
  if (!is_running()) {
    throw Error(
        ErrorCode::invalid_argument,
        "init(comm) was called before MPI_Init: call MPI_Init_thread(MPI_THREAD_MULTIPLE) first, or init() without a "
        "communicator, which starts MPI itself");
  }
  return {false, provided_level()};
}

Bootstrap::Bootstrap(Bootstrap&& other) noexcept
    : began_here_(std::exchange(other.began_here_, false)), provided_(other.provided_) {}

Bootstrap::~Bootstrap() {
  if (began_here_ && is_running()) MPI_Finalize();
}

std::string describe() {
  int major = 0, minor = 0;
  check(MPI_Get_version(&major, &minor), "MPI_Get_version");
  const char* level = is_finalized() ? "finalised" : is_running() ? to_string(provided_level()) : "not initialised";
  return fmt::format("{}, MPI {}.{}, thread level: {}", library(), major, minor, level);
}

}  // namespace ringlet::mpi
