// The split search: over a node's histogram, the feature and bin with the largest
//   A_L^2 / B_L + A_R^2 / B_R - A^2 / B,
// A and B the two channels of the statistics. Ties go to the lowest feature, then
// missing values to the right, then the lowest bin.
//
// A categorical feature is parted into two sets. A^2 / B is convex in (A, B), so the best sets are
// a beginning and the rest of the categories in the order of A / B (Fisher 1958; Breiman et al.
// 1984): as many candidates as cuts. Missing values are a category like the others here. Where the
// noise of A is known, categories that do not stand apart are kept together (category_order.hpp),
// and the cuts in the order of the values are looked at first, as of numbers.
#pragma once

#include <vector>

#include "binned.hpp"
#include "histogram.hpp"
#include "types.hpp"

namespace edgewise {

inline constexpr double kMinRelativeGain = 1e-10;  // below it a gain is rounding
inline constexpr double kTie = 1.0 + 1e-7;         // scores nearer than this are ties

// Units of the two channels do not matter to the choice of the split; `unit` turns the gain back
// into loss: gain = unit * (integer gain).
// `active` lists the features to scan, ascending; those that are constant in this node are removed,
// since they stay constant in its children.
template <class Bin>
Split find_split(const BinnedData& data, const Bin* histogram, Bin total, int min_samples,
                 double unit, std::vector<int>& active);

// Further constraints of a search.
struct SplitRules {
  double l2 = 0.0;  // added to B, in its units: the gain is A_L^2 / (B_L + l2) + ...
  // Monotone trees: which way A / B may go with each feature (n_features), and between which bounds
  // the value of this node's rows stays, in units of A / B. A side of value v gains 2 A v - B v^2.
  const std::int8_t* directions = nullptr;
  Bounds bounds{};
  double noise = 0.0;  // the variance of A per unit of B, in loss; 0: not known
  CutKey cut_key = 0;  // of the node, where cuts are drawn
};

template <class Bin>
Split find_split(const BinnedData& data, const Bin* histogram, Bin total, int min_samples,
                 double unit, const SplitRules& rules, std::vector<int>& active);

// Whether a split separates values; otherwise it separates all values from missing ones.
inline bool parts_values(const BinnedData& data, const Split& split) {
  return split.categorical || split.bin + 1 < data.n_value_bins(split.feature);
}

// Says which bins of a categorical feature go left and right, so that missing values are on the
// right; `grower.hpp` sees to it where the node has none.
void take_sides(const BinnedData& data, const BinSet& left, const BinSet& right, Split& split);

// Among the bins that part the node's rows as `bin` does, the middle one: the cut is centred in
// the gap between the values on the left and those on the right. Where nothing but missing values
// is on the right, it is the last one: all values go left.
template <class Bin>
int centre_in_gap(const BinnedData& data, const Bin* histogram, int feature, int bin);

}  // namespace edgewise
