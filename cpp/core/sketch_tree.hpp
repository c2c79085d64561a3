// Trees that are searched on a few projections of many gradients (Iosipoi and Vakhrushev 2022): a
// node with sums G_k of the projections and a mass M has the score sum_k G_k^2 / (M + l2).
#pragma once

#include "binned.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// Grows a tree on projected gradients (n_rows, n_directions) and masses (n_rows). Its leaves have
// no values yet.
Tree grow_sketch_tree(const BinnedData& data, const double* g, const double* mass, int n_directions,
                      const GrowLimits& limits, const Team& team);

}  // namespace edgewise
