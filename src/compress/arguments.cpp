#include "compress/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/settings.hpp"
#include "ringlet/error.hpp"

namespace ringlet::compress {
namespace {

// The whole of `text` as a number; false when it is none, or does not fit.
template <class T>
bool parse_number(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end;
}

}  // namespace

std::size_t Arguments::integer(std::string_view key, std::size_t fallback, std::size_t low, std::size_t high) {
  std::size_t value = fallback;
  if (const std::string* text = find(key); text && (!parse_number(*text, value) || value < low || value > high)) {
    fail(key, *text, fmt::format("an integer from {} to {}", low, high));
  }
  note(key, std::to_string(value));
  return value;
}

double Arguments::real(std::string_view key, double fallback, double above, double high) {
  double value = fallback;
  if (const std::string* text = find(key); text && (!parse_number(*text, value) || !(value > above && value <= high))) {
    fail(key, *text, fmt::format("a number above {} and at most {}", above, high));
  }
  note(key, fmt::format("{}", value));
  return value;
}

std::size_t Arguments::choice(std::string_view key, std::initializer_list<std::string_view> choices) {
  auto chosen = choices.begin();
  if (const std::string* text = find(key)) {
    chosen = std::find(choices.begin(), choices.end(), *text);
    if (chosen == choices.end()) fail(key, *text, fmt::format("one of {}", fmt::join(choices, ", ")));
  }
  note(key, std::string(*chosen));
  return static_cast<std::size_t>(chosen - choices.begin());
}

bool Arguments::on_off(std::string_view key, bool fallback) {
  const std::string* text = find(key);
  if (text && *text != "on" && *text != "off") fail(key, *text, "on or off");
  const bool value = text ? *text == "on" : fallback;
  note(key, value ? "on" : "off");
  return value;
}

std::string Arguments::canonical() const {
  return notes_.empty() ? call_.name : fmt::format("{}({})", call_.name, fmt::join(notes_, ","));
}

void Arguments::require_all_read() const {
  for (const auto& [key, value] : call_.args) {
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) continue;
    if (keys_.empty()) fail(fmt::format("takes no arguments, got {}={}", key, value));
    fail(fmt::format("unknown argument {}={}; did you mean {}? It takes {}", key, value, nearest(key, keys_),
                     fmt::join(keys_, ", ")));
  }
}

void Arguments::fail(std::string_view text) const {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", call_.name, text));
}

void Arguments::fail(std::string_view key, std::string_view value, std::string_view expected) const {
  fail(fmt::format("{}={} is not {}", key, value, expected));
}

const std::string* Arguments::find(std::string_view key) const noexcept {
  const auto at = std::find_if(call_.args.begin(), call_.args.end(), [&](const auto& arg) { return arg.first == key; });
  return at == call_.args.end() ? nullptr : &at->second;
}

void Arguments::note(std::string_view key, std::string value) {
  keys_.emplace_back(key);
  notes_.push_back(fmt::format("{}={}", key, value));
}

}  // namespace ringlet::compress
