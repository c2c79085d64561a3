// Hamming trees grown on blocks of rows: the part of the workers, which hold rows, and what the
// driver knows of their histograms. They are the trees of hamming_tree.hpp, bit for bit.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "blocks.hpp"
#include "edge.hpp"
#include "lane_tree.hpp"
#include "level_driver.hpp"

namespace edgewise {

class HammingTreeBlock {
 public:
  explicit HammingTreeBlock(const BinnedData& data);

  // Lanes of the rows; the root's histogram, (n_places, lanes).
  std::vector<Lane> begin(const double* signed_weights, int n_classes, EdgeScale scale,
                          const Team& team);
  std::vector<Lane> expand(const std::vector<Expansion>& expansions, const Team& team);

 private:
  void fill(std::span<const Row> rows, Lane* out, const Team& team) const;

  const BinnedData& data_;
  std::unique_ptr<EdgeRows> lanes_;
  RowRanges rows_;
};

class HammingHistograms {
 public:
  struct State {
    std::vector<Lane> histogram;
    std::vector<int> active;  // features not constant in the node
  };
  using Node = Leaf<State>;
  using Sums = std::span<const Lane>;  // (n_nodes, n_places, lanes)

  // `data` has the cuts and no rows.
  HammingHistograms(const BinnedData& data, const GrowLimits& limits, int n_classes, double unit)
      : data_(data), limits_(limits), score_(n_classes, unit) {}

  State read(const Sums& sums, std::size_t i) const {
    const std::size_t size = data_.n_places() * score_.lanes();
    const auto part = sums.subspan(i * size, size);
    return {{part.begin(), part.end()}, {}};
  }
  void subtract(State& a, const State& b) const {
    for (std::size_t p = 0; p < a.histogram.size(); ++p) a.histogram[p] -= b.histogram[p];
  }
  std::size_t count(const State& s, std::size_t place) const {
    return static_cast<std::size_t>(score_.count(&s.histogram[place * score_.lanes()]));
  }
  std::size_t n_rows(const State& s) const {
    std::size_t n = 0;
    for (std::size_t place = 0; place < data_.offset[1]; ++place) n += count(s, place);
    return n;
  }
  std::vector<int> features(std::size_t) const {
    return limits_.allowed(data_.varying, data_.feature_of);
  }
  void search(std::size_t tree, Node& node, const Team& team) const;
  bool has_bounds(std::size_t) const { return false; }
  void part_bounds(std::size_t, Node&, const Sums&, std::size_t) const {}

 private:
  const BinnedData& data_;
  GrowLimits limits_;
  EdgeScore score_;
};

using HammingTreeDriver = LevelDriver<HammingHistograms>;
extern template class LevelDriver<HammingHistograms>;

}  // namespace edgewise
