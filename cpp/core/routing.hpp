// Routing: the leaves of rows that took no part in growing a tree.
#pragma once

#include "binned.hpp"
#include "types.hpp"

namespace edgewise {

// Finds the leaves of rows[0..n), one walk after the other; sets tree.leaf_of_row.
void route_rows(const BinnedData& data, Tree& tree, const Row* rows, std::size_t n);

// Whether route_range serves the tree: no sets of categories, leaves that a byte can number.
bool fits_range(const Tree& tree);

// Finds the leaves of all rows [begin, end), 32 side by side (choices.hpp): cheaper than walks
// where most rows are asked for.
void route_range(const BinnedData& data, Tree& tree, std::size_t begin, std::size_t end);

}  // namespace edgewise
