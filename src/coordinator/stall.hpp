#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/settings.hpp"
#include "coordinator/readiness.hpp"

namespace ringlet::coordinator {

/// A tensor that some ranks wait for.
struct Stalled {
  const std::string* name;
  const Entry* entry;
};

/// "\"a\" waits for ranks 1, 3 (20 s); \"b\" waits for rank 2 (19 s) and 3 more tensors": sorted by name, at most 10 of
/// them, at most 16 ranks each.
std::string stalled_text(std::vector<Stalled> stalled, const Readiness& readiness, const Tree& tree, TimePoint now);

/// "0.25 s", "20 s": with three digits.
std::string seconds_text(TimePoint::duration time);

/// When to look, when to tell the parent who is ready, when to warn and when to give up. Times of zero switch a thing
/// off.
class StallClock {
 public:
  /// `depth`: how far below the root, of `deepest`. The nearer the root, the sooner a rank gives up: it knows more.
  StallClock(const Settings& settings, int depth, int deepest);

  /// Whether it is time for a look at the pending tensors; at most some twenty times in the shortest of the periods.
  bool is_due(TimePoint now);
  /// Since when a tensor must have been waiting to be told upwards.
  TimePoint tell_before(TimePoint now) const { return before(now, tell_); }
  /// Since when it must have been waiting to be warned of.
  TimePoint warn_before(TimePoint now) const { return before(now, warn_); }
  /// Whether another warning may follow the last one; notes it as given.
  bool may_warn(TimePoint now);
  /// Whether so long without progress is the end.
  bool is_over(TimePoint since, TimePoint now) const { return since <= before(now, timeout_); }
  /// Whether those below should hear from this rank again, lest they think it dead.
  bool should_speak(TimePoint spoken, TimePoint now) const { return spoken <= before(now, speak_); }
  /// Whether an answer is so old that several questions must have been asked since.
  bool is_silent(TimePoint answered, TimePoint now) const { return answered <= before(now, timeout_ / 2); }

 private:
  using Duration = TimePoint::duration;
  static TimePoint before(TimePoint now, Duration period) {
    return period == Duration::zero() ? TimePoint::min() : now - period;
  }

  Duration tell_, warn_, timeout_, speak_, look_;
  TimePoint next_look_ = TimePoint::min();
  TimePoint last_warning_ = TimePoint::min();
};

}  // namespace ringlet::coordinator
