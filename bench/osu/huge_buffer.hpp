#pragma once

#include <cstddef>
#include <span>

namespace ringlet::osu {

/// Memory to exchange: aligned to a huge page, advised to lie in such pages, touched. Mapped by itself, so that no
/// setting of malloc decides where it lies.
class HugeBuffer {
 public:
  /// Throws std::bad_alloc.
  explicit HugeBuffer(std::size_t bytes);
  ~HugeBuffer();
  HugeBuffer(const HugeBuffer&) = delete;
  HugeBuffer& operator=(const HugeBuffer&) = delete;

  std::span<float> floats(std::size_t elements) const noexcept { return {reinterpret_cast<float*>(begin_), elements}; }

 private:
  void* map_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* begin_ = nullptr;
};

}  // namespace ringlet::osu
