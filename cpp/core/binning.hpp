// Binning: a feature's values become at most 255 ordered bins, plus one for missing values.
//
// A feature with few distinct values keeps the midpoint between every two of them, so that small
// integer data is searched exhaustively, as the papers do; others get cuts at weighted quantiles.
// All rows are used, so the cuts do not depend on the order of the rows. Infinite values take no
// part in choosing cuts and fall into the outer bins.
#pragma once

#include <vector>

#include "matrix.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// Cut points of every feature, ascending; bin(x) = number of cuts below x.
struct Cuts {
  std::vector<std::vector<double>> of_feature;
  std::vector<std::uint8_t> has_missing;
};

// `weights` may be null (all one). max_bins counts value bins, 2..255.
Cuts fit_cuts(const Matrix& x, const double* weights, int max_bins, const Team& team);

// Writes the codes of n values of one feature to out[0], out[step], ...; NaN becomes `missing`.
void encode_column(const std::vector<double>& cuts, const double* values, std::size_t n,
                   Code missing, Code* out, std::size_t step);

}  // namespace edgewise
