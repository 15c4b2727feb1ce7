#pragma once

#include <chrono>
#include <cstddef>

#include "transport/transport.hpp"

namespace ringlet::runtime {

/// How a worker waits when nothing moves. A transport that wakes on arrival is slept on; one that must be polled is
/// polled, first in a tight loop, then yielding the processor, then with short sleeps, so that a waiting rank neither
/// reacts late nor takes the core its own program computes on. A rank with nothing in flight owes nobody a quick answer
/// and sleeps longer: its own next call wakes it.
class Backoff {
 public:
  /// `ranks_here`: ranks on this host, which share its processors.
  /// `tick`: never sleep longer, because stalls and timeouts must be looked at.
  Backoff(transport::Transport& net, int ranks_here, std::chrono::nanoseconds tick);

  void reset() noexcept { idle_rounds_ = 0; }
  void pause(bool anything_in_flight);

 private:
  transport::Transport& net_;
  std::chrono::nanoseconds tick_;
  std::size_t spins_;
  std::size_t idle_rounds_ = 0;
};

}  // namespace ringlet::runtime
