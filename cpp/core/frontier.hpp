// Best-first growth of a tree whose rows are elsewhere: on other machines, in blocks.
//
// The tree is that of grower.hpp, but a node's children become known only after a round trip to the
// blocks. So that few trips are needed, every leaf is expanded that could still be taken: the tree
// is grown in thought as if leaves not yet expanded had no children. What is not known can only
// push others out, so nothing outside this thought tree is ever taken; expansions whose turn never
// comes are dropped.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tree_writer.hpp"
#include "types.hpp"

namespace edgewise {

template <class State>
struct Twig {
  int id = 0;      // its number in the blocks
  int place = -1;  // in the tree; -1 until its parent is split
  int depth = 0;
  std::size_t n_rows = 0;
  Split split;
  State state;
  bool asked = false;   // whether its expansion is under way or done
  bool search = false;  // whether its children will be searched
  int waiting = 0;      // for searches of its children
  std::unique_ptr<Twig> left, right;

  bool ready() const { return left && waiting == 0; }
};

template <class State>
class Frontier {
 public:
  using Node = Twig<State>;

  Frontier(const BinnedData& data, const GrowLimits& limits)
      : writer_(data),
        max_leaves_(static_cast<std::size_t>(limits.max_leaf_nodes > 0 ? limits.max_leaf_nodes
                                                                       : kMaxLeaves)),
        max_depth_(limits.max_depth),
        min_rows_(std::max<std::size_t>(2, 2 * static_cast<std::size_t>(limits.min_samples_leaf))) {
  }

  // The root, not yet searched.
  Node& plant(std::size_t n_rows) {
    leaves_.push_back(std::make_unique<Node>());
    leaves_[0]->n_rows = n_rows;
    leaves_[0]->place = writer_.add_node();
    return *leaves_[0];
  }

  bool may_split(const Node& node) const {
    return (max_depth_ == 0 || node.depth < max_depth_) && node.n_rows >= min_rows_;
  }

  // Splits leaves as long as the next one's children are known; returns whether the tree is done.
  bool settle() {
    while (leaves_.size() < max_leaves_) {
      Node* next = best_leaf();
      if (!next) return true;
      if (!next->ready()) return false;
      commit(*next);
    }
    return true;
  }

  // Leaves to expand now, marked as asked for; `search` says whether their children matter.
  std::vector<Node*> next() {
    std::vector<Node*> open, wanted;
    for (const auto& leaf : leaves_)
      if (leaf->split.found()) open.push_back(leaf.get());
    std::size_t room = max_leaves_ - leaves_.size();
    while (!open.empty() && room > 0) {
      const auto best = std::min_element(open.begin(), open.end(), sooner);
      Node* node = *best;
      open.erase(best);
      --room;
      if (!node->asked) {
        node->asked = true;
        node->search = room > 0;
        wanted.push_back(node);
      } else if (node->ready()) {
        for (Node* child : {node->left.get(), node->right.get()})
          if (child->split.found()) open.push_back(child);
      }
    }
    return wanted;
  }

  // Gives a node children of so many rows.
  void part(Node& node, std::size_t n_left, std::size_t n_right) {
    node.left = std::make_unique<Node>();
    node.right = std::make_unique<Node>();
    node.left->n_rows = n_left;
    node.right->n_rows = n_right;
    node.left->depth = node.right->depth = node.depth + 1;
  }

  // In the order of the tree's leaves, when it is done.
  std::vector<Node*> leaves() {
    std::vector<Node*> nodes;
    for (const auto& leaf : leaves_) nodes.push_back(leaf.get());
    std::sort(nodes.begin(), nodes.end(),
              [](const Node* a, const Node* b) { return a->place < b->place; });
    return nodes;
  }

  Tree finish() { return writer_.finish(); }

 private:
  // Larger gains first, then older nodes. Nodes that have no place yet come after those that have.
  static bool sooner(const Node* a, const Node* b) {
    if (a->split.gain != b->split.gain) return a->split.gain > b->split.gain;
    return static_cast<unsigned>(a->place) < static_cast<unsigned>(b->place);
  }

  Node* best_leaf() const {
    Node* best = nullptr;
    for (const auto& leaf : leaves_)
      if (leaf->split.found() && (!best || sooner(leaf.get(), best))) best = leaf.get();
    return best;
  }

  void commit(Node& node) {
    auto left = std::move(node.left), right = std::move(node.right);
    left->place = writer_.split(node.place, node.split);
    right->place = left->place + 1;
    std::erase_if(leaves_, [&](const auto& l) { return l.get() == &node; });
    leaves_.push_back(std::move(left));
    leaves_.push_back(std::move(right));
  }

  TreeWriter writer_;
  std::size_t max_leaves_;
  int max_depth_;
  std::size_t min_rows_;
  std::vector<std::unique_ptr<Node>> leaves_;
};

}  // namespace edgewise
