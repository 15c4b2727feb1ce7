#include "base/check.hpp"

#include <fmt/format.h>

#include "ringlet/error.hpp"

namespace ringlet {

void throw_backend(std::string_view call, std::string_view text, Where at) {
  throw Error(ErrorCode::backend, fmt::format("{}: {} ({}:{})", call, text, at.file, at.line));
}

}  // namespace ringlet
