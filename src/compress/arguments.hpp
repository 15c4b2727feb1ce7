#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compress/spec.hpp"

namespace ringlet::compress {

/// Typed access to the arguments of one call, for a method's factory. Each reader throws Error{invalid_argument} naming
/// method, argument, value and range, and notes the value for the canonical spec. One thread.
class Arguments {
 public:
  explicit Arguments(MethodCall call) : call_(std::move(call)) {}

  const std::string& method() const noexcept { return call_.name; }
  bool has(std::string_view key) const noexcept { return find(key) != nullptr; }

  /// An integer in [low, high].
  std::size_t integer(std::string_view key, std::size_t fallback, std::size_t low, std::size_t high);
  /// A number in (above, high].
  double real(std::string_view key, double fallback, double above, double high);
  /// The position in `choices` of what is written; the first choice is the default.
  std::size_t choice(std::string_view key, std::initializer_list<std::string_view> choices);
  /// `on` or `off`.
  bool on_off(std::string_view key, bool fallback);

  /// `method(key=value,...)`: every argument read so far, in that order, with its default where none was written.
  std::string canonical() const;
  /// Throws Error{invalid_argument} for an argument that no reader asked for, naming the nearest one that was asked
  /// for.
  void require_all_read() const;
  /// Throws Error{invalid_argument} "<method>: <text>".
  [[noreturn]] void fail(std::string_view text) const;

 private:
  const std::string* find(std::string_view key) const noexcept;
  [[noreturn]] void fail(std::string_view key, std::string_view value, std::string_view expected) const;
  void note(std::string_view key, std::string value);

  MethodCall call_;
  std::vector<std::string> keys_;   // asked for
  std::vector<std::string> notes_;  // "key=value"
};

}  // namespace ringlet::compress
