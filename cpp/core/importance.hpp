// Gains of splits, divided among the classes.
#pragma once

#include <span>

#include "forest.hpp"

namespace edgewise {

// Adds the gains of all splits to out (n_classes, n_features). The gain of a split is divided in
// proportion to the variances of the steps by which the leaves below it move the classes, weighted
// by the covers of the leaves; without variance, in proportion to the mean squares, or equally.
void add_gain_by_class(const ForestArrays& forest, std::span<const double> cover,
                       std::span<const double> gain, std::size_t n_classes, std::size_t n_features,
                       double* out);

}  // namespace edgewise
