// Least squares: Friedman's MART gain S^2 / n, also of ABC-MART: the tree's structure sees first
// derivatives only; Hessians enter the leaf values.
#pragma once

namespace edgewise {

struct LeastSquares {
  static constexpr bool kWeighs = true;  // whether mass() looks at the weights
  static const double* mass(const double* weights, const double* /*hessians*/) { return weights; }
  static double l2(double /*l2*/) { return 0.0; }
  static double value_per_step(double /*factor*/) { return 0.0; }
  static double noise(double /*row_weight*/) { return 0.0; }
};

}  // namespace edgewise
