#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringlet {

/// Strict readers of what people write for sizes, times and counts: nothing where the text is anything else, negative
/// or too large.

/// "1048576", "64MiB" (2^20), "64MB" (10^6), "1.5KiB"; units in any case, a space before them is fine.
std::optional<std::size_t> parse_bytes(std::string_view text);
/// "20s", "500ms", "10us", "2min", "1h"; a plain number counts in `plain` seconds.
std::optional<double> parse_seconds(std::string_view text, double plain);
/// Decimal digits only.
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// The shortest exact form that parse_bytes() reads back: "64MiB", "100000B".
std::string print_bytes(std::size_t bytes);
/// The shortest exact form that parse_seconds() reads back: "20s", "1500ms", "0s".
std::string print_time(std::chrono::microseconds time);

}  // namespace ringlet
