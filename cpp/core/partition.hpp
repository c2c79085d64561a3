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

// Swaps the sides of a split of a categorical feature, if the node has no missing values, so that
// most of its rows go right, where missing values and categories it has not seen will go; of
// equally many rows those with the lowest category go left. Returns whether it swapped them.
bool turn_to_majority(const BinnedData& data, const Row* rows, std::size_t n, Split& split);

// Whether the sides must be swapped, from their numbers of rows.
bool turns(const BinnedData& data, const Split& split, std::size_t n_left, std::size_t n_right);

// Reorders rows[0..n); `scratch` has room for n rows.
Partition partition_rows(const BinnedData& data, const Split& split, Row* rows, std::size_t n,
                         Row* scratch, const Team& team);

}  // namespace edgewise
