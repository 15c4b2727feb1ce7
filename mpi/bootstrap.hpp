#pragma once

#include <string>
#include <string_view>

namespace ringlet::mpi {

/// Whether MPI calls work now: initialised, by whomever, and not finalised.
bool is_running() noexcept;
bool is_finalized() noexcept;

/// Whether an MPI launcher started this process, by the variables that launchers leave in the environment. Does not
/// touch MPI: a program started by hand must not pay for, or fail in, an MPI_Init that it has no use for.
bool launched_by_mpi();

/// MPI_THREAD_... of "multiple", "serialized", "funneled" or "single"; Error{invalid_argument} for anything else.
int thread_level(std::string_view name);
const char* to_string(int thread_level) noexcept;

/// Who starts and ends MPI: the program, or we. Only what was begun here is finalised here. To be destroyed on the
/// thread that made it, which is what MPI demands of MPI_Init and MPI_Finalize.
class Bootstrap {
 public:
  /// Starts MPI asking for `level` unless it runs already. Throws Error{invalid_argument} when MPI has been finalised,
  /// which is for ever, and Error{backend} when the launcher and this MPI library do not know each other.
  static Bootstrap start(std::string_view level);
  /// For a program that runs MPI itself. Throws Error{invalid_argument} when it does not.
  static Bootstrap join();

  Bootstrap(Bootstrap&& other) noexcept;
  Bootstrap& operator=(Bootstrap&&) = delete;
  ~Bootstrap();

  bool began_here() const noexcept { return began_here_; }
  /// The thread level that MPI provides.
  int provided() const noexcept { return provided_; }
  /// Leaves MPI running at the end after all: MPI_Finalize waits for every rank, so it must not be called once some
  /// cannot come.
  void abandon() noexcept { began_here_ = false; }

 private:
  Bootstrap(bool began_here, int provided) noexcept : began_here_(began_here), provided_(provided) {}

  bool began_here_;
  int provided_;
};

/// Library, version of the standard and thread level, one line.
std::string describe();

}  // namespace ringlet::mpi
