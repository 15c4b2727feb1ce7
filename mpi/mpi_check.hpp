#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

#include "base/where.hpp"

namespace ringlet::mpi {

/// MPI's own text for one of its error codes.
std::string error_text(int code);

[[noreturn]] void throw_mpi(int code, std::string_view call, Where at);

/// Throws Error{backend}, naming the call, MPI's own text and the caller's line, unless `code` is MPI_SUCCESS.
inline void check(int code, std::string_view call, Where at = Where::here()) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_mpi(code, call, at);
}

}  // namespace ringlet::mpi
