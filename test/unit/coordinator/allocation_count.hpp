#pragma once

#include <cstddef>

namespace ringlet::test {

/// How often this program has called operator new.
std::size_t allocation_count() noexcept;

}  // namespace ringlet::test
