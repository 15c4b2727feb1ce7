#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace ringlet::train {

/// Memory on 64-byte boundaries. Eigen's order of summation depends on alignment: what is aligned alike gives the same
/// bits in every run.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, kAlignment); }
  friend bool operator==(CacheLineAllocator, CacheLineAllocator) noexcept { return true; }
};

using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;

}  // namespace ringlet::train
