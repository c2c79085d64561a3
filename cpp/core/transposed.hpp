// The entries of a sparse matrix column by column, as doubles.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "matrix.hpp"
#include "types.hpp"

namespace edgewise {

struct Transposed {
  std::size_t rows, cols;
  std::vector<std::size_t> start;  // (cols + 1)
  std::vector<Row> row;            // (n_entries): ascending in every column
  std::vector<double> value;       // (n_entries)

  Transposed(std::size_t n_rows, std::size_t n_cols, std::vector<std::size_t> starts,
             std::vector<Row> rows_of_entries, std::vector<double> values)
      : rows(n_rows),
        cols(n_cols),
        start(std::move(starts)),
        row(std::move(rows_of_entries)),
        value(std::move(values)) {}

  explicit Transposed(const Matrix& x) : rows(x.rows), cols(x.cols), start(x.cols + 1) {
    x.entries(0, rows, [&](std::size_t, std::size_t f, double) { ++start[f + 1]; });
    for (std::size_t f = 0; f < cols; ++f) start[f + 1] += start[f];
    row.resize(start[cols]), value.resize(start[cols]);
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    x.entries(0, rows, [&](std::size_t i, std::size_t f, double v) {
      row[next[f]] = static_cast<Row>(i);
      value[next[f]++] = v;
    });
  }

  std::size_t n_entries(std::size_t f) const { return start[f + 1] - start[f]; }
};

}  // namespace edgewise
