#pragma once

#include <cstdint>
#include <string_view>

namespace ringlet {

/// XXH3-64 of a tensor's name: the same on every rank and in every run, so it may key randomness and placement.
std::uint64_t name_hash(std::string_view name) noexcept;

}  // namespace ringlet
