// Grows trees level by level from the histograms that blocks send: the part that class trees and
// Hamming trees share. One trip serves all trees and all leaves that may still be split; of two
// children only the smaller one's histogram is asked for, the other's is the difference.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "frontier.hpp"
#include "partition.hpp"
#include "threads.hpp"

namespace edgewise {

// A Kind provides
//   State                          a node's histogram and active features
//   Sums                           histograms of several nodes, as they come
//   read(sums, i), subtract(a, b)  the i-th of them; a -= b
//   n_rows(state)                  rows of a node that count
//   count(state, place)            rows in a place
//   search(tree, node, team)       the best split of a node, into node.split
template <class Kind>
class LevelDriver {
 public:
  using State = typename Kind::State;
  using Sums = typename Kind::Sums;
  using Growth = Frontier<State>;
  using Node = typename Growth::Node;

  LevelDriver(const BinnedData& data, const GrowLimits& limits, std::size_t n_trees, Kind kind)
      : data_(data), limits_(limits), kind_(std::move(kind)), n_ids_(n_trees, 1) {
    for (std::size_t t = 0; t < n_trees; ++t)
      growths_.push_back(std::make_unique<Growth>(data, limits_));
  }
  LevelDriver(const LevelDriver&) = delete;
  LevelDriver& operator=(const LevelDriver&) = delete;

  // The histograms of the roots.
  void take_roots(const Sums& sums, const Team& team) {
    team.each(growths_.size(), [&](std::size_t t, int slot) {
      State state = kind_.read(sums, t);
      Node& root = growths_[t]->plant(kind_.n_rows(state));
      state.active = limits_.allowed(data_.feature_of);
      root.state = std::move(state);
      search(t, root, team.alone(slot));
    });
  }

  // Nodes to expand; none when all trees are done.
  std::vector<Expansion> next() {
    std::vector<Expansion> expansions;
    asked_.clear();
    for (std::size_t t = 0; t < growths_.size(); ++t) {
      bool asks = false;
      while (!growths_[t]->settle() && !asks)
        for (Node* node : growths_[t]->next())
          if (expand(t, *node, expansions)) asks = true;
    }
    return expansions;
  }

  // The histograms of the children asked for, in the order of the request.
  void take(const Sums& sums, const Team& team) {
    team.each(asked_.size(), [&](std::size_t i, int slot) {
      const auto [tree, node, build_left] = asked_[i];
      Node* small = build_left ? node->left.get() : node->right.get();
      Node* large = build_left ? node->right.get() : node->left.get();
      small->state = kind_.read(sums, i);
      small->state.active = node->state.active;
      large->state = std::move(node->state);
      kind_.subtract(large->state, small->state);
      search(tree, *small, team.alone(slot));
      search(tree, *large, team.alone(slot));
      node->waiting = 0;
    });
  }

  // The trees, without values of leaves.
  std::vector<Tree> finish() {
    std::vector<Tree> trees;
    for (auto& growth : growths_) trees.push_back(growth->finish());
    return trees;
  }

 private:
  struct Asked {
    std::size_t tree;
    Node* node;
    bool build_left;
  };

  void search(std::size_t tree, Node& node, const Team& team) {
    if (growths_[tree]->may_split(node)) kind_.search(tree, node, team);
    if (!node.split.found()) node.state = {};
  }

  // Parts a node; what the two sides hold is known from its histogram. Returns whether the blocks
  // have to be asked for the children's histograms.
  bool expand(std::size_t tree, Node& node, std::vector<Expansion>& expansions) {
    Growth& growth = *growths_[tree];
    auto [n_left, n_missing] = rows_on_the_left(node);
    std::size_t n_right = node.n_rows - n_left;
    Split& split = node.split;
    if (split.categorical) {
      if (turns(data_, split, n_left, n_right)) {
        std::swap(split.left, split.right);
        std::swap(n_left, n_right);
      }
    } else if (n_missing == 0) {
      split.missing_left = 2 * n_left >= node.n_rows;
    }
    growth.part(node, n_left, n_right);
    if (!node.search || !(growth.may_split(*node.left) || growth.may_split(*node.right))) {
      node.state = {};
      return false;
    }
    node.waiting = 1;
    node.left->id = n_ids_[tree], node.right->id = n_ids_[tree] + 1;
    n_ids_[tree] += 2;
    const bool build_left = n_left <= n_right;
    expansions.push_back(
        {static_cast<int>(tree), node.id, split, build_left ? Build::left : Build::right});
    asked_.push_back({tree, &node, build_left});
    return true;
  }

  // Rows that go left, and rows whose value is missing.
  std::pair<std::size_t, std::size_t> rows_on_the_left(const Node& node) const {
    const Split& split = node.split;
    const std::size_t first = data_.offset[static_cast<std::size_t>(split.feature)];
    const int missing = data_.n_value_bins(split.feature);
    std::size_t n_left = 0, n_missing = 0;
    for (int b = 0; b < data_.n_bins(split.feature); ++b) {
      const std::size_t n = kind_.count(node.state, first + static_cast<std::size_t>(b));
      const bool left = split.categorical ? split.left.contains(b)
                        : b == missing    ? split.missing_left
                                          : b <= split.bin;
      n_left += left ? n : 0;
      n_missing += b == missing ? n : 0;
    }
    return {n_left, n_missing};
  }

  const BinnedData& data_;
  GrowLimits limits_;
  Kind kind_;
  std::vector<std::unique_ptr<Growth>> growths_;
  std::vector<int> n_ids_;  // nodes of each tree known to the blocks
  std::vector<Asked> asked_;
};

}  // namespace edgewise
