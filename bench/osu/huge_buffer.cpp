#include "osu/huge_buffer.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace ringlet::osu {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}

HugeBuffer::HugeBuffer(std::size_t bytes) {
  const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  mapped_ = whole + kHugePage;
  map_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map_ == MAP_FAILED) throw std::bad_alloc();
  const auto misfit = reinterpret_cast<std::uintptr_t>(map_) % kHugePage;
  begin_ = static_cast<std::byte*>(map_) + (kHugePage - misfit) % kHugePage;
  ::madvise(begin_, whole, MADV_HUGEPAGE);  // advice: where it is refused, small pages do
  std::memset(begin_, 0, whole);
}

HugeBuffer::~HugeBuffer() { ::munmap(map_, mapped_); }

}  // namespace ringlet::osu
