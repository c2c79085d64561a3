// The search side of trees from two numbers per row, a gradient and a mass: it knows the sums of a
// node and the rules of its split, but no rows. Splits gain A^2 / B as in split.hpp.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "fixed_point.hpp"
#include "frontier.hpp"
#include "histogram.hpp"
#include "split.hpp"
#include "types.hpp"

namespace edgewise {

// The constraints of a monotone tree.
struct Directions {
  std::vector<std::int8_t> of_feature;  // (n_features): see direction; none: all are free
  double value_per_step = 0.0;  // A / B of the search per step of a leaf; 0: they do not compare

  bool any() const { return !of_feature.empty(); }
};

template <class Bin>
struct ChannelState {
  Bin total;
  std::vector<Bin> histogram;
  std::vector<int> active;  // features not constant in the node
  Bounds bounds;            // of the steps of leaves below
};

template <class Bin>
class ChannelSearch {
 public:
  using Node = Leaf<ChannelState<Bin>>;

  ChannelSearch(const BinnedData& data, const GrowLimits& limits) : data_(data), limits_(limits) {}

  FixedPoint scale;       // of the sums
  double l2 = 0.0;        // added to B
  double noise = 0.0;     // of A: see SplitRules
  Directions directions;  // of the leaves' steps

  // Features that the root may be split by.
  std::vector<int> features() const {
    std::vector<int> active = limits_.allowed(data_.varying, data_.feature_of);
    if (directions.any())
      std::erase_if(active, [&](int f) { return direction_of(f) == direction::kConstant; });
    return active;
  }

  // The best split of a node.
  void operator()(Node& node) const {
    if (scale.g == 0.0 || node.state.histogram.empty()) return;
    drop_hopeless(data_, node.state.histogram.data(), node.state.total, limits_.min_samples_leaf,
                  node.state.active);
    const double unit = scale.h / (scale.g * scale.g);
    node.split = find_split(data_, node.state.histogram.data(), node.state.total,
                            limits_.min_samples_leaf, unit, rules(node), node.state.active);
  }

  // Bounds of the children. If a split has a direction, the bounds of its sides meet half-way
  // between their steps, which step(child) gives.
  template <class Step>
  void part_bounds(Node& parent, Step step) const {
    Node &left = *parent.left, &right = *parent.right;
    const Bounds& bounds = parent.state.bounds;
    left.state.bounds = right.state.bounds = bounds;
    if (!directed(parent.split)) return;
    const double middle = (bounds.clamp(step(left)) + bounds.clamp(step(right))) / 2.0;
    std::tie(left.state.bounds, right.state.bounds) =
        direction::part(bounds, direction_of(parent.split.feature), middle);
  }

 private:
  int direction_of(int f) const { return directions.of_feature[static_cast<std::size_t>(f)]; }

  bool directed(const Split& split) const {
    return directions.any() && direction_of(split.feature) != direction::kFree &&
           parts_values(data_, split);
  }

  SplitRules rules(const Node& node) const {
    SplitRules rules{l2 * scale.h};
    rules.cut_key = node.key;
    rules.noise = noise;
    if (!directions.any()) return rules;
    rules.directions = directions.of_feature.data();
    const double per_step = directions.value_per_step * scale.g / scale.h;
    if (per_step > 0.0)
      rules.bounds = {node.state.bounds.low * per_step, node.state.bounds.high * per_step};
    return rules;
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
};

}  // namespace edgewise
