#include "coordinator/stall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "coordinator/validation.hpp"

namespace ringlet::coordinator {
namespace {

constexpr std::size_t kMaxTensors = 10;
constexpr std::size_t kMaxRanks = 16;

}  // namespace

std::string seconds_text(TimePoint::duration time) {
  return fmt::format("{:.3g} s", std::chrono::duration<double>(time).count());
}

std::string stalled_text(std::vector<Stalled> stalled, const Readiness& readiness, const Tree& tree, TimePoint now) {
  std::sort(stalled.begin(), stalled.end(), [](const Stalled& a, const Stalled& b) { return *a.name < *b.name; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kMaxTensors, stalled.size()); ++i) {
    const std::vector<int> missing = tree.without(readiness.ready_of(*stalled[i].entry));
    fmt::format_to(std::back_inserter(text), "{}\"{}\" waits for {} ({})", i == 0 ? "" : "; ", *stalled[i].name,
                   rank_list(missing, kMaxRanks), seconds_text(now - stalled[i].entry->since));
  }
  if (stalled.size() > kMaxTensors) text += fmt::format("; and {} more tensors", stalled.size() - kMaxTensors);
  return text;
}

StallClock::StallClock(const Settings& settings, int depth, int deepest)
    : warn_(settings.stall_warning), timeout_(settings.timeout) {
  // The root hears who waits well before it warns or gives up, so that it can name the missing ranks.
  tell_ = timeout_ / 4;
  if (warn_ != Duration::zero() && (tell_ == Duration::zero() || warn_ / 2 < tell_)) tell_ = warn_ / 2;
  speak_ = timeout_ / 3;
  look_ = tell_ / 10;
  timeout_ = timeout_ * 9 / 10 + timeout_ / 10 * depth / std::max(deepest, 1);
}

bool StallClock::is_due(TimePoint now) {
  if (now < next_look_) return false;
  next_look_ = now + look_;
  return true;
}

bool StallClock::may_warn(TimePoint now) {
  if (last_warning_ > before(now, warn_)) return false;
  last_warning_ = now;
  return true;
}

}  // namespace ringlet::coordinator
