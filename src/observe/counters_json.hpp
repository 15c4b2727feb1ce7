#pragma once

#include <string>

#include "ringlet/observe.hpp"

namespace ringlet::observe {

/// A JSON object on one line with the names of the struct, and "ratio".
std::string to_json(const Counters& counters);

}  // namespace ringlet::observe
