// Least squares: Friedman's MART gain S^2 / n, also of ABC-MART: the tree's structure sees first
// derivatives only; Hessians enter the leaf values.
#pragma once

namespace edgewise {

struct LeastSquares {
  static double mass(double weight, double /*hessian*/) { return weight; }
};

}  // namespace edgewise
