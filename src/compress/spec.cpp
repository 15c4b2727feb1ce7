#include "compress/spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compress/text.hpp"
#include "ringlet/error.hpp"

namespace ringlet::compress {
namespace {

constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Recursive descent over: spec = call {'|' call}; call = word ['(' [arg {',' arg}] ')']; arg = word '=' value.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<MethodCall> parse() {
    std::vector<MethodCall> calls{call()};
    while (accept('|')) calls.push_back(call());
    if (at_ < text_.size()) fail("'(', '|' or the end");
    return calls;
  }

 private:
  MethodCall call() {
    MethodCall result{std::string(word("the name of a method")), {}};
    if (!accept('(') || accept(')')) return result;
    do {
      argument(result);
    } while (accept(','));
    if (!accept(')')) fail("',' or ')'");
    return result;
  }

  void argument(MethodCall& call) {
    skip_space();
    const std::size_t start = at_;
    const std::string key(word("the name of an argument"));
    if (!accept('=')) fail(fmt::format("'=' and a value for '{}'", key));
    const bool again =
        std::any_of(call.args.begin(), call.args.end(), [&](const auto& arg) { return arg.first == key; });
    if (again) {
      at_ = start;
      fail(fmt::format("another argument: '{}' is there already", key));
    }
    call.args.emplace_back(key, value(key));
  }

  std::string value(const std::string& key) {
    const std::size_t end = find_outside(text_, ",)", at_);
    const std::string_view result = trimmed(text_.substr(at_, end - at_));
    if (result.empty()) fail(fmt::format("a value for '{}'", key));
    at_ = end;
    return std::string(result);
  }

  std::string_view word(std::string_view what) {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (at_ == start) fail(what);
    return text_.substr(start, at_ - start);
  }

  bool accept(char c) {
    skip_space();
    const bool there = at_ < text_.size() && text_[at_] == c;
    if (there) ++at_;
    return there;
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_[at_]) : "the end";
    throw Error(ErrorCode::invalid_argument,
                fmt::format("compression \"{}\", position {}: expected {}, found {}", text_, at_ + 1, expected, found));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<MethodCall> parse_spec(std::string_view text) { return Parser(text).parse(); }

}  // namespace ringlet::compress
