#include "derivatives.hpp"

#include <algorithm>
#include <cmath>

#include "clones.hpp"

namespace edgewise {

EDGEWISE_CLONES void derive_alone(const double* r, const double* weights, std::size_t n, double* g,
                                  double* h) {
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weights ? weights[i] : 1.0;
    const double size = std::abs(r[i]);
    g[i] = w * r[i];
    h[i] = w * (size * (1.0 - size));
  }
}

EDGEWISE_CLONES void derive_against(const double* r, const double* base, const double* weights,
                                    std::size_t n, double* g, double* h) {
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weights ? weights[i] : 1.0;
    const double a = std::abs(r[i]), b = std::abs(base[i]);
    const double p = r[i] > 0.0 ? 1.0 - a : a;
    const double p_base = base[i] > 0.0 ? 1.0 - b : b;
    g[i] = w * (r[i] - base[i]);
    h[i] = w * (a * (1.0 - a) + b * (1.0 - b) + 2.0 * p * p_base);
  }
}

void derive_rows(const Posterior& posterior, int k, int base, const double* weights,
                 std::size_t begin, std::size_t end, double* g, double* h) {
  constexpr std::size_t kAtOnce = 512;  // residuals that need not leave the nearest cache
  double of_k[kAtOnce], of_base[kAtOnce];
  for (std::size_t b = begin; b < end; b += kAtOnce, g += kAtOnce, h += kAtOnce) {
    const std::size_t e = std::min(end, b + kAtOnce);
    const double* w = weights ? weights + b : nullptr;
    posterior.residuals(k, b, e, of_k);
    if (base < 0) {
      derive_alone(of_k, w, e - b, g, h);
    } else {
      posterior.residuals(base, b, e, of_base);
      derive_against(of_k, of_base, w, e - b, g, h);
    }
  }
}

}  // namespace edgewise
