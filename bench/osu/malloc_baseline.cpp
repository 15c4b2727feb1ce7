#include "osu/malloc_baseline.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace ringlet::osu {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kMapFrom = 1 << 30;
}  // namespace

void make_malloc_fair() {
  const bool accepted = ::mallopt(M_MMAP_THRESHOLD, kMapFrom) == 1 &&
                        ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max()) == 1 &&
                        ::mallopt(M_TOP_PAD, static_cast<int>(kHugePage)) == 1;
  if (!accepted) throw std::runtime_error("mallopt refused the fair baseline's thresholds: this C library is too old");
}

void reserve_heap(std::size_t bytes) {
  void* block = std::malloc(bytes + 2 * kHugePage);
  if (block == nullptr) throw std::bad_alloc();
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + kHugePage - 1) / kHugePage * kHugePage;
  ::madvise(reinterpret_cast<void*>(begin), bytes / kHugePage * kHugePage + kHugePage, MADV_HUGEPAGE);
  std::memset(block, 1, bytes + 2 * kHugePage);
  // The compiler may drop a block that nobody reads
  asm volatile("" : : "r"(block) : "memory");
  std::free(block);
}

const char* describe_fair_malloc() noexcept {
  return "fair = malloc never unmaps or trims (M_MMAP_THRESHOLD=1 GiB, M_TRIM_THRESHOLD=2 GiB), its heap touched and "
         "in huge pages";
}

}  // namespace ringlet::osu
