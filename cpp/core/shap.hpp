// Exact Shapley values of a forest's scores, one number for every row, feature and class.
//
// The game: a coalition of features is known, of the other features only the distribution of the
// training rows is known. Its value is the expected score when a row follows the splits on known
// features, and at the others goes left and right in proportion to the covers of the two children
// (Lundberg et al., "From local explanations to global understanding with explainable AI for
// trees", 2020: the path-dependent game).
//
// A leaf whose path splits m distinct features adds its value to that of a coalition S times
//   prod_{i in S} o_i  prod_{i not in S} z_i,
// o_i: whether the row takes the path at all nodes of feature i; z_i: the product of their covers'
// shares. Shapley's weights are integrals, s! (m-1-s)! / m! = int_0^1 t^s (1-t)^(m-1-s) dt, hence
//   phi_j = value (o_j - z_j) int_0^1 prod_{i != j} (t o_i + (1-t) z_i) dt,
// a polynomial of degree m - 1, which ceil(m / 2) points of Gauss and Legendre integrate exactly.
// Every factor is positive, so nothing cancels.
#pragma once

#include <span>

#include "forest.hpp"
#include "matrix.hpp"
#include "threads.hpp"

namespace edgewise {

// Adds the Shapley values to out (rows, features, n_classes). The sum over the features is the
// score of the trees minus what add_expected_scores gives.
void add_shapley_values(const ForestArrays& forest, std::span<const double> cover, const Matrix& x,
                        std::size_t n_classes, double* out, const Team& team);

// Adds the value of the empty coalition to out (n_classes).
void add_expected_scores(const ForestArrays& forest, std::span<const double> cover, double* out);

}  // namespace edgewise
