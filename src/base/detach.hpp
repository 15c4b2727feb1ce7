#pragma once

#include <string>

#include "ringlet/error.hpp"

namespace ringlet {

/// A copy that shares no memory with `error`. Copies of a std::runtime_error share their text by a reference count
/// inside the standard library, which the thread sanitizer cannot see; so an error that goes from thread to thread goes
/// as a copy of its own.
inline Error detach(const Error& error) { return Error(error.code(), std::string(error.what())); }

}  // namespace ringlet
