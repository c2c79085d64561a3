// The distinct values of every column with their masses, from which cut points are chosen.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "matrix.hpp"
#include "threads.hpp"
#include "transposed.hpp"

namespace edgewise {

inline constexpr std::size_t kColumnsAtOnce = 8;  // one cache line of doubles of a row-major matrix

struct Value {
  double value;
  std::uint64_t mass;  // number of rows, or their weight in fixed point: sums are exact
};

// Order-preserving map from doubles (no NaN) to unsigned integers.
inline std::uint64_t sortable(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);  // -0.0 becomes 0.0
  return bits ^ ((bits >> 63) ? ~0ULL : (1ULL << 63));
}

inline double unsortable(std::uint64_t key) {
  return std::bit_cast<double>(key ^ ((key >> 63) ? (1ULL << 63) : ~0ULL));
}

// Least-significant-digit radix sort by `key(element)`; digits that never vary are skipped, and few
// elements are compared.
template <class T, class Key>
void radix_sort(std::vector<T>& items, std::vector<T>& spare, Key key) {
  constexpr int kDigit = 11;
  constexpr std::size_t kFew = 256;  // up to some 400, counting digits takes longer; measured
  if (items.size() < kFew) {
    std::stable_sort(items.begin(), items.end(),
                     [&](const T& a, const T& b) { return key(a) < key(b); });
    return;
  }
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
  static constexpr double kCountable = 65536.0;
  std::vector<std::uint64_t> keys, spare_keys;
  std::vector<Keyed> keyed, spare_keyed;

  // Distinct finite values of a column with their masses, ascending.
  std::vector<Value> distinct(const double* column, std::size_t n, const std::uint64_t* mass) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    bool whole = true;
    for (std::size_t i = 0; i < n && whole; ++i) {
      if (!std::isfinite(column[i])) continue;
      whole = column[i] == std::floor(column[i]);
      low = std::min(low, column[i]);
      high = std::max(high, column[i]);
    }
    return whole && high - low < kCountable ? counted(column, n, mass, low, high)
                                            : sorted(column, n, mass);
  }

  // Whole numbers in a small range are counted instead of sorted.
  static std::vector<Value> counted(const double* column, std::size_t n, const std::uint64_t* mass,
                                    double low, double high) {
    std::vector<Value> values;
    if (high < low) return values;
    std::vector<std::uint64_t> count(static_cast<std::size_t>(high - low) + 1);
    for (std::size_t i = 0; i < n; ++i)
      if (std::isfinite(column[i]))
        count[static_cast<std::size_t>(column[i] - low)] += mass ? mass[i] : 1;
    for (std::size_t v = 0; v < count.size(); ++v)
      if (count[v]) values.push_back({low + static_cast<double>(v), count[v]});
    return values;
  }

  std::vector<Value> sorted(const double* column, std::size_t n, const std::uint64_t* mass) {
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

// Weights in fixed point, 2^20 for the largest: order-free sums, at least one unit each.
inline std::vector<std::uint64_t> masses(const double* weights, std::size_t n, double largest) {
  std::vector<std::uint64_t> mass(n);
  for (std::size_t i = 0; i < n; ++i)
    mass[i] = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(weights[i] / largest * 1048576.0)));
  return mass;
}

inline std::vector<std::uint64_t> masses(const double* weights, std::size_t n) {
  return masses(weights, n, *std::max_element(weights, weights + n));
}

// Which values a column has that take no part in choosing cuts.
struct Absent {
  bool nan = false, infinity = false;

  Absent(bool has_nan, bool has_infinity) : nan(has_nan), infinity(has_infinity) {}
  Absent(const double* column, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      nan |= std::isnan(column[i]);
      infinity |= std::isinf(column[i]);
    }
  }
};

// Calls visit(feature, column, sorter) for every column of x as doubles. Several columns are read
// together, because they are neighbours in memory, and by all threads, because more at a time would
// take more room.
template <class Visit>
void each_column(const Matrix& x, const Team& team, Visit visit) {
  std::vector<Sorter> sorters(static_cast<std::size_t>(team.size()));
  const std::size_t at_once = std::max(kColumnsAtOnce, sorters.size());
  std::vector<double> columns(std::min(at_once, x.cols) * x.rows);
  for (std::size_t first = 0; first < x.cols; first += at_once) {
    const std::size_t last = std::min(x.cols, first + at_once);
    team.range(x.rows, 1 << 13, [&](std::size_t begin, std::size_t end, int) {
      x.columns(begin, end, first, last, columns.data() + begin, x.rows);
    });
    team.each(last - first, [&](std::size_t f, int slot) {
      visit(first + f, columns.data() + f * x.rows, sorters[static_cast<std::size_t>(slot)]);
    });
  }
}

// Zeros that a sparse matrix does not list.
inline void add_zeros(std::vector<Value>& values, std::uint64_t mass) {
  if (mass == 0) return;
  const auto at = std::lower_bound(values.begin(), values.end(), 0.0,
                                   [](const Value& v, double x) { return v.value < x; });
  if (at != values.end() && at->value == 0.0) {
    at->mass += mass;
  } else {
    values.insert(at, {0.0, mass});
  }
}

// The same for a sparse matrix: visit(feature, distinct values, absent).
template <class Visit>
void each_column(const Transposed& x, const std::vector<std::uint64_t>& mass, const Team& team,
                 Visit visit) {
  const std::uint64_t total = std::accumulate(mass.begin(), mass.end(), std::uint64_t{0});
  struct Scratch {
    Sorter sorter;
    std::vector<std::uint64_t> mass;
  };
  std::vector<Scratch> scratch(static_cast<std::size_t>(team.size()));
  team.each(x.cols, [&](std::size_t f, int slot) {
    Scratch& s = scratch[static_cast<std::size_t>(slot)];
    const std::size_t n = x.n_entries(f);
    const double* column = x.value.data() + x.start[f];
    std::uint64_t zeros = x.rows - n;
    if (!mass.empty()) {
      s.mass.clear();
      for (std::size_t e = x.start[f]; e < x.start[f + 1]; ++e) s.mass.push_back(mass[x.row[e]]);
      zeros = total - std::accumulate(s.mass.begin(), s.mass.end(), std::uint64_t{0});
    }
    auto values = s.sorter.distinct(column, n, mass.empty() ? nullptr : s.mass.data());
    add_zeros(values, zeros);
    visit(f, std::move(values), Absent(column, n));
  });
}

}  // namespace edgewise
