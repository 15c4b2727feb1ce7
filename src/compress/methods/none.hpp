#pragma once

#include "compress/registry.hpp"

namespace ringlet::compress {

/// The elements as they are: makes no compressor.
Method none_method();

}  // namespace ringlet::compress
