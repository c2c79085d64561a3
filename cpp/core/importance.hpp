// Gains of splits, parted among the classes.
#pragma once

#include <span>

#include "forest.hpp"

namespace edgewise {

// Adds the gains of all splits to out (n_classes, n_features). The gain of a split is parted in
// proportion to the variances of what the leaves below it move the classes by, weighted by the
// leaves' covers; where no variance is left, to the mean squares; else equally.
void add_gain_by_class(const ForestArrays& forest, std::span<const double> cover,
                       std::span<const double> gain, std::size_t n_classes, std::size_t n_features,
                       double* out);

}  // namespace edgewise
