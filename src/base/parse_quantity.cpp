#include "base/parse_quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

namespace ringlet {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kLargestExact = 9007199254740992.0;  // 2^53: below it a double counts bytes exactly
constexpr double kLongest = 1e9;                      // seconds: no time that anybody waits overflows a duration

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// `text` is a number and a unit; the product, or nothing. A missing unit is looked up as "".
std::optional<double> quantity(std::string_view text, std::span<const Unit> units) {
  if (text.empty() || (std::isdigit(static_cast<unsigned char>(text[0])) == 0 && text[0] != '.')) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const auto found = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return same_word(u.name, unit); });
  if (found == units.end()) return std::nullopt;
  return number * found->factor;
}

}  // namespace

std::optional<std::size_t> parse_bytes(std::string_view text) {
  constexpr std::array<Unit, 10> kUnits{{{"", 1},
                                         {"B", 1},
                                         {"kB", 1e3},
                                         {"MB", 1e6},
                                         {"GB", 1e9},
                                         {"TB", 1e12},
                                         {"KiB", 1024.0},
                                         {"MiB", 1048576.0},
                                         {"GiB", 1073741824.0},
                                         {"TiB", 1099511627776.0}}};
  const auto bytes = quantity(text, kUnits);
  if (!bytes || *bytes >= kLargestExact || *bytes != std::floor(*bytes)) return std::nullopt;
  return static_cast<std::size_t>(*bytes);
}

std::optional<double> parse_seconds(std::string_view text, double plain) {
  const std::array<Unit, 6> units{{{"", plain}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
  const auto seconds = quantity(text, units);
  if (!seconds || *seconds > kLongest) return std::nullopt;
  return seconds;
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string print_bytes(std::size_t bytes) {
  constexpr std::array<std::string_view, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kNames.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, kNames[unit]);
}

std::string print_time(std::chrono::microseconds time) {
  const auto count = time.count();
  if (count % 1000000 == 0) return fmt::format("{}s", count / 1000000);
  if (count % 1000 == 0) return fmt::format("{}ms", count / 1000);
  return fmt::format("{}us", count);
}

}  // namespace ringlet
