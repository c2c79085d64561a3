// Newton: Li's robust LogitBoost gain G^2 / H (UAI 2010), also of ABC-LogitBoost. The weighted
// least-squares gain of LogitBoost without its unstable working response.
#pragma once

namespace edgewise {

struct Newton {
  // Second channel of the split search, from a row's weight and Hessian.
  static double mass(double /*weight*/, double hessian) { return hessian; }
};

}  // namespace edgewise
