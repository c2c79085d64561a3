// A read-only view of the user's matrix in its own type and layout: nothing is copied whole. It is
// strided, or sparse row by row (CSR): then the entries of row i are [indptr[i], indptr[i+1]),
// their columns ascending, and all others are zero.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace edgewise {

enum class Kind { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

struct Matrix {
  const void* data;
  std::size_t rows, cols;
  std::ptrdiff_t row_stride, col_stride;  // in elements
  Kind kind;
  const std::int64_t* indptr = nullptr;
  const std::int32_t* indices = nullptr;

  bool is_sparse() const { return indptr != nullptr; }

  // Calls f(typed pointer) with the pointer of the matrix's own element type.
  template <class F>
  void visit(F&& f) const {
    switch (kind) {
      case Kind::f32: return f(static_cast<const float*>(data));
      case Kind::f64: return f(static_cast<const double*>(data));
      case Kind::i8: return f(static_cast<const std::int8_t*>(data));
      case Kind::i16: return f(static_cast<const std::int16_t*>(data));
      case Kind::i32: return f(static_cast<const std::int32_t*>(data));
      case Kind::i64: return f(static_cast<const std::int64_t*>(data));
      case Kind::u8: return f(static_cast<const std::uint8_t*>(data));
      case Kind::u16: return f(static_cast<const std::uint16_t*>(data));
      case Kind::u32: return f(static_cast<const std::uint32_t*>(data));
      case Kind::u64: return f(static_cast<const std::uint64_t*>(data));
    }
  }

  // Copies rows [begin, end) of columns [first, last) to `out` as doubles, column after column,
  // whose beginnings are n apart.
  void columns(std::size_t begin, std::size_t end, std::size_t first, std::size_t last, double* out,
               std::size_t n) const {
    if (is_sparse()) {
      for (std::size_t f = first; f < last; ++f)
        std::fill_n(out + (f - first) * n, end - begin, 0.0);
      entries(begin, end, [&](std::size_t i, std::size_t f, double value) {
        if (f >= first && f < last) out[(f - first) * n + (i - begin)] = value;
      });
      return;
    }
    visit([&](const auto* x) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto* row = x + static_cast<std::ptrdiff_t>(i) * row_stride;
        for (std::size_t f = first; f < last; ++f)
          out[(f - first) * n + (i - begin)] =
              static_cast<double>(row[static_cast<std::ptrdiff_t>(f) * col_stride]);
      }
    });
  }

  // Calls f(row, column, value) for the entries of rows [begin, end) of a sparse matrix.
  template <class F>
  void entries(std::size_t begin, std::size_t end, F&& f) const {
    visit([&](const auto* x) {
      for (std::size_t i = begin; i < end; ++i)
        for (std::int64_t e = indptr[i]; e < indptr[i + 1]; ++e)
          f(i, static_cast<std::size_t>(indices[e]), static_cast<double>(x[e]));
    });
  }

  // Copies rows [begin, end) to `out`, row after row, as doubles.
  void rows_of(std::size_t begin, std::size_t end, double* out) const {
    if (is_sparse()) {
      std::fill_n(out, (end - begin) * cols, 0.0);
      entries(begin, end, [&](std::size_t i, std::size_t f, double value) {
        out[(i - begin) * cols + f] = value;
      });
      return;
    }
    visit([&](const auto* x) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto* row = x + static_cast<std::ptrdiff_t>(i) * row_stride;
        for (std::size_t f = 0; f < cols; ++f)
          *out++ = static_cast<double>(row[static_cast<std::ptrdiff_t>(f) * col_stride]);
      }
    });
  }
};

}  // namespace edgewise
