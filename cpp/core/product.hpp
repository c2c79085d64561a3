// Products of stumps (Kegl and Busa-Fekete 2009) as one tree: h_l(x) = prod_j v_jl phi_j(x).
#pragma once

#include <vector>

#include "types.hpp"

namespace edgewise {

// The complete tree whose level j is stump j, its leaves the products of the stumps' votes: the
// last n_classes of the sums that grow_hamming_tree leaves to a leaf. A stump that is a constant
// classifier takes no level.
Tree product_tree(const std::vector<const Tree*>& stumps, int n_classes);

}  // namespace edgewise
