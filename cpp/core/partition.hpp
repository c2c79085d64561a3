// Partition: the rows of a node, a range of one array, are reordered so that those going left come
// first. Stable, so rows stay ascending and memory is read forwards.
#pragma once

#include <array>
#include <vector>

#include "binned.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

struct Partition {
  std::size_t n_left = 0;
  bool saw_missing = false;
};

// Reorders rows[0..n); `scratch` has room for n rows.
Partition partition_rows(const BinnedData& data, const Split& split, Row* rows, std::size_t n,
                         Row* scratch, const Team& team);

// Finds the leaves of rows that took no part in growing the tree; sets tree.leaf_of_row.
void route_rows(const BinnedData& data, Tree& tree, const Row* rows, std::size_t n);

}  // namespace edgewise
