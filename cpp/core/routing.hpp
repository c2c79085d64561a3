// Routing: the leaves of rows that took no part in growing a tree.
#pragma once

#include "binned.hpp"
#include "types.hpp"

namespace edgewise {

// Finds the leaves of rows[0..n), one walk after the other; sets tree.leaf_of_row.
void route_rows(const BinnedData& data, Tree& tree, const Row* rows, std::size_t n);

// Whether route_range serves the tree.
bool fits_masks(const Tree& tree);

// Finds the leaves of all rows [begin, end), 32 side by side (Lucchese et al., QuickScorer, 2015):
// a row starts with a bit for every leaf, and every node at which it goes right takes away the
// leaves on the node's left; the first leaf that remains is the row's. Cheaper than walks where
// most rows are asked for.
void route_range(const BinnedData& data, Tree& tree, std::size_t begin, std::size_t end);

}  // namespace edgewise
