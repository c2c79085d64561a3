// Binning: a feature's values become at most 255 ordered bins, plus one for missing values. Where
// more are asked for, a feature has several columns of bins, whose cuts lie between each other's.
//
// A feature with few distinct values keeps the midpoint between every two of them, so that small
// integer data is searched exhaustively, as the papers do; others get cuts at weighted quantiles.
// All rows are used, so the cuts do not depend on the order of the rows. Infinite values take no
// part in choosing cuts and fall into the outer bins.
//
// A categorical feature has a bin for each of its values, in their order. If there are too many,
// the most frequent keep a bin of their own; the others, infinite values and NaN are missing. Then
// a second column of bins may hold groups of its categories, which are found elsewhere.
#pragma once

#include <algorithm>
#include <vector>

#include "distinct.hpp"
#include "matrix.hpp"
#include "threads.hpp"
#include "transposed.hpp"
#include "types.hpp"

namespace edgewise {

// How values of a feature become bins: by cut points, ascending, bin(x) = number of cuts below x;
// or by the categories, ascending, that have bins of their own.
struct Cuts {
  std::vector<std::vector<double>> of_feature;  // cuts, or categories
  std::vector<std::uint8_t> has_missing;
  std::vector<std::uint8_t> categorical;
  std::vector<int>
      finer;  // the features of further columns, which come after those of all features

  int n_value_bins(std::size_t f) const {
    return static_cast<int>(of_feature[f].size()) + !categorical[f];
  }
  // Value bins, and one for missing values if there are any.
  int n_bins(std::size_t f) const { return n_value_bins(f) + has_missing[f]; }
};

// A categorical feature that has a second column of bins, for groups of its categories.
struct Grouped {
  int feature;
  std::vector<double> own;     // categories with a bin of their own, ascending
  std::vector<double> values;  // categories in groups, ascending
  std::vector<Code> group;     // (values): their groups, from 0
  std::vector<Code> codes;     // (n_rows): group of the row, or the number of groups if missing

  int n_groups() const { return *std::max_element(group.begin(), group.end()) + 1; }
};

// `weights` may be null (all one). max_bins counts value bins of features that are not among the
// `categorical` ones; sparse matrices have at most 255. Columns of groups come last.
Cuts fit_cuts(const Matrix& x, const double* weights, int max_bins,
              const std::vector<int>& categorical, const std::vector<Grouped>& grouped,
              const Team& team);
Cuts fit_cuts(const Transposed& x, const double* weights, int max_bins,
              const std::vector<int>& categorical, const std::vector<Grouped>& grouped,
              const Team& team);

// --- the choice of cuts, for callers that have the distinct values already ---

// Strictly between a < b, or a itself where no double lies between: "x <= cut" parts them.
double midpoint(double a, double b);

// Whether a bin that holds a mass of `filled` ends before the next value: where that comes nearer
// to the target than taking the value in.
inline bool closes_bin(double filled, double next, double target) {
  return filled >= target || filled + next - target > target - filled;
}

Cuts empty_cuts(std::size_t n_features, std::vector<std::uint8_t> categorical);

// The cuts of a feature from its distinct values, and whether any value is missing.
void choose_bins(Cuts& cuts, std::size_t f, std::vector<Value> values, Absent absent, int max_bins);

// Writes the codes of n values of feature f to out[0], out[step], ...
void encode_column(const Cuts& cuts, std::size_t f, const double* values, std::size_t n, Code* out,
                   std::size_t step);

}  // namespace edgewise
