#include "collective/exchange.hpp"

#include <fmt/format.h>

namespace ringlet::collective {

void require_size(const Transport& net, int peer, std::size_t expected, std::size_t got) {
  if (expected == got) return;
  throw Error(
      ErrorCode::malformed,
      fmt::format(
          "rank {}: a message from rank {} has {} bytes where the exchange expects {}; do all ranks run the same "
          "version with the same settings?",
          net.rank(), peer, got, expected));
}

}  // namespace ringlet::collective
