// Gini trees: weighted classification trees for K classes, as SAMME boosts them. A side of a split
// with weights W_k of the classes scores sum_k W_k^2 / sum_k W_k.
#pragma once

#include "binned.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// Grows a tree on labels 0..n_classes-1 with weights (n_rows), not negative. Leaves have no values
// yet: `sums` (n_leaves, n_classes) holds the exact weights of the classes in every leaf.
Tree grow_gini_tree(const BinnedData& data, const Label* labels, const double* weights,
                    int n_classes, const GrowLimits& limits, const Team& team);

}  // namespace edgewise
