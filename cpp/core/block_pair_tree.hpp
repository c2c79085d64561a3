// The pair tree of AOSO-LogitBoost grown on blocks of rows: the part of those who hold rows, and
// the part of the one who grows the tree from the blocks' sums. It is the tree of pair_tree.hpp,
// bit for bit.
//
// A node's pair of classes follows from sums over its rows, and its histogram from the pair: two
// trips for every level. Before the first the blocks say how large residuals are; after the last,
// what leaf values are made of. With few classes the sums of all pairs come along with those of the
// classes; with many, those of the pairs that may be the best are asked for in a trip of its own.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "blocks.hpp"
#include "criteria/pair.hpp"
#include "frontier.hpp"
#include "pair_tree.hpp"
#include "posterior.hpp"
#include "residuals.hpp"

namespace edgewise {

// What is asked of the blocks.
struct PairRequests {
  std::vector<Expansion> expansions;
  std::vector<std::int32_t> pairs;  // (n, 3): node, r, s
  std::vector<double> histograms;   // (n, 8): node, r, s, scale of g and h, sums, rows

  static constexpr std::size_t kPairWidth = 3, kHistogramWidth = 8;
  bool empty() const { return expansions.empty() && pairs.empty() && histograms.empty(); }
};

// What they answer; all of it adds up.
struct PairAnswers {
  std::vector<std::int64_t> nodes;  // (n expansions, node_width): rows on the left, on the right,
                                    // missing; then the sums of the left child
  std::vector<std::int64_t> pairs;  // (n, 3): sum p_r p_s; |g|, h along e_r - e_s
  Histograms histograms;
};

// Sums of a node: G and H of every class, then, with few classes, the three sums of every pair.
inline bool all_pairs(int n_classes) { return n_classes <= 8; }
inline std::size_t node_sums(int n_classes) {
  const auto k = static_cast<std::size_t>(n_classes);
  return 2 * k + (all_pairs(n_classes) ? 3 * (k * (k - 1) / 2) : 0);
}

class PairTreeBlock {
 public:
  PairTreeBlock(const BinnedData& data, const Posterior& posterior);

  double largest(const Team& team) const;  // weight * residual

  // Rounds the residuals; the sums of the root, (node_sums).
  std::vector<std::int64_t> begin(std::size_t n_total, double largest, const Team& team);

  // Histograms tell numbers of rows only if `counted`.
  PairAnswers answer(const PairRequests& requests, double negligible, bool counted,
                     const Team& team);

  // Routes all rows through the tree: sums of g and h, (n_leaves, 1 or n_classes, 2). `pairs` of
  // the leaves (n_leaves, 2), or none if leaves move all classes.
  std::vector<std::int64_t> leaf_sums(Tree& tree, std::span<const std::int32_t> pairs,
                                      std::size_t n_total, const Team& team) const;

 private:
  struct Workspace;  // one thread's
  void sums_of(std::span<const Row> rows, std::int64_t* out, Workspace& w) const;
  void part(const Expansion& expansion, std::size_t left, std::int64_t* out, Workspace& w,
            const Team& team);
  template <class Bin>
  std::vector<Bin> histogram(const double* request, double negligible, Workspace& w) const;

  std::int64_t* sums(std::size_t node) { return &sums_[node * node_sums(posterior_.n_classes())]; }

  const BinnedData& data_;
  const Posterior& posterior_;
  Residuals residuals_;
  RowRanges rows_;
  std::vector<std::int64_t> sums_;  // of this block's rows in every node, (n_nodes, node_sums)
};

// Grows the tree. `data` has the cuts and no rows.
class PairTreeDriver {
 public:
  PairTreeDriver(const BinnedData& data, const GrowLimits& limits, int n_classes, LeafKind leaf);
  ~PairTreeDriver();
  PairTreeDriver(const PairTreeDriver&) = delete;
  PairTreeDriver& operator=(const PairTreeDriver&) = delete;

  // The root's sums; `scale` is that of the residuals.
  void take_root(std::size_t n_rows, double largest, std::span<const std::int64_t> sums);

  PairRequests next();  // empty when the tree is done
  void take(std::span<const std::int64_t> nodes, std::span<const std::int64_t> pairs,
            std::span<const Packed> sums, std::span<const std::int32_t> counts, const Team& team);

  Tree finish();                                              // without values of leaves
  std::vector<std::int32_t> pairs() const { return pairs_; }  // of the leaves, (n_leaves, 2)

 private:
  struct State {
    ClassSums sums;
    std::map<std::pair<int, int>, std::array<std::int64_t, 3>> of_pair;
    Pair pair;
  };
  using Growth = Frontier<State>;
  using Node = Growth::Node;
  struct Asked {
    Node* node;
    int left_id;
  };
  struct Searched {
    Node* node;
    Node* parent;
    FixedPoint scale;
  };

  void read_sums(std::span<const std::int64_t> numbers, State& state) const;
  State difference_of(const State& whole, const State& part) const;
  template <class Bin>
  void search(const Searched& searched, const std::vector<Bin>& bins);
  bool choose(Node& node, PairRequests& requests);
  void ask_pairs(Node& node, Pair missing, PairRequests& requests);
  void ask_histogram(Node& node, PairRequests& requests);
  void take_children(Asked asked, std::span<const std::int64_t> numbers);
  bool all_chosen(PairRequests& requests);

  const BinnedData& data_;
  GrowLimits limits_;
  int n_classes_;
  LeafKind leaf_;
  double residual_scale_ = 1.0;
  std::unique_ptr<Growth> growth_;
  int n_ids_ = 1;
  std::vector<Asked> parted_;
  std::vector<std::pair<Node*, std::pair<int, int>>> pairs_asked_;
  std::vector<Searched> searched_;
  std::vector<std::pair<Node*, Node*>> to_search_;  // nodes whose sums are known, their parents
  std::vector<std::int32_t> pairs_;
};

// Gives the leaves their values.
void set_pair_leaves(Tree& tree, int n_classes, std::span<const std::int32_t> pairs,
                     std::span<const std::int64_t> sums, double shrinkage);

}  // namespace edgewise
