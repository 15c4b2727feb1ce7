#pragma once

#include <cstddef>

namespace ringlet {

/// Recycles coroutine frames by size, one pool a thread, so that a steady state allocates none. A frame may be given
/// back on another thread than it was taken on.
class FramePool {
 public:
  static void* take(std::size_t bytes);
  static void give(void* frame, std::size_t bytes) noexcept;
};

}  // namespace ringlet
