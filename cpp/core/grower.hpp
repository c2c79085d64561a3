// The best-first grower: the leaf whose split gains most is split next, until the tree is full.
//
// What a node's statistics are and how its best split is found is the evaluator's business (class
// trees and pair trees differ there and nowhere else). Several open leaves may be expanded at once
// ahead of their turn; since an expansion is a pure function of the leaf, the tree that results is
// the same, and expansions that never get their turn are dropped.
#pragma once

#include <algorithm>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "partition.hpp"
#include "routing.hpp"
#include "threads.hpp"
#include "tree_writer.hpp"
#include "types.hpp"

namespace edgewise {

template <class NodeState>
struct Leaf {
  std::size_t begin = 0, end = 0;  // range of the grower's row array
  int depth = 0;
  int node = 0;           // place in the tree
  std::vector<int> path;  // features above, ascending, where their meeting is limited
  CutKey key = 0;         // where cuts are drawn
  Split split;
  NodeState state;
  std::unique_ptr<Leaf> left, right;  // set once expanded

  std::size_t n_rows() const { return end - begin; }
};

// An Evaluator provides
//   using State;                                    what it keeps of a node
//   void root(Leaf&, const Row*, Team)              the root's state
//   void inherit(Leaf& parent, const Row*, bool search, Team, int slot)   the children's states;
//                                                   search: whether any of them will be searched
//   void search(Leaf&, const Row*, Team, int slot)  the best split of a node
//   void finish(leaves, const Row*, Tree&, Team)    classes and values of the leaves
template <class Evaluator>
class Grower {
 public:
  using Node = Leaf<typename Evaluator::State>;

  Grower(const BinnedData& data, const GrowLimits& limits, Evaluator& evaluator, const Team& team)
      : data_(data), limits_(limits), evaluator_(evaluator), team_(team), writer_(data) {}

  // `rows` lists the rows to learn from; it is reordered. `others` only have their leaf found;
  // null: all others.
  Tree grow(std::vector<Row>& rows, const std::vector<Row>* others = nullptr) {
    rows_ = rows.data();
    scratch_.resize(rows.size());
    auto root = std::make_unique<Node>();
    root->end = rows.size();
    root->key = limits_.cut_key;
    evaluator_.root(*root, rows_, team_);
    if (may_split(*root)) seek_split(*root, team_, 0);
    root->node = writer_.add_node();
    open(std::move(root));
    while (!queue_.empty() && n_leaves() < max_leaves()) {
      if (!queue_.top()->left) expand_ahead();
      commit();
    }
    return finish(rows.size(), others);
  }

 private:
  static constexpr std::size_t kLarge = 1 << 13;  // rows of a node worth several threads
  static constexpr std::size_t kSmallTree = 64;   // nodes: all rows are led down it in no time

  struct Later {
    bool operator()(const Node* a, const Node* b) const {
      if (a->split.gain != b->split.gain) return a->split.gain < b->split.gain;
      return a->node > b->node;
    }
  };

  std::size_t max_leaves() const {
    return static_cast<std::size_t>(limits_.max_leaf_nodes > 0 ? limits_.max_leaf_nodes
                                                               : kMaxLeaves);
  }
  std::size_t n_leaves() const { return leaves_.size(); }

  bool may_split(const Node& node) const {
    return (limits_.max_depth == 0 || node.depth < limits_.max_depth) &&
           node.n_rows() >= 2 * static_cast<std::size_t>(limits_.min_samples_leaf) &&
           node.n_rows() > 1;
  }

  void open(std::unique_ptr<Node> leaf) {
    if (leaf->split.found()) queue_.push(leaf.get());
    leaves_.push_back(std::move(leaf));
  }

  void seek_split(Node& node, const Team& team, int slot) {
    evaluator_.search(node, rows_, team, slot);
    if (node.split.gain * limits_.weight_unit < limits_.min_gain) node.split = {};
  }

  void extend_path(Node& parent) const {
    std::vector<int> path = parent.path;
    const int feature = data_.feature_of[static_cast<std::size_t>(parent.split.feature)];
    const auto place = std::lower_bound(path.begin(), path.end(), feature);
    if (place == path.end() || *place != feature) path.insert(place, feature);
    parent.left->path = parent.right->path = std::move(path);
  }

  // Parts a leaf's rows and gives its children their states.
  void expand(Node& leaf, bool search, const Team& team, int slot) {
    team.poll();
    const bool turned = leaf.split.categorical &&
                        turn_to_majority(data_, rows_ + leaf.begin, leaf.n_rows(), leaf.split);
    const auto part = partition_rows(data_, leaf.split, rows_ + leaf.begin, leaf.n_rows(),
                                     scratch_.data() + leaf.begin, team);
    if (!part.saw_missing && !leaf.split.categorical)
      leaf.split.missing_left = 2 * part.n_left >= leaf.n_rows();
    leaf.left = std::make_unique<Node>();
    leaf.right = std::make_unique<Node>();
    leaf.left->begin = leaf.begin;
    leaf.left->end = leaf.right->begin = leaf.begin + part.n_left;
    leaf.right->end = leaf.end;
    leaf.left->depth = leaf.right->depth = leaf.depth + 1;
    // By the sides of the search: how categories are numbered must not matter.
    leaf.left->key = key_of_part(leaf.key, turned ? 1 : 0);
    leaf.right->key = key_of_part(leaf.key, turned ? 0 : 1);
    if (limits_.interactions.any()) extend_path(leaf);
    evaluator_.inherit(leaf, rows_, search && (may_split(*leaf.left) || may_split(*leaf.right)),
                       team, slot);
  }

  // Expands the leaf that is next and, with several threads, those likely to follow it.
  void expand_ahead() {
    const std::size_t room = max_leaves() - n_leaves();
    const auto threads = static_cast<std::size_t>(team_.size());
    const auto ahead = std::min(room, threads == 1 ? 1 : 2 * threads);
    const bool search = room > 1;  // else nobody will split the children
    std::vector<Node*> taken, leaves, children;
    while (taken.size() < ahead && !queue_.empty()) {
      taken.push_back(queue_.top());
      queue_.pop();
      if (!taken.back()->left) leaves.push_back(taken.back());
    }
    for (Node* leaf : taken) queue_.push(leaf);
    share(leaves,
          [&](Node& leaf, const Team& team, int slot) { expand(leaf, search, team, slot); });
    for (Node* leaf : leaves)
      for (Node* child : {leaf->left.get(), leaf->right.get()})
        if (search && may_split(*child)) children.push_back(child);
    share(children,
          [&](Node& child, const Team& team, int slot) { seek_split(child, team, slot); });
  }

  // Work on several nodes: all threads on one large node after the other, then each thread on small
  // nodes of its own. Where there are fewer nodes than threads, a node need not be so large.
  template <class Work>
  void share(const std::vector<Node*>& nodes, Work work) {
    const bool few = nodes.size() < static_cast<std::size_t>(team_.size());
    const std::size_t large = few ? kLarge / 4 : kLarge;
    std::vector<Node*> small;
    for (Node* node : nodes) {
      if (team_.size() > 1 && node->n_rows() < large) {
        small.push_back(node);
      } else {
        work(*node, team_, 0);
      }
    }
    // The largest first, so that nobody waits long for the last.
    std::stable_sort(small.begin(), small.end(),
                     [](const Node* a, const Node* b) { return a->n_rows() > b->n_rows(); });
    team_.each(small.size(),
               [&](std::size_t k, int slot) { work(*small[k], team_.alone(slot), slot); });
  }

  void commit() {
    Node& leaf = *queue_.top();
    queue_.pop();
    leaf.left->node = writer_.split(leaf.node, leaf.split);
    leaf.right->node = leaf.left->node + 1;
    auto left = std::move(leaf.left), right = std::move(leaf.right);
    std::erase_if(leaves_, [&](const auto& l) { return l.get() == &leaf; });
    open(std::move(left));
    open(std::move(right));
  }

  Tree finish(std::size_t n_learnt, const std::vector<Row>* others) {
    std::sort(leaves_.begin(), leaves_.end(),
              [](const auto& a, const auto& b) { return a->node < b->node; });
    tree_ = writer_.finish();
    find_leaves(n_learnt, others);
    evaluator_.finish(leaves_, rows_, tree_, team_);
    for (std::int32_t& f : tree_.feature)
      if (f >= 0) f = data_.feature_of[static_cast<std::size_t>(f)];
    return std::move(tree_);
  }

  // The leaf of every row: known for the `n_learnt` that took part, to be found for the others.
  void find_leaves(std::size_t n_learnt, const std::vector<Row>* others) {
    constexpr std::uint16_t kUnknown = kMaxLeaves;
    const bool most = tree_.feature.size() <= kSmallTree || 4 * n_learnt < 3 * data_.n_rows;
    tree_.leaf_of_row.resize(data_.n_rows);
    if (!others && most && fits_range(tree_)) {
      team_.range(data_.n_rows, kLarge, [&](std::size_t begin, std::size_t end, int) {
        route_range(data_, tree_, begin, end);
      });
      return;
    }
    std::vector<Row> rest;
    if (!others) std::fill(tree_.leaf_of_row.begin(), tree_.leaf_of_row.end(), kUnknown);
    for (std::size_t j = 0; j < leaves_.size(); ++j)
      for (std::size_t i = leaves_[j]->begin; i < leaves_[j]->end; ++i)
        tree_.leaf_of_row[rows_[i]] = static_cast<std::uint16_t>(j);
    if (!others && n_learnt < data_.n_rows)
      for (std::size_t i = 0; i < data_.n_rows; ++i)
        if (tree_.leaf_of_row[i] == kUnknown) rest.push_back(static_cast<Row>(i));
    const std::vector<Row>& open = others ? *others : rest;
    team_.range(open.size(), kLarge, [&](std::size_t begin, std::size_t end, int) {
      route_rows(data_, tree_, open.data() + begin, end - begin);
    });
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
  Evaluator& evaluator_;
  const Team& team_;
  Row* rows_ = nullptr;
  std::vector<Row> scratch_;
  std::vector<std::unique_ptr<Node>> leaves_;
  std::priority_queue<Node*, std::vector<Node*>, Later> queue_;
  TreeWriter writer_;
  Tree tree_;  // once it is written
};

}  // namespace edgewise
