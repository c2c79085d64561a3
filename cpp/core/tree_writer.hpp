// Writes a tree as plain arrays while it grows: a node is a leaf until it is split.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "types.hpp"

namespace edgewise {

class TreeWriter {
 public:
  explicit TreeWriter(const BinnedData& data) : data_(data) {}

  int n_nodes() const { return static_cast<int>(tree_.feature.size()); }

  // Adds a leaf; returns its place.
  int add_node() {
    tree_.feature.push_back(-1);
    tree_.left.push_back(-1);
    tree_.threshold.push_back(0.0);
    tree_.bin.push_back(0);
    tree_.missing_left.push_back(0);
    tree_.gain.push_back(0.0);
    return n_nodes() - 1;
  }

  // Splits the leaf at `place`; returns the place of its left child, the right one is next to it.
  int split(int place, const Split& split) {
    const auto node = static_cast<std::size_t>(place);
    tree_.feature[node] = split.feature;
    tree_.bin[node] = static_cast<Code>(split.bin);
    tree_.threshold[node] = threshold_of(split);
    if (split.categorical) sets_.emplace_back(node, set_of(split));
    tree_.missing_left[node] = split.missing_left;
    tree_.gain[node] = split.gain;
    const int left = add_node();
    tree_.left[node] = left;
    add_node();
    return left;
  }

  // The tree; leaves are numbered by their places.
  Tree finish() {
    std::sort(sets_.begin(), sets_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [node, set] : sets_) tree_.sets.push_back(std::move(set));
    std::int32_t n_leaves = 0;
    for (std::size_t i = 0; i < tree_.feature.size(); ++i)
      if (tree_.feature[i] < 0) tree_.left[i] = n_leaves++;
    return std::move(tree_);
  }

 private:
  double threshold_of(const Split& split) const {
    if (split.categorical) return std::numeric_limits<double>::quiet_NaN();
    const auto& cuts = data_.cuts.of_feature[static_cast<std::size_t>(split.feature)];
    const auto cut = static_cast<std::size_t>(split.bin);
    return cut < cuts.size() ? cuts[cut] : std::numeric_limits<double>::infinity();
  }

  CategorySet set_of(const Split& split) const {
    return {split.left, data_.categories_in(split.feature, split.left)};
  }

  const BinnedData& data_;
  Tree tree_;
  std::vector<std::pair<std::size_t, CategorySet>> sets_;  // by node
};

}  // namespace edgewise
