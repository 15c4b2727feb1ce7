#pragma once

#include <optional>
#include <string>

namespace ringlet {

/// What `name` is set to in the environment of this process. For what launchers and systems tell a program; what users
/// may set is in base/settings.hpp.
std::optional<std::string> environment_value(const char* name);

}  // namespace ringlet
