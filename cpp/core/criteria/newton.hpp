// Newton: Li's robust LogitBoost gain G^2 / H (UAI 2010), also of ABC-LogitBoost. The weighted
// least-squares gain of LogitBoost without its unstable working response.
#pragma once

namespace edgewise {

struct Newton {
  // Second channel of the split search, of all rows.
  static const double* mass(const double* /*weights*/, const double* hessians) { return hessians; }
};

}  // namespace edgewise
