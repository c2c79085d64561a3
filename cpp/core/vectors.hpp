// Vectors in the compilers' own notation (GCC, Clang): the same arithmetic on every
// machine, in registers of whatever width it has.
#pragma once

#include <cstdint>
#include <cstring>

namespace edgewise {

typedef float Float8 __attribute__((vector_size(32)));
typedef double Double4 __attribute__((vector_size(32)));
typedef std::int64_t Long4 __attribute__((vector_size(32)));
typedef std::int64_t Long2 __attribute__((vector_size(16)));
typedef std::uint64_t ULong2 __attribute__((vector_size(16)));
typedef std::int32_t Int8 __attribute__((vector_size(32)));

inline Int8 load8(const void* p) {
  Int8 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline Double4 load4(const double* p) {
  Double4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline Float8 to_float(Int8 v) { return __builtin_convertvector(v, Float8); }
inline Int8 to_int(Float8 v) { return __builtin_convertvector(v, Int8); }
inline Float8 larger(Float8 a, Float8 b) { return a > b ? a : b; }

}  // namespace edgewise
