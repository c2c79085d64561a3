// Branching programs (MartiBoost, Long and Servedio 2005): layer t has nodes 0..t; a node's weak
// learner sends a row to node i + 1 of the next layer if it says 1, to node i if it says 0.
#pragma once

#include <array>
#include <vector>

#include "binned.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

struct BranchNode {
  Tree tree;  // leaf value: 0 or 1, what the weak learner says; a frozen node's has one leaf
  bool frozen = false;
  // Probability to go right where the tree says 0 and where it says 1; of a frozen node, where the
  // way of a row ends, both are the probability of class 1.
  std::array<double, 2> right{0.5, 0.5};
};

// Trains the nodes of a layer. mass (n_nodes, n_rows) is the weight with which a row is at a node.
// A node balances its two classes to a half each, grows a vote tree, and turns the tree's more
// frequent answer over so often that both are equally likely. A node that (nearly) lacks a class is
// frozen with the other; one that no row reaches is frozen with its entry of `otherwise`. The trees
// keep no leaf_of_row; `says` (n_nodes, n_rows) receives what they say of the rows that reach them.
std::vector<BranchNode> grow_layer(const BinnedData& data, const std::int8_t* signs,
                                   const double* mass, const std::vector<double>& otherwise,
                                   const GrowLimits& limits, std::uint8_t* says, const Team& team);

}  // namespace edgewise
