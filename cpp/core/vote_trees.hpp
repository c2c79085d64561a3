// Vote trees: weighted binary classification trees, one per class, by the Gini index. They serve
// one-vs-all AdaBoost.MH, soft-max boosting and MartiBoost.
//
// With signed weights s_i = w_i y_i, y_i = +-1, a side of a split with weight W+ of positive and W-
// of negative rows has (W+^2 + W-^2) / (W+ + W-) = (A^2 / B + B) / 2, A = sum s_i, B = sum |s_i|:
// the gain of Gini is half that of A^2 / B, and the two-channel trees serve.
#pragma once

#include <vector>

#include "binned.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// One tree for each of `n_classes` columns of the signed weights (n_rows, n_classes). A leaf has
// no values yet: `sums` (n_leaves, 2) holds the exact sums of the signed weights of its rows and of
// their sizes. Rows without weight find their leaf and change nothing.
std::vector<Tree> grow_vote_trees(const BinnedData& data, const double* signed_weights,
                                  int n_classes, const GrowLimits& limits, const Team& team);

}  // namespace edgewise
