// Lanes: at every place of a histogram a vector of 32-bit sums, one per class and one that counts
// rows, so that one vector addition serves eight classes. Totals stay below 2^30: sums and their
// differences are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "fixed_point.hpp"
#include "types.hpp"

namespace edgewise {

using Lane = std::int32_t;
inline constexpr std::size_t kLanesAtOnce = 8;

// Wraps: places of features that are not looked at are never cleared, and may overflow.
inline void add_to(Lane& sum, Lane value) {
  sum = static_cast<Lane>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(value));
}

// Lanes of a place: the classes, a count of rows, and zeros up to whole vectors.
inline std::size_t lanes_for(int n_classes) {
  return (static_cast<std::size_t>(n_classes) + kLanesAtOnce) / kLanesAtOnce * kLanesAtOnce;
}

// Units per 1.0 for `n` numbers whose sizes sum to `total`: at most 2^30 in all.
inline double lane_units(double total, std::size_t n) {
  if (n >= std::size_t{1} << 28)
    throw std::invalid_argument("rows times classes must be below 2^28 for these trees");
  return total > 0.0 ? power_of_two_below((0x1p30 - static_cast<double>(n)) / total) : 0.0;
}

// The best cut of a feature: after a bin, or, of a categorical feature, around a set.
struct Cut {
  double score = -1.0;
  int bin = -1;
  bool missing_left = false;
  BinSet left{};
};

}  // namespace edgewise
