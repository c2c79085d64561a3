// Grows trees whose rows are in this process: threads partition the rows of the leaves that the
// frontier selects, and evaluate their children.
//
// The evaluator defines the statistics of a node and finds its best split (class trees, pair trees
// and lane trees differ only there).
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "frontier.hpp"
#include "partition.hpp"
#include "routing.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

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
      : data_(data), evaluator_(evaluator), team_(team), frontier_(data, limits) {}

  // `rows` lists the rows to learn from; it is reordered. `others` only have their leaf found;
  // null: all others.
  Tree grow(std::vector<Row>& rows, const std::vector<Row>* others = nullptr) {
    rows_ = rows.data();
    scratch_.resize(rows.size());
    Node& root = frontier_.plant(rows.size());
    evaluator_.root(root, rows_, team_);
    if (frontier_.may_split(root)) search(root, team_, 0);
    frontier_.open_root();
    const auto threads = static_cast<std::size_t>(team_.size());
    while (!frontier_.settle()) expand(frontier_.next(threads == 1 ? 1 : 2 * threads));
    return finish(rows.size(), others);
  }

 private:
  static constexpr std::size_t kLarge = 1 << 13;  // rows of a node worth several threads
  static constexpr std::size_t kSmallTree = 64;   // nodes: all rows are routed through it quickly

  void search(Node& node, const Team& team, int slot) {
    frontier_.search(node, [&](Node& n) { evaluator_.search(n, rows_, team, slot); });
  }

  // Parts a leaf's rows and gives its children their states.
  void part(Node& leaf, const Team& team, int slot) {
    team.poll();
    const bool turned = leaf.split.categorical &&
                        turn_to_majority(data_, rows_ + leaf.begin, leaf.n_rows(), leaf.split);
    const auto part = partition_rows(data_, leaf.split, rows_ + leaf.begin, leaf.n_rows(),
                                     scratch_.data() + leaf.begin, team);
    frontier_.part(leaf, {part.n_left, leaf.n_rows() - part.n_left, part.saw_missing}, turned);
    evaluator_.inherit(leaf, rows_, frontier_.may_split_children(leaf), team, slot);
  }

  void expand(const std::vector<Node*>& leaves) {
    std::vector<Node*> children;
    share(leaves, [&](Node& leaf, const Team& team, int slot) { part(leaf, team, slot); });
    for (Node* leaf : leaves)
      for (Node* child : {leaf->left.get(), leaf->right.get()})
        if (leaf->search && frontier_.may_split(*child)) children.push_back(child);
    share(children, [&](Node& child, const Team& team, int slot) { search(child, team, slot); });
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
    // The largest node first, so that no thread waits long for the last one.
    std::stable_sort(small.begin(), small.end(),
                     [](const Node* a, const Node* b) { return a->n_rows() > b->n_rows(); });
    team_.each(small.size(),
               [&](std::size_t k, int slot) { work(*small[k], team_.alone(slot), slot); });
  }

  Tree finish(std::size_t n_learnt, const std::vector<Row>* others) {
    tree_ = frontier_.finish();
    auto& leaves = frontier_.leaves();
    find_leaves(leaves, n_learnt, others);
    evaluator_.finish(leaves, rows_, tree_, team_);
    for (std::int32_t& f : tree_.feature)
      if (f >= 0) f = data_.feature_of[static_cast<std::size_t>(f)];
    return std::move(tree_);
  }

  // The leaf of every row: known for the `n_learnt` that took part, to be found for the others.
  void find_leaves(const std::vector<std::unique_ptr<Node>>& leaves, std::size_t n_learnt,
                   const std::vector<Row>* others) {
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
    for (std::size_t j = 0; j < leaves.size(); ++j)
      for (std::size_t i = leaves[j]->begin; i < leaves[j]->end; ++i)
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
  Evaluator& evaluator_;
  const Team& team_;
  Row* rows_ = nullptr;
  std::vector<Row> scratch_;
  Frontier<typename Evaluator::State> frontier_;
  Tree tree_;  // once it is written
};

}  // namespace edgewise
