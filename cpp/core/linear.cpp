#include "linear.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "clones.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kBlock = 256;  // rows at a time
constexpr int kExactBits = 53 - 16;  // of sums of products with a column's integer, in doubles
constexpr std::size_t kLanes = 8;    // sums side by side
using Block = std::array<double, kBlock>;

EDGEWISE_CLONES void widen(const std::int16_t* column, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = column[i];
}

EDGEWISE_CLONES void add_scaled(const double* x, double factor, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] += factor * x[i];
}

// Both hold integers, and so does every sum of products: doubles add them exactly. Rows beyond the
// last are zero.
EDGEWISE_CLONES double exact_product(const double* a, const double* b) {
  double sum[kLanes] = {};
  for (std::size_t i = 0; i < kBlock; i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) sum[j] += a[i + j] * b[i + j];
  double total = 0;
  for (double s : sum) total += s;
  return total;
}

// Rounds to an integer: doubles of this size have no fraction.
constexpr double kNoFraction = 0x1.8p52;

// Residuals of one class, n_classes apart, as integers; false if one is not between -1 and 1.
EDGEWISE_CLONES bool round_class(const double* residuals, std::size_t n, std::size_t n_classes,
                                 double unit, double* out) {
  double most = 0;
  bool numbers = true;
  for (std::size_t i = 0; i < n; ++i) {
    const double r = residuals[i * n_classes];
    most = std::max(most, std::abs(r));
    numbers &= r == r;
    out[i] = (r * unit + kNoFraction) - kNoFraction;
  }
  return numbers && most <= 1;
}

// Residuals of a block, class after class.
void round_block(const double* residuals, std::size_t n, std::size_t n_classes, double unit,
                 std::vector<Block>& out) {
  for (std::size_t k = 0; k < n_classes; ++k) {
    if (!round_class(residuals + k, n, n_classes, unit, out[k].data()))
      throw std::invalid_argument("residuals must be from -1 to 1");
    std::fill(out[k].begin() + static_cast<std::ptrdiff_t>(n), out[k].end(), 0.0);
  }
}

}  // namespace

void linear_scores(const Columns& x, const double* coefficients, std::size_t n_classes,
                   double* scores, const Team& team) {
  const std::size_t n_blocks = (x.n_rows + kBlock - 1) / kBlock;
  team.range(n_blocks, 4, [&](std::size_t first, std::size_t last, int) {
    std::vector<Block> sums(n_classes);
    Block column;
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t begin = b * kBlock, n = std::min(kBlock, x.n_rows - begin);
      for (Block& sum : sums) sum.fill(0);
      for (std::size_t j = 0; j < x.n_columns; ++j) {
        widen(x.values + j * x.n_rows + begin, n, column.data());
        for (std::size_t k = 0; k < n_classes; ++k)
          add_scaled(column.data(), coefficients[j * n_classes + k] / kColumnUnit, n,
                     sums[k].data());
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n_classes; ++k)
          scores[(begin + i) * n_classes + k] = sums[k][i];
      team.poll();
    }
  });
}

void linear_gradient(const Columns& x, const double* residuals, std::size_t n_classes,
                     double* gradient, const Team& team) {
  const std::size_t n_blocks = (x.n_rows + kBlock - 1) / kBlock;
  const std::size_t size = x.n_columns * n_classes;
  // |sum| <= n_rows 2^15 unit: below 2^53.
  const double unit = std::ldexp(1.0, kExactBits - static_cast<int>(std::bit_width(x.n_rows)));
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(team.size()));
  team.range(n_blocks, 4, [&](std::size_t first, std::size_t last, int slot) {
    std::vector<double>& sum = sums[static_cast<std::size_t>(slot)];
    sum.resize(size);
    std::vector<Block> rounded(n_classes);
    Block column{};
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t begin = b * kBlock, n = std::min(kBlock, x.n_rows - begin);
      round_block(residuals + begin * n_classes, n, n_classes, unit, rounded);
      for (std::size_t j = 0; j < x.n_columns; ++j) {
        widen(x.values + j * x.n_rows + begin, n, column.data());
        for (std::size_t k = 0; k < n_classes; ++k)
          sum[j * n_classes + k] += exact_product(column.data(), rounded[k].data());
      }
      team.poll();
    }
  });
  std::fill(gradient, gradient + size, 0.0);
  for (const std::vector<double>& sum : sums)
    for (std::size_t e = 0; e < sum.size(); ++e) gradient[e] += sum[e];
  for (std::size_t e = 0; e < size; ++e) gradient[e] /= unit * kColumnUnit;
}

}  // namespace edgewise
