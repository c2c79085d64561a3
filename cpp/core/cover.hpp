// Cover: the share of the training rows' weight that reaches a node. Explanations need it as the
// probability that a row with an unknown value goes left.
#pragma once

#include <cstdint>
#include <vector>

#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// Finds tree.cover from tree.leaf_of_row for every tree that has none yet: all rows count, also
// those that took no part in the search for splits. `weights` (n_rows), or null if all weights are
// equal. Sums are of integers, and a share is rounded once.
void find_covers(const std::vector<Tree*>& trees, const double* weights, const Team& team);

// The two steps of it: the sums of the leaves' rows, (n_leaves), in units per 1.0 of weight; and
// the cover from the sums over all rows.
std::vector<std::int64_t> cover_sums(const Tree& tree, const double* weights, double unit);
void set_cover(Tree& tree, const std::vector<std::int64_t>& of_leaf);

}  // namespace edgewise
