// How the allocator of a process deals with large buffers.
#pragma once

#include <cstddef>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace edgewise {

// Lets glibc keep freed buffers of up to n_bytes for those that come next, and four times as much
// in all; elsewhere it does nothing. Where a process was told to give memory back soon (Dask tells
// its workers), every buffer beyond 128 kB otherwise comes from the system page by page, which
// costs more than to fill it.
inline void keep_buffers([[maybe_unused]] std::size_t n_bytes) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(n_bytes));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(4 * n_bytes));
#endif
}

}  // namespace edgewise
