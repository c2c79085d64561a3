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

// What cuts follow from: the distinct finite values of every feature, ascending, with their masses
// (numbers of rows, or weights in fixed point), and whether values are missing. Summaries of parts
// of the rows add up to that of all.
struct FeatureSummary {
  std::vector<double> values;
  std::vector<std::uint64_t> masses;
  bool has_nan = false, has_infinity = false;
};
struct Summary {
  std::vector<FeatureSummary> of_feature;
};

// `largest` is the largest weight of all rows, of this part or of others.
Summary summarise(const Matrix& x, const double* weights, double largest, const Team& team);
Summary merged(const Summary& a, const Summary& b);
Cuts cuts_of(const Summary& summary, int max_bins, const std::vector<int>& categorical);

// Writes the codes of n values of feature f to out[0], out[step], ...
void encode_column(const Cuts& cuts, std::size_t f, const double* values, std::size_t n, Code* out,
                   std::size_t step);

}  // namespace edgewise
