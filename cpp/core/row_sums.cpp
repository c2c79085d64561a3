#include "row_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "clones.hpp"
#include "fixed_point.hpp"

namespace edgewise {
namespace {

EDGEWISE_CLONES double largest_of(const double* x, std::size_t n, double at_least) {
  double most[8];
  std::fill(most, most + 8, at_least);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) {
      const double size = std::abs(x[i + j]);
      most[j] = size > most[j] ? size : most[j];
    }
  for (; i < n; ++i) most[0] = std::max(most[0], std::abs(x[i]));
  return *std::max_element(most, most + 8);
}

}  // namespace

EDGEWISE_CLONES std::int64_t sum_of_sizes(const double* x, std::size_t n, double unit) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += to_integer(std::abs(x[i]) * unit);
  return sum;
}

double largest(const double* x, std::size_t n, const Team& team) {
  std::vector<double> most(static_cast<std::size_t>(team.size()), 1e-300);
  team.range(n, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
    double& m = most[static_cast<std::size_t>(slot)];
    m = largest_of(x + begin, end - begin, m);
  });
  return *std::max_element(most.begin(), most.end());
}

double total(const double* x, std::size_t n, double unit, const Team& team) {
  std::vector<std::int64_t> sum(static_cast<std::size_t>(team.size()));
  team.range(n, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
    sum[static_cast<std::size_t>(slot)] += sum_of_sizes(x + begin, end - begin, unit);
  });
  return static_cast<double>(std::accumulate(sum.begin(), sum.end(), std::int64_t{0})) / unit;
}

}  // namespace edgewise
