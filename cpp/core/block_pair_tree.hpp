// The pair tree of AOSO-LogitBoost grown on blocks of rows: the part of the workers, which hold
// rows. The driver, which grows the tree from their sums, is pair_tree_driver.hpp; it is the tree
// of pair_tree.hpp, bit for bit.
//
// A node's pair of classes follows from sums over its rows, and its histogram from the pair: two
// trips for every level. Before the first the blocks say how large residuals are; after the last,
// what leaf values are made of. With few classes the sums of all pairs come along with those of the
// classes; with many, those of the pairs that may be the best are asked for in a trip of its own.
#pragma once

#include <span>
#include <vector>

#include "blocks.hpp"
#include "criteria/pair.hpp"
#include "pair_tree.hpp"
#include "posterior.hpp"
#include "residuals.hpp"

namespace edgewise {

// What is asked of the blocks.
struct PairRequests {
  std::vector<Expansion> expansions;
  std::vector<std::int32_t> pairs;       // (n, 3): node, r, s
  std::vector<std::int64_t> histograms;  // (n, 5): node, r, s, size and rows of its parent
  std::vector<std::int32_t> sides;       // (n, 3): node, r, s: what it would move along the pair

  static constexpr std::size_t kPairWidth = 3, kHistogramWidth = 5;
};

// What they answer; all of it adds up.
struct PairAnswers {
  std::vector<std::int64_t> nodes;  // (n expansions, 3 + node_sums): rows on the left, on the
                                    // right, missing; then the sums of the left child
  std::vector<std::int64_t> pairs;  // (n): sum p_r p_s
  Histograms histograms;
  std::vector<std::int64_t> sides;  // (n, width of leaf sums, 2)
};

// How a tree is grown, as the blocks need to know it.
struct PairTask {
  LeafKind leaf = LeafKind::pair;
  double negligible = 0.0;
  bool counted = false;  // whether histograms tell numbers of rows
};

// With few classes the sums of a node tell its pair.
inline bool few_classes(int n_classes) { return n_classes <= 8; }

// Sums of a node: G, H and size of every class, then, with few classes, H_rs of every pair; with
// lists of classes, the two sums for the rest.
inline std::size_t node_sums(int n_classes, bool listed) {
  const auto k = static_cast<std::size_t>(n_classes);
  return 3 * k + (listed ? 2 : few_classes(n_classes) ? k * (k - 1) / 2 : 0);
}
ClassSums class_sums_from(const std::int64_t* numbers, int n_classes, bool listed);

// The place of a pair, r != s, among all pairs.
inline std::size_t place_of_pair(int r, int s, int n_classes) {
  const int low = std::min(r, s), high = std::max(r, s);
  return static_cast<std::size_t>(low * (2 * n_classes - low - 1) / 2 + high - low - 1);
}

class PairTreeBlock {
 public:
  PairTreeBlock(const BinnedData& data, const Posterior& posterior);

  double largest(const Team& team) const;  // weight * residual

  // Learns only from some rows, (n_rows), until the next call; null: from all.
  void draw(const std::uint8_t* drawn);

  // Rounds the residuals; the sums of the root, (node_sums).
  std::vector<std::int64_t> begin(std::size_t n_total, double largest, const Team& team);

  PairAnswers answer(const PairRequests& requests, const PairTask& task, const Team& team);

  // Routes all rows through the tree: sums of g and h, (n_leaves, width, 2). `pairs` of the leaves
  // (n_leaves, 2), or none if leaves move all classes.
  std::vector<std::int64_t> leaf_sums(Tree& tree, LeafKind leaf,
                                      std::span<const std::int32_t> pairs, const Team& team) const;

 private:
  struct Workspace;  // one thread's

  void sums_of(std::span<const Row> rows, std::int64_t* out, Workspace& w) const;
  void part(const Expansion& expansion, std::size_t left, std::int64_t* out, Workspace& w,
            const Team& team);
  std::int64_t cross(const std::int32_t* request, Workspace& w) const;
  template <class Bin>
  std::vector<Bin> histogram(const std::int64_t* request, double share, Workspace& w) const;

  PairLeaves leaf_rule(LeafKind leaf) const;
  bool is_drawn(std::size_t row) const { return drawn_.empty() || drawn_[row]; }
  std::size_t width() const { return node_sums(posterior_.n_classes(), posterior_.lists()); }
  std::int64_t* sums(std::size_t node) { return &sums_[node * width()]; }

  const BinnedData& data_;
  const Posterior& posterior_;
  Residuals residuals_;
  std::size_t n_total_ = 0;          // rows of all blocks
  std::vector<std::uint8_t> drawn_;  // (n_rows); none: all rows are drawn
  RowRanges rows_;
  std::vector<std::int64_t> sums_;  // of this block's rows in every node, (n_nodes, node_sums)
};

}  // namespace edgewise
