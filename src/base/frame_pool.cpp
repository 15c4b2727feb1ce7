#include "base/frame_pool.hpp"

#include <array>
#include <new>
#include <vector>

namespace ringlet {
namespace {

constexpr std::size_t kStep = 128;    // frames are rounded up to this
constexpr std::size_t kClasses = 32;  // larger ones go to the heap
constexpr std::size_t kKept = 64;     // at most so many of a class

struct Shelves {
  std::array<std::vector<void*>, kClasses> free;
  ~Shelves() {
    for (auto& shelf : free) {
      for (void* frame : shelf) ::operator delete(frame);
    }
  }
};

thread_local Shelves shelves;

}  // namespace

void* FramePool::take(std::size_t bytes) {
  const std::size_t index = (bytes + kStep - 1) / kStep;
  if (index >= kClasses) return ::operator new(bytes);
  auto& shelf = shelves.free[index];
  if (shelf.empty()) return ::operator new(index* kStep);
  void* frame = shelf.back();
  shelf.pop_back();
  return frame;
}

void FramePool::give(void* frame, std::size_t bytes) noexcept {
  const std::size_t index = (bytes + kStep - 1) / kStep;
  if (index < kClasses) {
    auto& shelf = shelves.free[index];
    if (shelf.capacity() == 0) {
      try {
        shelf.reserve(kKept);
      } catch (const std::bad_alloc&) {
        // an empty shelf just keeps nothing
      }
    }
    if (shelf.size() < shelf.capacity()) {
      shelf.push_back(frame);
      return;
    }
  }
  ::operator delete(frame);
}

}  // namespace ringlet
