#include "base/environment.hpp"

#include <cstdlib>

namespace ringlet {

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace ringlet
