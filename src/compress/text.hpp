#pragma once

#include <string_view>

namespace ringlet::compress {

constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// `text` without white space at its ends.
constexpr std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Position of the first character of `any_of` outside parentheses, from `begin` on; text.size() when there is none. A
/// closing parenthesis that closes nothing is outside.
constexpr std::size_t find_outside(std::string_view text, std::string_view any_of, std::size_t begin = 0) noexcept {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (depth == 0 && any_of.find(text[i]) != std::string_view::npos) return i;
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && depth > 0) --depth;
  }
  return text.size();
}

}  // namespace ringlet::compress
