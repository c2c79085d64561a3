// Kernels marked EDGEWISE_CLONES are compiled for plain x86-64 and for AVX2; the loader chooses.
// Both give the same bits, since contraction to fused multiply-add is switched off. Only glibc's
// loader can choose; Clang does not clone templates or pass vectors between clones.
#pragma once

#include <cstddef>  // any standard header: it defines whether this is glibc

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(EDGEWISE_NO_CLONES)
#define EDGEWISE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define EDGEWISE_CLONES
#endif
