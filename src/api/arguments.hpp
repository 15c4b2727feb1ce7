#pragma once

#include "runtime/runtime.hpp"

namespace ringlet::api {

/// Checks what rank `rank` of `size` alone can see of one call, and fills in what has a default (equal splits). Throws
/// Error{invalid_argument} whose text says which call, which tensor, which value, and what it should be. Any thread.
void check_arguments(runtime::Operation& operation, int rank, int size);

}  // namespace ringlet::api
