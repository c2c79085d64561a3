// Figures over all rows of a column, in parallel and exact: the scales of fixed point follow from
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "threads.hpp"

namespace edgewise {

inline constexpr std::size_t kParallelRows = 1 << 13;  // rows worth several threads

// The largest |x|, at least 1e-300.
double largest(const double* x, std::size_t n, const Team& team);

// Sum of |x|, exact in 1 / unit.
double total(const double* x, std::size_t n, double unit, const Team& team);

// The integer sum behind it, by one thread.
std::int64_t sum_of_sizes(const double* x, std::size_t n, double unit);

}  // namespace edgewise
