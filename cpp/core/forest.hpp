// Prediction from the finished model: plain arrays in, scores out, rows and trees in blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "coded_forest.hpp"
#include "matrix.hpp"
#include "posterior.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// The model's arrays as they are stored. A node's `left` is relative to its tree.
struct ForestArrays : TreesArrays<View> {};

// Owns the arrays while a forest grows.
struct ForestStore : TreesArrays<Vector> {
  ForestStore() { node_start = value_start = set_start = {0}; }

  void append(const Tree& tree);
  ForestArrays view() const;
};

class Forest {
 public:
  explicit Forest(const ForestArrays& arrays);

  std::size_t n_trees() const { return trees_.size(); }

  // Adds the trees [first, last) to scores (rows, n_classes), in the order of the trees.
  void add_scores(const Matrix& x, std::size_t first, std::size_t last, int n_classes,
                  double* scores, const Team& team) const;

  // Adds the trees of one round to the state of a fit on the same rows.
  void replay(const Matrix& x, std::size_t first, std::size_t last, Posterior& posterior,
              const Team& team) const;

  // The trees as a branching program (see branching.hpp): tree t(t+1)/2 + i is node i of layer t.
  // Adds to `out` (rows) the probability of class 1: that of the node where a share of the row
  // ends, or whether it went right more often than left (1/2 if equally often).
  void branch(const Matrix& x, std::span<const std::uint8_t> frozen, std::span<const double> right,
              std::size_t n_layers, double* out, const Team& team) const;

  // Leaf numbers of all rows in the trees [first, last): (rows, last - first).
  void apply(const Matrix& x, std::size_t first, std::size_t last, std::int32_t* leaves,
             const Team& team) const;

 private:
  // A leaf points at itself with an infinite threshold, so a walk needs no test for leaves.
  struct Node {
    double threshold;
    std::uint32_t place;  // of the feature in a group of rows
    std::uint32_t left;   // place of the left child, or of the leaf itself
  };
  struct TreeAt {
    std::uint32_t root;
    std::int32_t depth;
    std::int32_t width;
    bool one_class;  // all leaves move the same one
    bool in_order;   // every leaf moves the classes from 0 to width - 1
    std::int64_t values;
  };
  // The categories of a feature that occur in any set. Rows carry a column with their numbers, and
  // a category's bit of a node's set is the one with that number; values that are in no set have
  // the number after the last, which no set contains.
  struct Coded {
    std::size_t feature;             // its place in a row
    std::vector<double> categories;  // ascending

    std::size_t number(double value) const;
    std::size_t n_words() const { return categories.size() / 64 + 1; }
  };
  struct Rows;

  void find_places(const ForestArrays& a);
  // Of a feature in a row; n_places_ or more if no node looks at it.
  std::size_t place_of(std::size_t feature) const;
  std::size_t rows_at_once(const Matrix& x) const;
  void take_sets(const ForestArrays& a);
  bool in_set(std::uint32_t node, double number) const {
    const auto bit = static_cast<std::size_t>(number);
    return (words_[set_[node] + bit / 64] >> (bit % 64)) & 1;
  }
  int depth_from(const ForestArrays& a, std::size_t t) const;
  // Finds the leaves of a group of rows.
  template <bool kMissing, bool kSets>
  void descend(const TreeAt& tree, const double* group, std::uint32_t* at) const;
  void descend(const TreeAt& tree, const Rows& rows, std::size_t first, std::uint32_t* at) const;
  // Finds the leaves of one row, at its place in a group, in n <= kAbreast trees.
  template <bool kMissing, bool kSets>
  void descend_trees(const TreeAt* trees, std::size_t n, const double* row,
                     std::uint32_t* out) const;
  void descend_trees(const TreeAt* trees, std::size_t n, const Rows& rows, std::size_t i,
                     std::uint32_t* out) const;
  template <bool kMissing, bool kSets>
  std::uint32_t next(std::uint32_t at, double value) const;
  // Adds the values of n leaves, leaf(i) the i-th's number, to as many rows of scores.
  template <class LeafOf>
  void add_leaves(const TreeAt& tree, LeafOf leaf, std::size_t n, std::size_t n_classes,
                  double* scores) const;
  // For many rows; null if it does not support the forest. Made on first use.
  const CodedForest* coded(const Matrix& x, std::size_t n_trees) const;
  CodedForest make_coded() const;
  void branch_at(const Rows& rows, std::size_t g, std::size_t t,
                 std::span<const std::uint8_t> frozen, std::span<const double> right, double* mass,
                 double* settled) const;
  // Calls visit(tree, first row, number of rows, their leaves' places) for every tree and group.
  // Trees side by side where rows are too few for it.
  template <class Visit>
  void walk(const Rows& rows, std::size_t first, std::size_t last, Visit visit) const;

  mutable std::once_flag once_;
  mutable std::unique_ptr<CodedForest> coded_forest_;
  std::size_t n_columns_ = 0;       // that a matrix must have
  std::size_t n_places_ = 1;        // of features in a row
  std::vector<std::int32_t> used_;  // the features that have one, if they are not the first
  std::vector<Node> nodes_;
  std::vector<std::int32_t> leaf_;          // (n_nodes): leaf number
  std::vector<std::uint8_t> missing_left_;  // (n_nodes)
  std::vector<TreeAt> trees_;
  std::vector<std::int32_t> classes_;
  std::vector<double> values_;
  // Only of forests with sets:
  static constexpr std::size_t kNoSet = ~std::size_t{0};
  std::vector<Coded> coded_;
  std::vector<std::size_t> set_;      // (n_nodes): first word of the node's set, or kNoSet
  std::vector<std::uint64_t> words_;  // bits of the sets
};

}  // namespace edgewise
