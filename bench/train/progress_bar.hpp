#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace ringlet::train {

/// One line that is drawn over and over on standard error, at most ten times a second, and only where that is a
/// terminal.
class ProgressBar {
 public:
  /// Draws nothing when not `wanted`.
  explicit ProgressBar(bool wanted);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  void update(const std::string& label, std::size_t done, std::size_t total);
  /// Leaves an empty line for other output.
  void clear();

 private:
  std::chrono::steady_clock::time_point drawn_{};
  bool enabled_;
  bool visible_ = false;
};

}  // namespace ringlet::train
