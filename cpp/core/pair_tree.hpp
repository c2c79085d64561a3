// The pair tree of AOSO-LogitBoost: one tree moves all classes, the pair of classes being chosen
// at every node. A node's histogram holds two sums per bin whatever the number of classes.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "binned.hpp"
#include "criteria/pair.hpp"
#include "fixed_point.hpp"
#include "histogram.hpp"
#include "posterior.hpp"
#include "residuals.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

enum class LeafKind {
  pair,   // the paper: a leaf moves its pair of classes, v (e_r - e_s)
  vector  // ours: a leaf moves every class by its own Newton step, centred to sum zero
};

// Sums of |residual| over the rows of a node.
struct Sizes {
  std::vector<std::int64_t> of_class;
  std::size_t n_rows = 0;

  std::int64_t of_pair(Pair pair) const {
    return of_class[static_cast<std::size_t>(pair.r)] + of_class[static_cast<std::size_t>(pair.s)];
  }
};

// The share of the mean of a node's parent below which its rows take no part in the search. A node
// whose pair this is has larger residuals of it than its parent, so it is more than the share of
// its own mean; but not where there are missing values, and where there are three categories or
// more nothing is left out: such as have all their rows left out would have no side.
inline double share_of_parent(const BinnedData& data, double negligible) {
  constexpr double kMore = 16.0;
  double share = kMore * negligible;
  for (int f = 0; f < data.n_features; ++f) {
    if (data.is_categorical(f) && data.n_value_bins(f) > 2) return 0.0;
    if (data.n_bins(f) > data.n_value_bins(f)) share = negligible;
  }
  return share;
}

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

// One thread's space for a piece of a node's rows on their way into its histogram.
struct PairPiece {
  static constexpr std::size_t kRows = 4096;  // what is made of so many stays in the nearest cache
  std::vector<Row> rows;                      // those that take part in the search
  std::vector<Packed> stats;

  // Adds n rows, given the residuals a and b of the pair and the curvatures c; returns the total of
  // those that count. A team helps as in add_to_histogram.
  template <class Bin>
  Bin add(const BinnedData& data, const Row* of, std::size_t n, const std::int32_t* a,
          const std::int32_t* b, const float* c, const PairUnits& units, Bin* histogram,
          const Team* team = nullptr) {
    if (rows.size() < n) rows.resize(n), stats.resize(n);
    derive_pair(a, b, c, n, units.scale, stats.data());
    std::size_t kept = 0;
    Bin total{};
    for (std::size_t i = 0; i < n; ++i) {
      const Packed packed = stats[i];
      rows[kept] = of[i];
      stats[kept] = packed;
      kept += units.counts(packed);
    }
    for (std::size_t i = 0; i < kept; ++i) total += Bin::row(stats[i]);
    add_to_histogram(data, rows.data(), stats.data(), kept, histogram, team);
    return total;
  }
};

// Sums over a leaf that its values are made of.
struct PairSums {
  std::int64_t g = 0, h = 0;
};

// Units of the sums that leaf values are made of: n rows, the largest weight * residual given.
inline double pair_leaf_unit(std::size_t n, double largest) { return sum_scale(n, 4.0 * largest); }

// Adds a row to the sums of its leaf: along its pair, or for every class (n_classes).
inline void add_pair(const Posterior& posterior, Row row, Pair pair, double unit, PairSums& sum) {
  const double a = posterior.residual(row, pair.r);
  const double b = posterior.residual(row, pair.s);
  sum.g += to_integer((a - b) * unit);
  sum.h += to_integer(pair_hessian(a, b) * unit);
}
inline void add_all(const Posterior& posterior, Row row, double unit, PairSums* sums) {
  for (int k = 0; k < posterior.n_classes(); ++k) {
    const double residual = posterior.residual(row, k);
    const double size = std::abs(residual);
    sums[k].g += to_integer(residual * unit);
    sums[k].h += to_integer(size * (1.0 - size) * unit);
  }
}

// Says what leaves move, from their sums: the pair of each, (n_leaves), or all classes, (n_leaves,
// n_classes).
void move_pairs(Tree& tree, const std::vector<Pair>& pairs, const std::vector<PairSums>& sums,
                double shrinkage);
void move_all(Tree& tree, int n_classes, const std::vector<PairSums>& sums, double shrinkage);

// Buffers that live as long as a fit, so that rounds do not allocate.
class PairTreeGrower {
 public:
  PairTreeGrower(const BinnedData& data, const Posterior& posterior, const GrowLimits& limits);
  ~PairTreeGrower();
  PairTreeGrower(const PairTreeGrower&) = delete;
  PairTreeGrower& operator=(const PairTreeGrower&) = delete;

  // Within other limits than the fit's, where they are given for this tree.
  Tree grow(LeafKind leaf, double shrinkage, const Team& team, const GrowLimits* limits = nullptr);

 private:
  struct Buffers;
  const BinnedData& data_;
  const Posterior& posterior_;
  GrowLimits limits_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace edgewise
