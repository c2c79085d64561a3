// The one who grows the pair tree of AOSO-LogitBoost from the sums of blocks of rows; see
// block_pair_tree.hpp for what travels.
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
  PairTreeDriver(const BinnedData& data, const GrowLimits& limits, int n_classes, LeafKind leaf);
  ~PairTreeDriver();
  PairTreeDriver(const PairTreeDriver&) = delete;
  PairTreeDriver& operator=(const PairTreeDriver&) = delete;

  // The root's sums; `largest` is that of the residuals.
  void take_root(std::size_t n_rows, double largest, std::span<const std::int64_t> sums);

  PairRequests next();  // empty when the tree is done

  // The sums of the blocks' answers.
  struct Answers {
    std::span<const std::int64_t> nodes, pairs;
    std::span<const Packed> sums;
    std::span<const std::int32_t> counts;
  };
  void take(const Answers& answers, const Team& team);

  Tree finish();                                              // without values of leaves
  std::vector<std::int32_t> pairs() const { return pairs_; }  // of the leaves, (n_leaves, 2)

 private:
  struct State {
    std::vector<std::int64_t> sums;                     // (node_sums)
    std::map<std::pair<int, int>, std::int64_t> cross;  // with many classes: H_rs, if known
    Pair pair;
    Sizes above;  // what its units follow from
  };
  using Growth = Frontier<State>;
  using Node = Growth::Node;
  struct Parted {
    Node* node;
    int left_id;
  };

  bool choose(Node& node, PairRequests& requests);
  std::optional<double> cross(const State& state, int r, int k) const;
  void ask_pairs(Node& node, Pair missing, PairRequests& requests);
  void ask_histogram(Node& node, PairRequests& requests) const;
  void ask_children(Node& node, PairRequests& requests);
  void take_children(Parted parted, std::span<const std::int64_t> numbers);
  void search(Node& node, std::size_t histogram, const Answers& answers) const;
  template <class Bin>
  void search(Node& node, const std::vector<Bin>& bins) const;
  void choose_for_leaves(PairRequests& requests);
  Sizes sizes_of(const Node& node) const;

  const BinnedData& data_;
  GrowLimits limits_;
  int n_classes_;
  LeafKind leaf_;
  double residual_scale_ = 1.0;
  std::unique_ptr<Growth> growth_;
  int n_ids_ = 1;
  std::vector<Parted> parted_;
  std::vector<std::pair<Node*, std::pair<int, int>>> pairs_asked_;
  std::vector<std::pair<Node*, Node*>> searches_;   // nodes whose histograms are asked for, parents
  std::vector<std::pair<Node*, Node*>> to_search_;  // nodes whose sums are known, their parents
  std::vector<std::int32_t> pairs_;
};

// Gives the leaves their values.
void set_pair_leaves(Tree& tree, int n_classes, std::span<const std::int32_t> pairs,
                     std::span<const std::int64_t> sums, double shrinkage);

}  // namespace edgewise
