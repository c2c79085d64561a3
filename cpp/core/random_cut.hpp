// Random cuts, as in extremely randomised trees (Geurts, Ernst and Wehenkel 2006): of every feature
// one cut is looked at, drawn among those that part the node's rows; the best of these is taken.
//
// A draw is a hash of the tree's key, of the way from its root to the node, and of the feature. So
// it depends neither on the order in which nodes are grown, nor on threads, nor on that of the
// rows.
//
// Deviation: cuts are drawn evenly over bins, the values in their order, not over the range of the
// values: a feature may be rescaled as one likes.
#pragma once

#include <cstdint>

namespace edgewise {

using CutKey = std::uint64_t;  // of a tree or a node; 0: cuts are not drawn

// In the place of the only cut to look at.
inline constexpr int kNoCut = -1;
inline constexpr int kAllCuts = -2;

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014), after one step of its counter.
inline std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// The key of a part: of one of several trees, or of one of the two children of a node.
inline CutKey key_of_part(CutKey whole, std::uint64_t part) {
  return whole == 0 ? 0 : mixed(whole ^ mixed(~part)) | 1;
}

// What is drawn for a feature of a node.
enum class Drawn : std::uint64_t { cut = 0, cut_missing_left = 1, class_of_order = 2 };

// A number from 0 to n - 1.
inline int draw(CutKey key, int feature, Drawn what, int n) {
  const auto place = 4 * static_cast<std::uint64_t>(feature) + static_cast<std::uint64_t>(what);
  return static_cast<int>((mixed(key ^ mixed(place)) >> 32) * static_cast<std::uint64_t>(n) >> 32);
}

struct CutLimits {
  std::int64_t missing;  // rows whose value is missing
  bool missing_left;     // the side they go to
  std::int64_t least;    // rows on both sides
};

// The cut of a feature to look at, as the last bin with rows on its left, or kNoCut. `rows_in(b)`
// rows have values in bin b. As in the search for the best cut, values are on both sides of it, or
// all of them left and the missing ones right. Bins are looked at from both ends up to where cuts
// have enough rows; those without rows, of which small nodes have many, four at a time.
template <class RowsIn>
int draw_cut(CutKey key, int feature, int n_bins, CutLimits limits, RowsIn rows_in) {
  const std::int64_t missing_right = limits.missing_left ? 0 : limits.missing;
  const std::int64_t least_left = limits.least - (limits.missing - missing_right);
  const auto any_of_four = [&](int b) {
    return (rows_in(b) | rows_in(b + 1) | rows_in(b + 2) | rows_in(b + 3)) != 0;
  };
  int first = 0, last = n_bins - 1;
  while (first + 4 < last && !any_of_four(first)) first += 4;
  while (first + 4 < last && !any_of_four(last - 3)) last -= 4;
  std::int64_t left = rows_in(first),
               right = 0;  // rows with values on the sides of `first`, `last`
  while (first < last && (left == 0 || left < least_left)) left += rows_in(++first);
  while (last > first) {
    const std::int64_t n = rows_in(last);
    if (right + n > 0 && right + missing_right >= limits.least) break;
    right += n, --last;
  }
  if (left == 0 || left < least_left || right + missing_right < limits.least) return kNoCut;
  const Drawn what = limits.missing_left ? Drawn::cut_missing_left : Drawn::cut;
  int cut = first + draw(key, feature, what, last - first + 1);
  while (cut > first && rows_in(cut) == 0) --cut;
  return cut;
}

}  // namespace edgewise
