#pragma once

#include <string>

#include "ringlet/export.hpp"

namespace ringlet {

/// Starts the library: with MPI when launched by mpirun (MPI_Init is called unless the program did), alone otherwise.
/// To use a communicator of your own, call `init(comm)` of ringlet/mpi.hpp. Calling it again while running does
/// nothing.
///
/// Errors   Error{backend} when the transport cannot start; Error{invalid_argument} when a setting or
///          RINGLET_COMPRESSION is wrong.
/// Threads  one; collective over the ranks.
RINGLET_EXPORT void init();

/// Completes what is in flight, tells the other ranks, waits for theirs at most RINGLET_TIMEOUT, releases everything.
/// Collectives that other ranks still have pending fail there with an error that names this rank. Finalises MPI only
/// when init() began it.
RINGLET_EXPORT void shutdown();

/// Tells every other rank that this one cannot go on, and why. Their collectives fail with `reason` and this rank's
/// number.
RINGLET_EXPORT void abort(const std::string& reason);

RINGLET_EXPORT bool is_initialized() noexcept;

/// This process among all (rank of size), among those on its host (local), and among those with its local rank on other
/// hosts (cross). Error{not_initialized} before init().
RINGLET_EXPORT int rank();
RINGLET_EXPORT int size();
RINGLET_EXPORT int local_rank();
RINGLET_EXPORT int local_size();
RINGLET_EXPORT int cross_rank();
RINGLET_EXPORT int cross_size();

}  // namespace ringlet
