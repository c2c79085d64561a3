// Newton: Li's robust LogitBoost gain G^2 / H (UAI 2010), also of ABC-LogitBoost. The weighted
// least-squares gain of LogitBoost without its unstable working response.
#pragma once

namespace edgewise {

struct Newton {
  static constexpr bool kWeighs = false;  // whether mass() looks at the weights
  // Second channel of the split search, of all rows.
  static const double* mass(const double* /*weights*/, const double* hessians) { return hessians; }
  // What is added to its sums, and their quotient for a leaf's step of one.
  static double l2(double l2) { return l2; }
  static double value_per_step(double factor) { return 1.0 / factor; }
  // The variance of A per unit of B under the log loss.
  static double noise(double row_weight) { return row_weight; }
};

}  // namespace edgewise
