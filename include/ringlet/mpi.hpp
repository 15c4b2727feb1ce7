#pragma once

#include <mpi.h>

#include "ringlet/export.hpp"

namespace ringlet {

/// Starts the library inside a program that called MPI_Init: `user` is duplicated, never used, and MPI_Finalize stays
/// the caller's. With a thread level below MPI_THREAD_MULTIPLE there is no background thread: collectives advance
/// inside wait() and poll(), which then belong to the thread that may call MPI; a warning says so once.
///
/// Errors   as init(); Error{invalid_argument} when MPI is not initialised, or finalised, or `user` is MPI_COMM_NULL or
/// an
///          inter-communicator.
RINGLET_EXPORT void init(MPI_Comm user);

}  // namespace ringlet
