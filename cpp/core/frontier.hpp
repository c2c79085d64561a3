// The frontier of a growing tree: its leaves, which of them is split next, and the rules of growth.
// Every tree is grown by it, whether its rows are in this process or in blocks elsewhere.
//
// Growth is best-first: the leaf whose split gains most is split next, until the tree is full. A
// leaf is expanded before it is split: its rows are partitioned and its children searched. An
// expansion is a pure function of the leaf, so several can be made ahead of their turn; those that
// never get their turn are discarded. To select these leaves, the frontier simulates growth as if
// unexpanded leaves had no children. Children that are not known yet can only delay others, so a
// leaf outside the simulated tree is never split.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "tree_writer.hpp"
#include "types.hpp"

namespace edgewise {

template <class NodeState>
struct Leaf {
  std::size_t begin = 0, end = 0;  // range of the row array; where rows are elsewhere, of any
  int depth = 0;
  int node = 0;           // place in the tree; until its parent is split, in the simulated tree
  int id = 0;             // its number in the blocks, where rows are elsewhere
  std::vector<int> path;  // features above, ascending, if interactions are limited
  CutKey key = 0;         // where cuts are drawn
  Split split;
  NodeState state;
  bool asked = false;                 // whether its expansion is under way or done
  bool search = false;                // whether its children may be split in their turn
  int waiting = 0;                    // for searches of its children
  std::size_t slot = 0;               // among the frontier's leaves
  std::unique_ptr<Leaf> left, right;  // set once its rows are parted

  std::size_t n_rows() const { return end - begin; }
  bool expanded() const { return left && waiting == 0; }
};

// Rows on either side of a split.
struct Sides {
  std::size_t left, right;
  bool missing;  // whether any row's value is missing
};

// A State has `active`, the features that may be split.
template <class State>
class Frontier {
 public:
  using Node = Leaf<State>;
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  Frontier(const BinnedData& data, const GrowLimits& limits)
      : data_(data),
        limits_(limits),
        max_leaves_(static_cast<std::size_t>(limits.max_leaf_nodes > 0 ? limits.max_leaf_nodes
                                                                       : kMaxLeaves)),
        min_rows_(std::max<std::size_t>(2, 2 * static_cast<std::size_t>(limits.min_samples_leaf))),
        writer_(data) {}

  // The root. It is to be searched, then opened.
  Node& plant(std::size_t n_rows) {
    leaves_.push_back(std::make_unique<Node>());
    Node& root = *leaves_[0];
    root.end = n_rows;
    root.key = limits_.cut_key;
    root.node = writer_.add_node();
    return root;
  }
  void open_root() { open(*leaves_[0]); }

  bool may_split(const Node& node) const {
    return (limits_.max_depth == 0 || node.depth < limits_.max_depth) && node.n_rows() >= min_rows_;
  }
  // Whether children of an expanded leaf may be split, so that they have to be searched.
  bool may_split_children(const Node& node) const {
    return node.search && (may_split(*node.left) || may_split(*node.right));
  }

  // Lets `find` look for the best split of a node that may be split; keeps it if the rules allow.
  template <class Find>
  void search(Node& node, Find find) const {
    limits_.interactions.restrict_to(node.path, data_.feature_of, node.state.active);
    find(node);
    if (node.split.gain * limits_.weight_unit < limits_.min_gain) node.split = {};
  }

  // Splits leaves as long as the next one is expanded; returns whether the tree is done.
  bool settle() {
    while (!queue_.empty() && leaves_.size() < max_leaves_) {
      if (!queue_.top()->expanded()) return false;
      commit();
    }
    return true;
  }

  // Returns the leaves to expand, among the next `ahead` of the simulation, and marks them as
  // requested.
  std::vector<Node*> next(std::size_t ahead = kAll) {
    std::vector<Node*> wanted, open;
    Queue thought;
    const std::size_t room = max_leaves_ - leaves_.size();
    int place = writer_.n_nodes();
    for (std::size_t n = 1; n <= std::min(ahead, room); ++n, place += 2) {
      const bool known = thought.empty() || (!queue_.empty() && later(thought.top(), queue_.top()));
      Queue& from = known ? queue_ : thought;
      if (from.empty()) break;
      Node* node = from.top();
      from.pop();
      if (known) open.push_back(node);
      if (!node->asked) {
        node->asked = true;
        node->search = n < room;
        wanted.push_back(node);
      } else if (node->expanded()) {
        think_of(*node->left, place, thought);
        think_of(*node->right, place + 1, thought);
      }
    }
    for (Node* node : open) queue_.push(node);
    return wanted;
  }

  // Gives a node its children. `turned`: the sides of the split were swapped after the search; the
  // random cuts of the children depend on the sides of the search, since how categories are
  // numbered must not matter.
  void part(Node& node, Sides sides, bool turned = false) const {
    if (!sides.missing && !node.split.categorical)
      node.split.missing_left = 2 * sides.left >= node.n_rows();
    node.left = std::make_unique<Node>();
    node.right = std::make_unique<Node>();
    node.left->begin = node.begin;
    node.left->end = node.right->begin = node.begin + sides.left;
    node.right->end = node.end;
    node.left->depth = node.right->depth = node.depth + 1;
    node.left->key = key_of_part(node.key, turned ? 1 : 0);
    node.right->key = key_of_part(node.key, turned ? 0 : 1);
    if (limits_.interactions.any()) node.left->path = node.right->path = extended_path(node);
  }

  // Of the finished tree, in its order.
  std::vector<std::unique_ptr<Node>>& leaves() {
    std::sort(leaves_.begin(), leaves_.end(),
              [](const auto& a, const auto& b) { return a->node < b->node; });
    return leaves_;
  }

  // The tree on columns of bins, without values of leaves.
  Tree finish() { return writer_.finish(); }

 private:
  // Larger gains first, then older nodes.
  static bool later(const Node* a, const Node* b) {
    if (a->split.gain != b->split.gain) return a->split.gain < b->split.gain;
    return a->node > b->node;
  }
  struct Later {
    bool operator()(const Node* a, const Node* b) const { return later(a, b); }
  };
  using Queue = std::priority_queue<Node*, std::vector<Node*>, Later>;

  static void think_of(Node& child, int place, Queue& thought) {
    if (!child.split.found()) return;
    child.node = place;
    thought.push(&child);
  }

  void open(Node& leaf) {
    if (leaf.split.found()) queue_.push(&leaf);
  }

  void commit() {
    Node& leaf = *queue_.top();
    queue_.pop();
    auto left = std::move(leaf.left), right = std::move(leaf.right);
    left->node = writer_.split(leaf.node, leaf.split);
    right->node = left->node + 1;
    left->slot = leaf.slot;
    right->slot = leaves_.size();
    open(*left);
    open(*right);
    leaves_[left->slot] = std::move(left);
    leaves_.push_back(std::move(right));
  }

  std::vector<int> extended_path(const Node& node) const {
    std::vector<int> path = node.path;
    const int feature = data_.feature_of[static_cast<std::size_t>(node.split.feature)];
    const auto place = std::lower_bound(path.begin(), path.end(), feature);
    if (place == path.end() || *place != feature) path.insert(place, feature);
    return path;
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
  std::size_t max_leaves_, min_rows_;
  std::vector<std::unique_ptr<Node>> leaves_;
  Queue queue_;  // leaves of the tree that can be split
  TreeWriter writer_;
};

}  // namespace edgewise
