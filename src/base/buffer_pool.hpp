#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ringlet {

class BufferPool;

/// A piece of a BufferPool, 64-byte aligned (2 MiB from that size on); goes back to it at the end. Contents are not
/// initialised.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { release(); }

  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  template <class T>
  std::span<T> as() const noexcept {
    return {reinterpret_cast<T*>(data_), size_ / sizeof(T)};
  }
  std::size_t size() const noexcept { return size_; }

 private:
  friend class BufferPool;
  Buffer(BufferPool* pool, std::byte* data, std::size_t size, std::size_t capacity) noexcept
      : pool_(pool), data_(data), size_(size), capacity_(capacity) {}
  void release() noexcept;

  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Persistent scratch: huge pages where the system gives them, touched once when first taken, reused for ever, because
/// on a fresh page the fault costs more than the exchange. Sizes are rounded up to a power of two. One thread.
class BufferPool {
 public:
  BufferPool() = default;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  Buffer take(std::size_t bytes);
  /// Bytes mapped, in use or not.
  std::size_t mapped_bytes() const noexcept { return mapped_; }

 private:
  friend class Buffer;
  void give(std::byte* data, std::size_t capacity) noexcept;

  std::map<std::size_t, std::vector<std::byte*>> free_;  // by capacity
  std::size_t mapped_ = 0;
};

}  // namespace ringlet
