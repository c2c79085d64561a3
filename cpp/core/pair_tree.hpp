// The pair tree of AOSO-LogitBoost: one tree moves all classes, the pair of classes being chosen
// at every node. A node's histogram holds two sums per bin whatever the number of classes.
#pragma once

#include <memory>
#include <vector>

#include "binned.hpp"
#include "fixed_point.hpp"
#include "histogram.hpp"
#include "pair_leaves.hpp"
#include "pair_search.hpp"
#include "posterior.hpp"
#include "residuals.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// The share of the mean of a node's parent below which its rows take no part in the search. A node
// whose pair this is has larger residuals of it than its parent, so it is more than the share of
// its own mean; but not where there are missing values.
inline double share_of_parent(const BinnedData& data, double negligible) {
  constexpr double kMore = 16.0;
  double share = kMore * negligible;
  for (int f = 0; f < data.n_features; ++f)
    if (data.n_bins(f) > data.n_value_bins(f)) share = negligible;
  return share;
}

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
