#include "compress/methods/wire_size.hpp"

#include <fmt/format.h>

namespace ringlet::compress {

void require_message(const Compressor& compressor, std::size_t elements, std::size_t bytes, std::size_t expected) {
  if (bytes == expected) return;
  throw Error(ErrorCode::malformed,
              fmt::format("{}: a message for {} elements has {} bytes, not {}: do all ranks run the "
                          "same version with the same compression?",
                          compressor.spec(), elements, expected, bytes));
}

void require_room(const Compressor& compressor, std::size_t elements, std::size_t bytes, std::size_t needed) {
  if (bytes >= needed) return;
  throw Error(ErrorCode::internal, fmt::format("{}: {} elements encode to {} bytes, but there is room for {}",
                                               compressor.spec(), elements, needed, bytes));
}

}  // namespace ringlet::compress
