// Constraints on a tree other than its size: the features that may occur on one path, the
// directions in which classes may move with a feature, and the rows to learn from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace edgewise {

// Which features may stand together on a path from the root. Every feature is in some set.
struct Interactions {
  int at_most = 0;                     // different features on a path; 0: no such limit
  std::vector<std::vector<int>> sets;  // each ascending: a path stays within one. None: no limit

  bool any() const { return at_most > 0 || !sets.empty(); }

  // Takes from `columns` those whose features may not join the features of `path`, which ascend;
  // `feature_of` says to which feature a column belongs.
  void restrict_to(const std::vector<int>& path, const std::vector<int>& feature_of,
                   std::vector<int>& columns) const {
    if (path.empty() || !any()) return;
    if (at_most > 0 && path.size() < static_cast<std::size_t>(at_most)) return;
    std::vector<int> allowed = path;  // a feature of the path may occur again
    for (const auto& set : sets) {
      if (!std::includes(set.begin(), set.end(), path.begin(), path.end())) continue;
      std::vector<int> both;
      std::set_union(allowed.begin(), allowed.end(), set.begin(), set.end(),
                     std::back_inserter(both));
      allowed.swap(both);
    }
    std::erase_if(columns, [&](int column) {
      const int feature = feature_of[static_cast<std::size_t>(column)];
      return !std::binary_search(allowed.begin(), allowed.end(), feature);
    });
  }
};

// An interval of steps.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  double clamp(double x) const { return std::min(std::max(x, low), high); }
};

// How a number may change when a feature grows.
namespace direction {
inline constexpr int kFree = 0, kUp = 1, kDown = -1, kConstant = 2;

inline int reversed(int d) { return d == kConstant ? d : -d; }
inline int both(int a, int b) {
  if (a == kFree || a == b) return b;
  return b == kFree ? a : kConstant;
}

// Bounds of the two sides of a split on the feature: values on the left side are not above (below)
// `middle`, and values on the right side are not below (above) it. All splits further down
// therefore keep the direction.
inline std::pair<Bounds, Bounds> part(Bounds bounds, int d, double middle) {
  const double m = bounds.clamp(middle);
  Bounds left = bounds, right = bounds;
  if (d == kUp || d == kConstant) left.high = right.low = m;
  if (d == kDown || d == kConstant) left.low = right.high = m;
  return {left, right};
}
}  // namespace direction

// The directions in which every class may move with every feature. The difference of a score that
// may only rise and one that may only fall is monotone.
struct Monotone {
  std::size_t n_classes = 0;
  std::vector<std::int8_t> directions;  // (n_features, n_classes); none: all are free

  bool any() const { return !directions.empty(); }
  int of(int feature, int k) const {
    return directions[static_cast<std::size_t>(feature) * n_classes + static_cast<std::size_t>(k)];
  }
  // Of a move of class k up and of the base class, if there is one (not -1), down.
  int of_move(int feature, int k, int base) const {
    return base < 0 ? of(feature, k)
                    : direction::both(of(feature, k), direction::reversed(of(feature, base)));
  }
};

// Rows to learn from in a round.
struct RowSample {
  std::vector<std::uint8_t> drawn;  // (n_rows)
  std::size_t n_drawn = 0;
};

}  // namespace edgewise
