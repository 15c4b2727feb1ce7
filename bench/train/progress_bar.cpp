#include "train/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace ringlet::train {
namespace {

constexpr std::size_t kWidth = 40;  // characters
constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

ProgressBar::ProgressBar(bool wanted) : enabled_(wanted && isatty(STDERR_FILENO) == 1) {}

void ProgressBar::update(const std::string& label, std::size_t done, std::size_t total) {
  if (!enabled_ || total == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < kInterval) return;
  drawn_ = now;
  visible_ = true;
  fmt::print(stderr, "\r{} [{:<{}}] {:3d} %", label, std::string(kWidth * done / total, '='), kWidth,
             100 * done / total);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!visible_) return;
  visible_ = false;
  std::fputs("\r\033[K", stderr);  // erase to the end of the line
  std::fflush(stderr);
}

}  // namespace ringlet::train
