#pragma once

namespace ringlet {

/// The caller's file and line. std::source_location, which clang 14 (Debian 12's clang-tidy) does not have with
/// libstdc++ 12.
struct Where {
  const char* file;
  int line;
  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace ringlet
