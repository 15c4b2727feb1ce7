#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "ringlet/observe.hpp"

namespace ringlet::observe {

/// What one runtime counts. The worker thread tells, any thread asks; a call costs an uncontended lock, and none is
/// made per chunk. The traffic fields are the transport's own (transport::Traffic): the runtime fills them into the
/// snapshot.
class CounterBook {
 public:
  /// One bucket was exchanged: `tensors` of them, over `exchange` ("scatter_reduce/qsgd(bits=4)"). `dense_bytes`: what
  /// an uncompressed fp32 ring would have sent for them.
  void bucket(std::string_view exchange, std::uint64_t tensors, std::uint64_t dense_bytes);
  /// A spec named this tensor but it went exact, because of `reason`.
  void uncompressed(std::string_view reason);
  /// One tensor waited so long from enqueue to plan.
  void negotiated(std::chrono::nanoseconds time);
  /// One bucket's times: `total` is the exchange's duration, of which encoding and decoding took their parts.
  void times(std::chrono::nanoseconds total, std::chrono::nanoseconds encode, std::chrono::nanoseconds decode);
  /// Memory that error feedback holds now.
  void residual_bytes(std::uint64_t bytes);
  /// Negotiations so far, by cached number and by full request.
  void cache(std::uint64_t hits, std::uint64_t misses);

  Counters snapshot() const;

 private:
  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace ringlet::observe
