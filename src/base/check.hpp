#pragma once

#include <string_view>

#include "base/where.hpp"

namespace ringlet {

/// Throws Error{backend} "<call>: <text> (<file>:<line>)": the one form in which a back end's refusal is reported.
[[noreturn]] void throw_backend(std::string_view call, std::string_view text, Where at);

}  // namespace ringlet
