#include "base/buffer_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace ringlet {
namespace {

constexpr std::size_t kSmallest = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = 4096;

std::byte* map_touched(std::size_t capacity) {
  const std::size_t alignment = capacity >= kHugePage ? kHugePage : std::size_t{64};
  auto* data = static_cast<std::byte*>(::operator new (capacity, std::align_val_t{alignment}));
  if (capacity >= kHugePage) ::madvise(data, capacity, MADV_HUGEPAGE);  // advice: where refused, small pages do
  for (std::size_t i = 0; i < capacity; i += kPage) data[i] = std::byte{0};
  return data;
}

void unmap(std::byte* data, std::size_t capacity) noexcept {
  ::operator delete (data, std::align_val_t{capacity >= kHugePage ? kHugePage : std::size_t{64}});
}

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    pool_ = std::exchange(other.pool_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
  }
  return *this;
}

void Buffer::release() noexcept {
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->give(data_, capacity_);
}

BufferPool::~BufferPool() {
  for (auto& [capacity, shelf] : free_) {
    for (std::byte* data : shelf) unmap(data, capacity);
  }
}

Buffer BufferPool::take(std::size_t bytes) {
  const std::size_t capacity = std::bit_ceil(std::max(bytes, kSmallest));
  auto& shelf = free_[capacity];
  if (shelf.empty()) {
    shelf.reserve(16);
    mapped_ += capacity;
    return {this, map_touched(capacity), bytes, capacity};
  }
  std::byte* data = shelf.back();
  shelf.pop_back();
  return {this, data, bytes, capacity};
}

void BufferPool::give(std::byte* data, std::size_t capacity) noexcept {
  try {
    free_[capacity].push_back(data);
  } catch (const std::bad_alloc&) {
    unmap(data, capacity);
    mapped_ -= capacity;
  }
}

}  // namespace ringlet
