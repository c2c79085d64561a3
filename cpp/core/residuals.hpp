// Residuals r_ik - p_ik of all rows and classes in fixed point, row after row: what pair trees
// read. Those of rows with lists of classes are rounded whenever they are asked for.
//
// A residual is positive only for the true class, and then p = 1 - residual; for other classes
// p = -residual. All second derivatives follow from residuals alone, without cancellation.
#pragma once

#include <cstdint>
#include <vector>

#include "criteria/pair.hpp"
#include "fixed_point.hpp"
#include "posterior.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

class Residuals {
 public:
  // Rounds the residuals of all rows, the largest to at least half the units there are.
  void round(const Posterior& posterior, const Team& team);

  // The same for rows that are a part of n_total ones, whose largest weight * residual is given.
  void round(const Posterior& posterior, std::size_t n_total, double largest, const Team& team);

  // Units per 1.0 of n rows, the largest weight * residual given.
  static double scale_for(std::size_t n, double largest);

  // The largest weight * residual of all rows.
  static double largest_of(const Posterior& posterior, const Team& team);

  double scale() const { return scale_; }      // units per 1.0
  double largest() const { return largest_; }  // largest weight * residual

  // Of rows with lists of classes: how node sums tell of classes off the list.
  RestUnits rest_units() const { return {scale_, n_total_}; }

  // Of the given rows: exact sums; of rows with lists of classes, to be completed.
  ClassSums sums(const Row* rows, std::size_t n) const;

  // Residuals of class k of the given rows.
  void gather(const Row* rows, std::size_t n, int k, std::int32_t* out) const;

  // Those of classes r and s, or of all (n_classes, n), and c = 1 / (scale * weight).
  void gather_pair(const Row* rows, std::size_t n, Pair pair, std::int32_t* a, std::int32_t* b,
                   float* c) const;
  void gather_all(const Row* rows, std::size_t n, std::int32_t* out, float* c) const;

 private:
  ClassSums sums_of_lists(const Row* rows, std::size_t n) const;
  std::int32_t of_list(Row row, int k) const;

  const Posterior* posterior_ = nullptr;    // whose residuals these are
  std::size_t n_classes_ = 0, stride_ = 0;  // classes, padded to whole vectors
  std::size_t n_total_ = 0;                 // rows, of which these may be a part
  std::vector<std::int32_t> q_;             // (n_rows, stride), weighted; none of lists
  std::vector<float> curvature_;            // (n_rows)
  double scale_ = 1.0, largest_ = 1.0;
};

// Sum of p_r p_k in units, from the residuals a of r and b of k and the curvatures c.
std::int64_t cross_sum(const std::int32_t* a, const std::int32_t* b, const float* c, std::size_t n);

// First and second derivatives along e_r - e_s, packed, from the residuals a of r and b of s. They
// are at most |a| + |b| and 2 (|a| + |b|).
void derive_pair(const std::int32_t* a, const std::int32_t* b, const float* c, std::size_t n,
                 FixedPoint scale, Packed* stats);

// (p_r + p_s) - (p_r - p_s)^2 from the residuals a and b, multiplied out so that ones cancel.
inline double pair_hessian(double a, double b) {
  const double gap = a - b;
  const double ones = (a > 0.0) | (b > 0.0) ? 2.0 * (gap < 0.0 ? -gap : gap) : 0.0;
  return ones - (a + b) - gap * gap;
}

}  // namespace edgewise
