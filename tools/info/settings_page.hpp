#pragma once

#include <string>

namespace ringlet::info {

/// The settings of this process, one block a row: name, alias, default, what is accepted, what it does, and its value
/// if that is not the default. Throws what settings_from_environment() does.
std::string settings_text();

/// The same table, without values, as docs/guide/settings.md has it between its markers.
std::string settings_markdown();

}  // namespace ringlet::info
