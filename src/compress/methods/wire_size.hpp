#pragma once

#include <cstddef>

#include "compress/compressor.hpp"
#include "ringlet/error.hpp"

namespace ringlet::compress {

/// Throws Error{malformed} unless a message that claims to be `elements` elements under `compressor` has the size of
/// one.
void require_message(const Compressor& compressor, std::size_t elements, std::size_t bytes, std::size_t expected);

/// Throws Error{internal} unless `bytes` of room are enough for the `needed`.
void require_room(const Compressor& compressor, std::size_t elements, std::size_t bytes, std::size_t needed);

}  // namespace ringlet::compress
