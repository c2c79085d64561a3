// Hamming trees (Kegl 2014): one vector tree for all labels whose cuts are factorised stumps. Rows
// carry the signed weights s_il = w_il y_il. A stump that sends sums L_l left and R_l right has,
// with optimal votes v_l = sign(R_l - L_l), the edge sum_l |R_l - L_l|; a constant classifier has
// sum_l |R_l + L_l|. Leaves are split in the order of the difference. A stump is a tree of two
// leaves.
#pragma once

#include "binned.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// Grows a tree on signed weights (n_rows, n_classes). Leaves have no values yet: `sums`
// (n_leaves, 3, n_classes) holds the exact sums of s_il and of |s_il| over their rows, and the
// votes v_l phi(x) of the last stump above them.
Tree grow_hamming_tree(const BinnedData& data, const double* signed_weights, int n_classes,
                       const GrowLimits& limits, const Team& team);

}  // namespace edgewise
