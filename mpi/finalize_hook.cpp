#include "mpi/finalize_hook.hpp"

#include <utility>

#include "mpi/bootstrap.hpp"
#include "mpi/mpi_check.hpp"

namespace ringlet::mpi {

FinalizeHook::FinalizeHook(std::function<void()> action) : action_(std::move(action)) {
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &FinalizeHook::on_delete, &key_, nullptr),
        "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, key_, this), "MPI_Comm_set_attr");
}

FinalizeHook::~FinalizeHook() {
  if (!action_ || is_finalized()) return;  // MPI_Finalize has begun: the attribute is gone
  action_ = nullptr;
  MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
  MPI_Comm_free_keyval(&key_);
}

int FinalizeHook::on_delete(MPI_Comm, int, void* self, void*) {
  auto& action = static_cast<FinalizeHook*>(self)->action_;
  if (action) std::exchange(action, nullptr)();
  return MPI_SUCCESS;
}

}  // namespace ringlet::mpi
