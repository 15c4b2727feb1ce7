#pragma once

#include <mpi.h>

#include <functional>

namespace ringlet::mpi {

/// Calls `action` when the program calls MPI_Finalize while this object lives, on that thread, before MPI goes: the
/// last moment at which requests can still be ended. The means is the one the standard names (MPI 3.1, section 8.7.1):
/// attributes of MPI_COMM_SELF are deleted first of all. To be made and destroyed by the thread that may call MPI.
class FinalizeHook {
 public:
  explicit FinalizeHook(std::function<void()> action);
  FinalizeHook(const FinalizeHook&) = delete;
  FinalizeHook& operator=(const FinalizeHook&) = delete;
  ~FinalizeHook();

 private:
  static int on_delete(MPI_Comm comm, int key, void* self, void* extra);

  std::function<void()> action_;
  int key_ = MPI_KEYVAL_INVALID;
};

}  // namespace ringlet::mpi
