// Branching programs (MartiBoost, Long and Servedio 2005): layer t has nodes 0..t; the weak learner
// of a node sends a row to node i + 1 of the next layer if it predicts 1, and to node i if it
// predicts 0.
#pragma once

#include <array>
#include <vector>

#include "binned.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

struct BranchNode {
  Tree tree;  // leaf value: 0 or 1, the prediction of the weak learner; a frozen node has one leaf
  bool frozen = false;
  // Probability of going right if the tree predicts 0 and if it predicts 1; for a frozen node,
  // where a walk ends, both are the probability of class 1.
  std::array<double, 2> right{0.5, 0.5};
};

// Trains the nodes of a layer. mass (n_nodes, n_rows) is the weight with which a row is at a node.
// A node balances its two classes to a half each, grows a vote tree, and flips the tree's more
// frequent prediction so often that both are equally likely. A node that (nearly) lacks a class is
// frozen with the other; one that no row reaches is frozen with its entry of `otherwise`. The trees
// keep no leaf_of_row; `says` (n_nodes, n_rows) receives their predictions for the rows that reach
// them.
std::vector<BranchNode> grow_layer(const BinnedData& data, const std::int8_t* signs,
                                   const double* mass, const std::vector<double>& otherwise,
                                   const GrowLimits& limits, std::uint8_t* says, const Team& team);

}  // namespace edgewise
