// The driver of the pair tree of AOSO-LogitBoost, which grows it from the sums of blocks of rows;
// see block_pair_tree.hpp for what travels.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "block_pair_tree.hpp"
#include "frontier.hpp"

namespace edgewise {

// `data` has the cuts and no rows.
class PairTreeDriver {
 public:
  // `n_total` rows have weights times residuals of at most `largest`. With a prior, the blocks'
  // rows have lists of classes.
  PairTreeDriver(const BinnedData& data, const GrowLimits& limits, int n_classes, LeafKind leaf,
                 double shrinkage, std::size_t n_total, double largest, std::optional<Prior> prior);
  PairTreeDriver(const PairTreeDriver&) = delete;
  PairTreeDriver& operator=(const PairTreeDriver&) = delete;

  // The sums of the root, which holds the rows that are learned from.
  void take_root(std::size_t n_rows, std::span<const std::int64_t> sums);

  PairRequests next();  // empty when the tree is done

  // The sums of the blocks' answers.
  struct Answers {
    std::span<const std::int64_t> nodes, pairs;
    std::span<const Packed> sums;
    std::span<const std::int32_t> counts;
    std::span<const std::int64_t> sides;
  };
  void take(const Answers& answers, const Team& team);

  Tree finish();                                              // without values of leaves
  std::vector<std::int32_t> pairs() const { return pairs_; }  // of the leaves, (n_leaves, 2)

  // Gives the leaves of the finished tree their values, from sums (n_leaves, width, 2).
  void set_leaves(Tree& tree, std::span<const std::int64_t> sums);

 private:
  struct State : PairState {
    std::vector<std::int64_t> few;                      // with few classes: H_rs of all pairs
    std::map<std::pair<int, int>, std::int64_t> cross;  // with many: of those that are known
  };
  using Growth = Frontier<State>;
  using Node = Growth::Node;
  struct Parted {
    Node* node;
    int left_id;
    bool sides;  // whether the sums of both sides are asked for
  };

  bool choose(Node& node, PairRequests& requests);
  std::optional<double> cross(const State& state, int r, int k) const;
  const Prior* listed() const { return prior_ ? &*prior_ : nullptr; }
  void ask_pairs(Node& node, Pair missing, PairRequests& requests);
  void ask_histogram(Node& node, PairRequests& requests) const;
  void ask_children(Node& node, PairRequests& requests);
  void take_sums(State& state, std::span<const std::int64_t> numbers) const;
  void take_children(Parted parted, std::span<const std::int64_t> numbers,
                     std::span<const std::int64_t> sides);
  void search(Node& node, std::size_t histogram, const Answers& answers) const;
  template <class Bin>
  void search(Node& node, const std::vector<Bin>& bins) const;
  void choose_for_leaves(PairRequests& requests);

  const BinnedData& data_;
  GrowLimits limits_;
  int n_classes_;
  LeafKind leaf_;
  std::optional<Prior> prior_;  // of rows with lists of classes
  PairSearch search_;
  PairLeaves leaf_rule_;
  Growth growth_;
  int n_ids_ = 1;
  std::vector<Parted> parted_;
  std::vector<std::pair<Node*, std::pair<int, int>>> pairs_asked_;
  std::vector<std::pair<Node*, Node*>> searches_;   // nodes whose histograms are asked for, parents
  std::vector<std::pair<Node*, Node*>> to_search_;  // nodes whose sums are known, their parents
  std::vector<std::int32_t> pairs_;
};

}  // namespace edgewise
