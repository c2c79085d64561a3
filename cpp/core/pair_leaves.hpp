// The moves of the leaves of a pair tree, from the exact sums of all their rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "criteria/pair.hpp"
#include "fixed_point.hpp"
#include "posterior.hpp"
#include "residuals.hpp"
#include "types.hpp"

namespace edgewise {

enum class LeafKind {
  pair,   // the paper: a leaf moves its pair of classes, v (e_r - e_s)
  vector  // ours: a leaf moves every class by its own Newton step, centred to sum zero
};

struct PairSums {
  std::int64_t g = 0, h = 0;
};

class PairLeaves {
 public:
  // All n rows, the largest weight * residual given. The fixed point is finer than the residuals'.
  // With a prior, rows have lists of classes, and a leaf moves at most kMostListed of them.
  PairLeaves(LeafKind kind, int n_classes, double shrinkage, const GrowLimits& limits,
             std::size_t n, double largest, const Prior* prior);

  static constexpr std::size_t kMostListed = 256;
  static constexpr double kShareLeftOut = 5e-3;  // of what listing all classes would gain

  std::size_t width() const {  // of sums
    return kind_ == LeafKind::pair ? 1 : prior_ ? n_classes_ + 1 : n_classes_;
  }

  // Of sums that add_rows fills: from a leaf to the next.
  std::size_t stride() const { return moves_all() ? (n_classes_ + 3) / 4 * 4 : width(); }

  // Adds the drawn rows of [begin, end) to the sums (n_leaves, stride) of their leaves, which have
  // these pairs. Places beyond `width` are left undefined.
  void add_rows(const Posterior& posterior, const std::uint16_t* leaf_of_row,
                const RowSample* sample, std::size_t begin, std::size_t end,
                const std::vector<Pair>& pairs, PairSums* sums) const;

  // Adds a row to the sums (width) of a leaf that has this pair.
  void add(const Posterior& posterior, Row row, Pair pair, PairSums* sums) const {
    const double unit = posterior.weight(row) * unit_;
    if (kind_ == LeafKind::pair) {
      add_pair(posterior, row, pair, unit, *sums);
    } else if (prior_) {
      add_listed(posterior, row, unit, sums);
    } else {
      add_all(posterior, row, unit, sums);
    }
  }

  // The steps of all classes, from the sums (width) of a leaf.
  std::vector<double> steps(Pair pair, const PairSums* sums) const;

  // Sets what the leaves move: their pairs, sums (n_leaves, width) and, in monotone trees, boxes.
  void set(Tree& tree, const std::vector<Pair>& pairs, const std::vector<PairSums>& sums,
           const std::vector<const std::vector<Bounds>*>& boxes) const;

 private:
  bool moves_all() const { return kind_ == LeafKind::vector && !prior_; }
  static void add_pair(const Posterior& posterior, Row row, Pair pair, double unit, PairSums& sum);
  static void add_all(const Posterior& posterior, Row row, double unit, PairSums* sums);
  void add_listed(const Posterior& posterior, Row row, double unit, PairSums* sums) const;
  double step(PairSums sum, double factor) const;
  double class_factor() const;
  void put_pair(Tree& tree, Pair pair, PairSums sum) const;
  void put_all(Tree& tree, const PairSums* sums) const;
  struct Step {
    std::int32_t of_class;
    double value;
  };
  std::vector<Step> listed_steps(const PairSums* sums) const;
  void put_listed(Tree& tree, const std::vector<PairSums>& sums) const;

  LeafKind kind_;
  std::size_t n_classes_;
  double shrinkage_;
  double unit_;  // per 1.0 in sums
  double l2_;    // in these units
  double max_delta_;
  const Prior* prior_;  // of rows with lists of classes, or null
  RestUnits rest_;
};

inline void PairLeaves::add_pair(const Posterior& posterior, Row row, Pair pair, double unit,
                                 PairSums& sum) {
  const double a = posterior.residual(row, pair.r);
  const double b = posterior.residual(row, pair.s);
  sum.g += to_integer((a - b) * unit);
  sum.h += to_integer(pair_hessian(a, b) * unit);
}

inline void PairLeaves::add_all(const Posterior& posterior, Row row, double unit, PairSums* sums) {
  for (int k = 0; k < posterior.n_classes(); ++k) {
    const double residual = posterior.residual(row, k);
    const double size = std::abs(residual);
    sums[k].g += to_integer(residual * unit);
    sums[k].h += to_integer(size * (1.0 - size) * unit);
  }
}

}  // namespace edgewise
