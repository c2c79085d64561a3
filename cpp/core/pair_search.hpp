// The search side of pair trees: from the sums of a node its pair of classes, from the histogram of
// the pair's derivatives the best split, and the bounds that a monotone tree keeps to. It knows no
// rows.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "class_lists.hpp"
#include "criteria/pair.hpp"
#include "fixed_point.hpp"
#include "frontier.hpp"
#include "split.hpp"
#include "types.hpp"

namespace edgewise {

// Sums of |residual| over the rows of a node.
struct Sizes {
  std::vector<std::int64_t> of_class;
  std::size_t n_rows = 0;

  std::int64_t of_pair(Pair pair) const {
    return of_class[static_cast<std::size_t>(pair.r)] + of_class[static_cast<std::size_t>(pair.s)];
  }
};

// How derivatives along a node's pair become integers, and which rows take part in its search. It
// follows from the rows of the node's parent (of a root, from its own), so that it is known before
// the node's rows have been looked at.
struct PairUnits {
  FixedPoint scale;
  Threshold counts;

  PairUnits(const Sizes& above, Pair pair, double share)
      : PairUnits(static_cast<double>(above.of_pair(pair)), above.n_rows, share) {}
  PairUnits(double size, std::size_t n, double share)
      : scale{std::min(1.0, FixedPoint::units(size, n)),
              std::min(1.0, FixedPoint::units(2.0 * size, n))},
        counts(share, size * scale.g, size * scale.h, n) {}
};

struct PairState {
  ClassSums sums;
  Sizes above;  // what its units follow from
  Pair pair;
  std::vector<int> active;  // features that may be worth a look
  std::vector<Bounds> box;  // monotone trees: of the steps of every class (n_classes)
};

class PairSearch {
 public:
  // `scale`: units per 1.0 of the residuals of n rows. With a prior, rows have lists of classes.
  PairSearch(const BinnedData& data, const GrowLimits& limits, double scale, std::size_t n,
             const Prior* prior)
      : data_(data), limits_(limits), scale_(scale), prior_(prior), rest_(scale, n) {}

  // The pair of a node; cross(r, k) gives H_rk, which is not used with lists: thousands of classes
  // may have the same bound of their gain, and any of them is good enough.
  template <class Cross>
  Pair pair_of(const ClassSums& sums, Cross cross) const {
    if (!prior_) return choose_pair(sums, l2(), sums.g.size(), cross);
    return choose_pair(completed(sums, *prior_, rest_, scale_), l2(), 1,
                       [](int, int) { return 0.0; });
  }

  // What the units of the children of a node follow from.
  Sizes sizes_of(const ClassSums& sums, std::size_t n_rows) const {
    return {prior_ ? completed(sums, *prior_, rest_, scale_).size : sums.size, n_rows};
  }

  double l2() const { return limits_.core_l2() * scale_; }  // in units of the residuals
  bool monotone() const { return limits_.monotone.any(); }

  // The state of a root, its sums given.
  void plant(PairState& state, std::size_t n_rows) const {
    state.above = sizes_of(state.sums, n_rows);
    state.active = limits_.allowed(data_.varying, data_.feature_of);
    if (monotone()) state.box.resize(limits_.monotone.n_classes);
  }

  // The best split of a node by its pair, of the total and the histogram of those in the search.
  template <class Node, class Bin>
  void operator()(Node& node, FixedPoint scale, const Bin* histogram, Bin total) const {
    std::vector<int> columns = node.state.active;
    SplitRules rules{l2() * scale.h};
    rules.cut_key = node.key;
    rules.noise = limits_.row_weight;
    std::vector<std::int8_t> directions;
    if (monotone()) {
      directions = keep_to_directions(node.state.pair, columns);
      rules.directions = directions.data();
      rules.bounds = bounds_of_pair(node.state, scale.g / scale.h);
      if (rules.bounds.low > rules.bounds.high) return;  // the pair cannot move against itself
    }
    const double unit = scale.h / (scale.g * scale.g) / scale_;
    node.split =
        find_split(data_, histogram, total, limits_.min_samples_leaf, unit, rules, columns);
  }

  // Whether bounds of the children depend on what the two sides of a split would move.
  bool directed(const Split& split) const {
    if (!monotone() || !parts_values(data_, split)) return false;
    for (int k = 0; k < static_cast<int>(limits_.monotone.n_classes); ++k)
      if (direction_of(split, k) != direction::kFree) return true;
    return false;
  }

  // Boxes of the children; steps(side) gives what a side would move if it were a leaf, all classes.
  template <class Node, class Steps>
  void part_box(Node& parent, Steps steps) const {
    const auto& box = parent.state.box;
    Node &left = *parent.left, &right = *parent.right;
    left.state.box = right.state.box = box;
    if (!directed(parent.split)) return;
    const std::vector<double> on_left = steps(left), on_right = steps(right);
    for (std::size_t k = 0; k < box.size(); ++k) {
      const int d = direction_of(parent.split, static_cast<int>(k));
      if (d == direction::kFree) continue;
      std::tie(left.state.box[k], right.state.box[k]) =
          direction::part(box[k], d, (box[k].clamp(on_left[k]) + box[k].clamp(on_right[k])) / 2.0);
    }
  }

 private:
  int direction_of(const Split& split, int k) const {
    return limits_.monotone.of(data_.feature_of[static_cast<std::size_t>(split.feature)], k);
  }

  // Which way the node's pair may move with each column; takes out those with which it may not.
  std::vector<std::int8_t> keep_to_directions(Pair pair, std::vector<int>& columns) const {
    std::vector<std::int8_t> directions(static_cast<std::size_t>(data_.n_features));
    std::erase_if(columns, [&](int column) {
      const auto c = static_cast<std::size_t>(column);
      const int d = limits_.monotone.of_move(data_.feature_of[c], pair.r, pair.s);
      directions[c] = static_cast<std::int8_t>(d);
      return d == direction::kConstant;
    });
    return directions;
  }

  // Of the step of a pair that both its classes allow, in units of A / B.
  Bounds bounds_of_pair(const PairState& state, double unit) const {
    const Bounds& up = state.box[static_cast<std::size_t>(state.pair.r)];
    const Bounds& down = state.box[static_cast<std::size_t>(state.pair.s)];
    return {std::max(up.low, -down.high) * unit, std::min(up.high, -down.low) * unit};
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
  double scale_;
  const Prior* prior_;  // of rows with lists of classes, or null
  RestUnits rest_;
};

}  // namespace edgewise
