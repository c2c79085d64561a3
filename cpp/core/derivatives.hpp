// Derivatives of the logistic loss: what class trees are grown on.
#pragma once

#include <cstddef>

#include "posterior.hpp"

namespace edgewise {

// First and second derivatives of the loss of rows [begin, end), weighted (null: all weigh one):
// along e_k, or along e_k - e_base. Written from g[0] and h[0] on.
void derive_rows(const Posterior& posterior, int k, int base, const double* weights,
                 std::size_t begin, std::size_t end, double* g, double* h);

// The same along e_k from the residuals r of class k; h
// is p (1 - p), which is |r| (1 - |r|) whether or not k is the true class.
void derive_alone(const double* r, const double* weights, std::size_t n, double* g, double* h);

// Along e_k - e_b from the residuals of k and of the base class b. A residual is positive
// only for the true class, so p = 1 - r there and p = -r elsewhere.
void derive_against(const double* r, const double* base, const double* weights, std::size_t n,
                    double* g, double* h);

}  // namespace edgewise
