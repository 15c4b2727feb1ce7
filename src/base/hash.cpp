#include "base/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ringlet {

std::uint64_t name_hash(std::string_view name) noexcept { return XXH3_64bits(name.data(), name.size()); }

}  // namespace ringlet
