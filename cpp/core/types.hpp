// The records that the parts of the core exchange.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "control.hpp"
#include "random_cut.hpp"
#include "tree_arrays.hpp"

namespace edgewise {

using Code = std::uint8_t;  // bin of a value: at most 255 value bins and one for missing
using Row = std::uint32_t;  // row number: at most 2^32 - 1 rows, half the memory of size_t
using Label = std::int32_t;

inline constexpr int kMaxValueBins = 255;
inline constexpr int kMaxCategories = 254;  // of a categorical feature: bins of their own

// A set of bins.
class BinSet {
 public:
  void insert(int bin) { words_[at(bin)] |= std::uint64_t{1} << (bin & 63); }
  bool contains(int bin) const { return (words_[at(bin)] >> (bin & 63)) & 1; }

  bool operator==(const BinSet&) const = default;

  // Calls visit(bin) for every bin, ascending.
  template <class Visit>
  void each(Visit visit) const {
    for (int bin = 0; bin < 256; ++bin)
      if (contains(bin)) visit(bin);
  }

 private:
  static std::size_t at(int bin) {
    assert(bin >= 0 && bin < 256);
    return static_cast<std::size_t>(bin) / 64;
  }
  std::array<std::uint64_t, 4> words_{};
};

// A split sends a row left if its bin is at most `bin`; a missing value follows `missing_left`.
// A split of a categorical feature sends left the bins of the set `left` and right all others:
// those of `right`, missing values, and categories that the node did not see.
struct Split {
  double gain = 0.0;  // 0: no split improves the node
  int feature = -1;
  int bin = -1;
  bool missing_left = false;
  bool categorical = false;
  BinSet left{}, right{};  // bins that the node saw

  bool found() const { return feature >= 0; }
};

inline constexpr double kLeafClip = 5.0;  // of the steps of leaves, unless asked for otherwise

// What limits a tree. `max_leaf_nodes` and `max_depth` of 0 mean unlimited, no `features` all.
struct GrowLimits {
  int max_leaf_nodes = 20;
  int max_depth = 0;
  int min_samples_leaf = 1;
  // Rows whose gradient and Hessian are both below this share of the mean take no part in the
  // search for splits (but in leaf values) and do not count for min_samples_leaf.
  double negligible = 1.0 / 64;
  std::vector<int> features;     // those that may be split, ascending
  double l2 = 0.0;               // added to sums of Hessians, in the user's weights
  double min_gain = 0.0;         // that a split must have, in the user's weights
  double max_delta = kLeafClip;  // the largest step of a leaf, before shrinkage
  double weight_unit = 1.0;      // what a weight of one is in the user's weights
  double row_weight = 1.0;       // of a row that counts as one
  Interactions interactions;
  Monotone monotone;
  std::shared_ptr<const RowSample> sample;  // null: all rows
  CutKey cut_key = 0;                       // where cuts are drawn

  double core_l2() const { return l2 / weight_unit; }
  bool is_drawn(std::size_t row) const { return !sample || sample->drawn[row]; }

  // Those of some columns of bins that may be split; `feature_of` says to which feature a column
  // belongs.
  std::vector<int> allowed(std::vector<int> columns, const std::vector<int>& feature_of) const {
    if (features.empty()) return columns;
    std::erase_if(columns, [&](int c) {
      const int feature = feature_of[static_cast<std::size_t>(c)];
      return !std::binary_search(features.begin(), features.end(), feature);
    });
    return columns;
  }
};

// Categories that go left at a node: as bins of the training data and as values, ascending.
struct CategorySet {
  BinSet bins;
  std::vector<double> values;
};

// A finished tree as plain arrays. A leaf's number is j: it moves classes[j * width + m] by
// values[j * width + m] for m < width.
struct Tree : NodeArrays<Vector>, ValueArrays<Vector> {
  std::vector<Code> bin;                   // the same splits on the binned training data
  std::vector<CategorySet> sets;           // of the nodes of threshold NaN, in their order
  std::int32_t width = 0;                  // classes moved by each leaf
  std::vector<std::uint16_t> leaf_of_row;  // (n_rows): where training rows ended
  std::vector<double> sums;  // (n_leaves, ..): what growers of votes leave to the round rule

  // A tree without splits and corrections: boosting ends.
  bool moves_nothing() const {
    if (feature.size() > 1) return false;
    for (const double v : values)
      if (v > 1e-10 || v < -1e-10) return false;
    return true;
  }
};

inline constexpr int kMaxLeaves = std::numeric_limits<std::uint16_t>::max();

}  // namespace edgewise
