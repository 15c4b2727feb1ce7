#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string_view>

namespace ringlet {

/// Messages for the person who runs the program: one line each on stderr, `ringlet [rank R] level: text`, quiet below
/// the level of the settings. A value that its owner hands on; copies write to the same place and share warn_once()'s
/// memory. Any thread.
class Logger {
 public:
  /// `level` as RINGLET_LOG_LEVEL has it; `rank` < 0 before it is known. `to` stands in for stderr and must outlive
  /// every copy.
  explicit Logger(std::string_view level = "warning", int rank = -1, std::ostream* to = nullptr);

  void debug(std::string_view text) const;
  void info(std::string_view text) const;
  void warn(std::string_view text) const;
  void error(std::string_view text) const;

  /// As warn(), but only the first time for this `key`. Returns how often it was called with it, this call included.
  std::uint64_t warn_once(std::string_view key, std::string_view text) const;
  /// How often warn_once() was called with `key`.
  std::uint64_t times(std::string_view key) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace ringlet
