#include "binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace edgewise {
namespace {

constexpr std::size_t kColumnsAtOnce = 8;  // one cache line of doubles of a row-major matrix

struct Value {
  double value;
  std::uint64_t mass;  // number of rows, or their weight in fixed point: sums are exact
};

// Order-preserving map from doubles (no NaN) to unsigned integers.
std::uint64_t sortable(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // -0.0 becomes 0.0
  return bits ^ ((bits >> 63) ? ~0ULL : (1ULL << 63));
}

double unsortable(std::uint64_t key) {
  return std::bit_cast<double>(key ^ ((key >> 63) ? (1ULL << 63) : ~0ULL));
}

// Least-significant-digit radix sort by `key(element)`; digits that never vary are skipped.
template <class T, class Key>
void radix_sort(std::vector<T>& items, std::vector<T>& spare, Key key) {
  constexpr int kDigit = 11;
  spare.resize(items.size());
  for (int shift = 0; shift < 64; shift += kDigit) {
    std::array<std::size_t, (1 << kDigit) + 1> start{};
    for (const T& item : items) ++start[((key(item) >> shift) & ((1 << kDigit) - 1)) + 1];
    if (std::find(start.begin(), start.end(), items.size()) != start.end()) continue;
    for (std::size_t d = 1; d < start.size(); ++d) start[d] += start[d - 1];
    for (const T& item : items) spare[start[(key(item) >> shift) & ((1 << kDigit) - 1)]++] = item;
    items.swap(spare);
  }
}

struct Keyed {
  std::uint64_t key;
  std::uint64_t mass;
};

// Scratch of one thread: reused from column to column.
struct Sorter {
  std::vector<std::uint64_t> keys, spare_keys;
  std::vector<Keyed> keyed, spare_keyed;

  // Distinct finite values of a column with their masses, ascending.
  std::vector<Value> distinct(const double* column, std::size_t n, const std::uint64_t* mass) {
    std::vector<Value> values;
    auto append = [&](std::uint64_t key, std::uint64_t m) {
      const double v = unsortable(key);
      if (!values.empty() && values.back().value == v) {
        values.back().mass += m;
      } else {
        values.push_back({v, m});
      }
    };
    if (mass) {
      keyed.clear();
      for (std::size_t i = 0; i < n; ++i)
        if (std::isfinite(column[i])) keyed.push_back({sortable(column[i]), mass[i]});
      radix_sort(keyed, spare_keyed, [](const Keyed& k) { return k.key; });
      for (const Keyed& k : keyed) append(k.key, k.mass);
    } else {
      keys.clear();
      for (std::size_t i = 0; i < n; ++i)
        if (std::isfinite(column[i])) keys.push_back(sortable(column[i]));
      radix_sort(keys, spare_keys, [](std::uint64_t k) { return k; });
      for (const std::uint64_t k : keys) append(k, 1);
    }
    return values;
  }
};

// Strictly between a < b, or a itself where no double lies between: "x <= cut" parts them.
double midpoint(double a, double b) {
  const double mid = b - a < std::numeric_limits<double>::infinity() ? a + (b - a) * 0.5
                                                                     : a * 0.5 + b * 0.5;
  return (mid > a && mid < b) ? mid : a;
}

// Cuts so that every bin holds about the same mass; a heavy value gets a bin of its own.
std::vector<double> choose_cuts(const std::vector<Value>& values, int max_bins) {
  std::vector<double> cuts;
  if (values.size() <= static_cast<std::size_t>(max_bins)) {
    for (std::size_t i = 1; i < values.size(); ++i)
      cuts.push_back(midpoint(values[i - 1].value, values[i].value));
    return cuts;
  }
  double left = 0.0;  // mass not yet in a closed bin; integers below 2^53 add exactly
  for (const Value& v : values) left += static_cast<double>(v.mass);
  double filled = 0.0;
  int bins_left = max_bins;
  for (std::size_t i = 0; i + 1 < values.size() && bins_left > 1; ++i) {
    filled += static_cast<double>(values[i].mass);
    const double target = left / bins_left;
    const auto next = static_cast<double>(values[i + 1].mass);
    // Close the bin where that comes nearer to the target than taking the next value in.
    if (filled >= target || filled + next - target > target - filled) {
      cuts.push_back(midpoint(values[i].value, values[i + 1].value));
      left -= filled;
      filled = 0.0;
      --bins_left;
    }
  }
  return cuts;
}

// Weights in fixed point, 2^20 for the largest: order-free sums, at least one unit each.
std::vector<std::uint64_t> masses(const double* weights, std::size_t n) {
  const double largest = *std::max_element(weights, weights + n);
  std::vector<std::uint64_t> mass(n);
  for (std::size_t i = 0; i < n; ++i)
    mass[i] = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(weights[i] / largest * 1048576.0)));
  return mass;
}

}  // namespace

Cuts fit_cuts(const Matrix& x, const double* weights, int max_bins, const Team& team) {
  Cuts cuts;
  cuts.of_feature.resize(x.cols);
  cuts.has_missing.resize(x.cols);
  const auto mass = weights ? masses(weights, x.rows) : std::vector<std::uint64_t>{};
  std::vector<Sorter> sorters(static_cast<std::size_t>(team.size()));
  const std::size_t n_groups = (x.cols + kColumnsAtOnce - 1) / kColumnsAtOnce;
  team.each(n_groups, [&](std::size_t group, int slot) {
    const std::size_t first = group * kColumnsAtOnce;
    const std::size_t last = std::min(x.cols, first + kColumnsAtOnce);
    std::vector<double> columns((last - first) * x.rows);
    x.columns(0, x.rows, first, last, columns.data());
    for (std::size_t f = first; f < last; ++f) {
      const double* column = columns.data() + (f - first) * x.rows;
      const auto values = sorters[static_cast<std::size_t>(slot)].distinct(
          column, x.rows, mass.empty() ? nullptr : mass.data());
      cuts.of_feature[f] = choose_cuts(values, max_bins);
      cuts.has_missing[f] =
          std::any_of(column, column + x.rows, [](double v) { return std::isnan(v); });
    }
  });
  return cuts;
}

}  // namespace edgewise
