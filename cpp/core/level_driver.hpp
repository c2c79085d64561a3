// Grows trees from the histograms that blocks of rows send: what class trees and Hamming trees
// share. One trip serves all trees and all leaves that may get their turn; of two children only the
// smaller one's histogram is asked for, the other's is the difference.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "frontier.hpp"
#include "partition.hpp"
#include "threads.hpp"

namespace edgewise {

// A Kind is the search side of a tree. It provides
//   State                               a node's histogram and active features
//   Sums                                what blocks answer to several expansions
//   read(sums, i), subtract(a, b)       the i-th histogram of them; a -= b
//   n_rows(state)                       rows of a node that count
//   count(state, place)                 rows in a place
//   features(tree)                      that a root may be split by
//   search(tree, node, team)            the best split of a node, into node.split
//   has_bounds(tree)                    whether what leaves may move depends on the sums of sides
//   part_bounds(tree, node, sums, i)    then: bounds of the children, from the i-th expansion's
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
  void take_roots(const Sums& sums, const Team& team);

  // Nodes to expand; none when all trees are done.
  std::vector<Expansion> next();

  // The answers to these expansions, in their order.
  void take(const Sums& sums, const Team& team);

  // The trees, without values of leaves.
  std::vector<Tree> finish();

  // Whether the answers to expansions must tell of their sides.
  bool has_bounds() const;

  // Of a finished tree, in its order.
  std::vector<std::unique_ptr<Node>>& leaves(std::size_t tree) { return growths_[tree]->leaves(); }
  const Kind& kind() const { return kind_; }

 private:
  struct Asked {
    std::size_t tree;
    Node* node;
    Build build;
    std::size_t place;  // among the histograms asked for
  };

  void search(std::size_t tree, Node& node, const Team& team) {
    if (growths_[tree]->may_split(node))
      growths_[tree]->search(node, [&](Node& n) { kind_.search(tree, n, team); });
    if (!node.split.found()) release(node.state.histogram);
  }

  void inherit(const Asked& asked, const Sums& sums) const {
    Node& node = *asked.node;
    Node& small = asked.build == Build::left ? *node.left : *node.right;
    Node& large = asked.build == Build::left ? *node.right : *node.left;
    small.state = kind_.read(sums, asked.place);
    small.state.active = node.state.active;
    large.state = std::move(node.state);
    kind_.subtract(large.state, small.state);
  }

  // Parts a node; what the two sides hold is known from its histogram. Returns whether the blocks
  // have to be asked for more.
  bool expand(std::size_t tree, Node& node, std::vector<Expansion>& expansions) {
    Growth& growth = *growths_[tree];
    Sides sides = sides_of(node);
    const bool turned = node.split.categorical && turns(data_, node.split, sides.left, sides.right);
    if (turned) {
      std::swap(node.split.left, node.split.right);
      std::swap(sides.left, sides.right);
    }
    growth.part(node, sides, turned);
    Build build = Build::none;
    if (growth.may_split_children(node)) {
      build = sides.left <= sides.right ? Build::left : Build::right;
    } else {
      release(node.state.histogram);
      if (!kind_.has_bounds(tree)) return false;
    }
    node.waiting = 1;
    node.left->id = n_ids_[tree], node.right->id = n_ids_[tree] + 1;
    n_ids_[tree] += 2;
    expansions.push_back({static_cast<int>(tree), node.id, node.split, build});
    asked_.push_back({tree, &node, build, n_built_});
    n_built_ += build != Build::none;
    return true;
  }

  Sides sides_of(const Node& node) const {
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
    return {n_left, node.n_rows() - n_left, n_missing > 0};
  }

  const BinnedData& data_;
  GrowLimits limits_;
  Kind kind_;
  std::vector<std::unique_ptr<Growth>> growths_;
  std::vector<int> n_ids_;  // nodes of each tree known to the blocks
  std::vector<Asked> asked_;
  std::size_t n_built_ = 0;  // histograms asked for
};

template <class Kind>
void LevelDriver<Kind>::take_roots(const Sums& sums, const Team& team) {
  team.each(growths_.size(), [&](std::size_t t, int slot) {
    State state = kind_.read(sums, t);
    Node& root = growths_[t]->plant(kind_.n_rows(state));
    state.active = kind_.features(t);
    root.state = std::move(state);
    search(t, root, team.alone(slot));
    growths_[t]->open_root();
  });
}

template <class Kind>
std::vector<Expansion> LevelDriver<Kind>::next() {
  std::vector<Expansion> expansions;
  asked_.clear(), n_built_ = 0;
  for (std::size_t t = 0; t < growths_.size(); ++t) {
    bool asks = false;
    while (!growths_[t]->settle() && !asks)
      for (Node* node : growths_[t]->next())
        if (expand(t, *node, expansions)) asks = true;
  }
  return expansions;
}

template <class Kind>
void LevelDriver<Kind>::take(const Sums& sums, const Team& team) {
  team.each(asked_.size(), [&](std::size_t i, int slot) {
    const Asked& asked = asked_[i];
    Node& node = *asked.node;
    if (asked.build != Build::none) inherit(asked, sums);
    if (kind_.has_bounds(asked.tree)) kind_.part_bounds(asked.tree, node, sums, i);
    if (asked.build != Build::none)
      for (Node* child : {node.left.get(), node.right.get()})
        search(asked.tree, *child, team.alone(slot));
    node.waiting = 0;
  });
}

template <class Kind>
std::vector<Tree> LevelDriver<Kind>::finish() {
  std::vector<Tree> trees;
  for (auto& growth : growths_) trees.push_back(growth->finish());
  return trees;
}

template <class Kind>
bool LevelDriver<Kind>::has_bounds() const {
  for (std::size_t t = 0; t < growths_.size(); ++t)
    if (kind_.has_bounds(t)) return true;
  return false;
}

}  // namespace edgewise
