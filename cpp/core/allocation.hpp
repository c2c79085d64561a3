// How the allocator of a process deals with large buffers.
#pragma once

#include <cstddef>

#if defined(__GLIBC__)
#include <malloc.h>

#include <cstdlib>
#endif

namespace edgewise {

// Lets glibc keep freed buffers of up to n_bytes for those that come next, and four times as much
// in all; elsewhere it does nothing. If a process is configured to return memory soon (as Dask
// configures its workers), every buffer beyond 128 kB otherwise comes from the system page by page,
// which costs more than filling it.
inline void keep_buffers([[maybe_unused]] std::size_t n_bytes) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(n_bytes));
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(4 * n_bytes));
#endif
}

// Undoes keep_buffers: the thresholds are again those of the environment, or glibc's own.
inline void release_buffers() {
#if defined(__GLIBC__)
  const auto threshold = [](const char* variable) {
    const char* given = std::getenv(variable);
    return given ? std::atoi(given) : 128 * 1024;
  };
  mallopt(M_MMAP_THRESHOLD, threshold("MALLOC_MMAP_THRESHOLD_"));
  mallopt(M_TRIM_THRESHOLD, threshold("MALLOC_TRIM_THRESHOLD_"));
  malloc_trim(0);
#endif
}

}  // namespace edgewise
