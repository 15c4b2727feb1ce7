#pragma once

#include <cstddef>

namespace ringlet::osu {

/// Open MPI allocates scratch in every large MPI_Allreduce. As glibc's malloc comes, that memory is mapped and unmapped
/// by each call, and the page faults, not the exchange, are what is measured: a rival that is easily beaten. The fair
/// rival keeps its scratch in a heap that never shrinks and lies in huge pages, which is what MALLOC_MMAP_THRESHOLD_,
/// MALLOC_TRIM_THRESHOLD_, MALLOC_TOP_PAD_ and GLIBC_TUNABLES=glibc.malloc.hugetlb=1 do for a process that is started
/// with them. This does the same for the running process; there is no way back, because glibc stops adapting its
/// thresholds once one was set.
void make_malloc_fair();

/// Puts `bytes` of touched huge pages at the top of the heap, where the next allocations are taken from. After
/// make_malloc_fair().
void reserve_heap(std::size_t bytes);

/// One line for a benchmark's header.
const char* describe_fair_malloc() noexcept;

}  // namespace ringlet::osu
