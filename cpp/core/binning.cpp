#include "binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "clones.hpp"

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

// Strictly between a < b, or a itself where no double lies between: "x <= cut" parts them.
double midpoint(double a, double b) {
  const double mid =
      b - a < std::numeric_limits<double>::infinity() ? a + (b - a) * 0.5 : a * 0.5 + b * 0.5;
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

// The values themselves; of too many the heaviest, of equally heavy ones the lowest.
std::vector<double> choose_categories(std::vector<Value> values) {
  if (values.size() > kMaxCategories) {
    std::stable_sort(values.begin(), values.end(),
                     [](const Value& a, const Value& b) { return a.mass > b.mass; });
    values.resize(kMaxCategories);
    std::sort(values.begin(), values.end(),
              [](const Value& a, const Value& b) { return a.value < b.value; });
  }
  std::vector<double> categories;
  for (const Value& v : values) categories.push_back(v.value);
  return categories;
}

// Weights in fixed point, 2^20 for the largest: order-free sums, at least one unit each.
std::vector<std::uint64_t> masses(const double* weights, std::size_t n, double largest) {
  std::vector<std::uint64_t> mass(n);
  for (std::size_t i = 0; i < n; ++i)
    mass[i] = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(weights[i] / largest * 1048576.0)));
  return mass;
}

std::vector<std::uint64_t> masses(const double* weights, std::size_t n) {
  return masses(weights, n, *std::max_element(weights, weights + n));
}

// Number of cuts below each of kAbreast values: the searches run side by side, since each of them
// is a chain of waits for memory. `padded` has a power-of-two size, filled up with infinity.
constexpr std::size_t kAbreast = 16;
EDGEWISE_CLONES void search_cuts(const double* padded, std::size_t size, const double* values,
                                 std::uint32_t* found) {
  std::uint32_t at[kAbreast] = {};
  for (auto step = static_cast<std::uint32_t>(size / 2); step > 0; step /= 2)
    for (std::size_t j = 0; j < kAbreast; ++j)
      at[j] += padded[at[j] + step - 1] < values[j] ? step : 0;
  for (std::size_t j = 0; j < kAbreast; ++j) found[j] = at[j];
}

Cuts empty_cuts(std::size_t n_features, const std::vector<int>& categorical) {
  Cuts cuts;
  cuts.of_feature.resize(n_features);
  cuts.has_missing.resize(n_features);
  cuts.categorical.resize(n_features);
  for (const int f : categorical) cuts.categorical.at(static_cast<std::size_t>(f)) = 1;
  return cuts;
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

// The cuts of a feature from its distinct values, and whether any value is missing.
void choose(Cuts& cuts, std::size_t f, std::vector<Value> values, Absent absent, int max_bins) {
  const bool categorical = cuts.categorical[f];
  const bool too_many = categorical && values.size() > kMaxCategories;
  cuts.of_feature[f] =
      categorical ? choose_categories(std::move(values)) : choose_cuts(values, max_bins);
  cuts.has_missing[f] = too_many || absent.nan || (categorical && absent.infinity);
}

// Calls visit(feature, column, sorter) for every column of x as doubles. Columns are read several
// together, since they are neighbours in memory, by all threads, since more would take more room.
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
void add_zeros(std::vector<Value>& values, std::uint64_t mass) {
  if (mass == 0) return;
  const auto at = std::lower_bound(values.begin(), values.end(), 0.0,
                                   [](const Value& v, double x) { return v.value < x; });
  if (at != values.end() && at->value == 0.0) {
    at->mass += mass;
  } else {
    values.insert(at, {0.0, mass});
  }
}

// Deals the cuts of features that have too many for one column out to several.
void part_cuts(Cuts& cuts) {
  constexpr std::size_t kMost = kMaxValueBins - 1;
  const std::size_t n_features = cuts.of_feature.size();
  for (std::size_t f = 0; f < n_features; ++f) {
    const std::vector<double> all = cuts.of_feature[f];
    if (cuts.categorical[f] || all.size() <= kMost) continue;
    const std::size_t n_columns = (all.size() + kMost - 1) / kMost;
    cuts.of_feature[f].clear();
    for (std::size_t c = 1; c < n_columns; ++c) {
      cuts.of_feature.emplace_back();
      cuts.has_missing.push_back(cuts.has_missing[f]);
      cuts.categorical.push_back(0);
      cuts.finer.push_back(static_cast<int>(f));
    }
    const std::size_t first_finer = cuts.of_feature.size() - (n_columns - 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t c = i % n_columns;
      cuts.of_feature[c == 0 ? f : first_finer + c - 1].push_back(all[i]);
    }
  }
}

void add_groups(const Grouped& grouped, Cuts& cuts) {
  const int n_groups = grouped.n_groups();
  cuts.of_feature.at(static_cast<std::size_t>(grouped.feature)) = grouped.own;
  cuts.has_missing[static_cast<std::size_t>(grouped.feature)] = 1;
  auto& numbers = cuts.of_feature.emplace_back(n_groups);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  cuts.categorical.push_back(1);
  cuts.has_missing.push_back(std::find(grouped.codes.begin(), grouped.codes.end(),
                                       static_cast<Code>(n_groups)) != grouped.codes.end());
}

}  // namespace

void encode_column(const Cuts& cuts, std::size_t f, const double* values, std::size_t n, Code* out,
                   std::size_t step) {
  const auto& points = cuts.of_feature[f];
  const auto missing = static_cast<Code>(cuts.n_value_bins(f));
  // One place more than points: a value above all of them finds the first infinity.
  std::array<double, 256> padded;
  padded.fill(std::numeric_limits<double>::infinity());
  std::copy(points.begin(), points.end(), padded.begin());
  const std::size_t size = std::bit_ceil(points.size() + 1);
  // A category must be met exactly; infinity is none, though the padding holds it.
  auto is_missing = [&padded, categorical = cuts.categorical[f] != 0](double value, auto found) {
    return categorical ? value != padded[found] || std::isinf(value) : std::isnan(value);
  };
  double block[kAbreast] = {};
  std::uint32_t found[kAbreast];
  for (std::size_t b = 0; b < n; b += kAbreast) {
    const std::size_t m = std::min(kAbreast, n - b);
    std::copy_n(values + b, m, block);
    search_cuts(padded.data(), size, block, found);
    for (std::size_t j = 0; j < m; ++j)
      out[(b + j) * step] = is_missing(block[j], found[j]) ? missing : static_cast<Code>(found[j]);
  }
}

Summary summarise(const Matrix& x, const double* weights, double largest, const Team& team) {
  Summary summary{std::vector<FeatureSummary>(x.cols)};
  const auto mass = weights ? masses(weights, x.rows, largest) : std::vector<std::uint64_t>{};
  each_column(x, team, [&](std::size_t f, const double* column, Sorter& sorter) {
    FeatureSummary& s = summary.of_feature[f];
    const auto values = sorter.distinct(column, x.rows, mass.empty() ? nullptr : mass.data());
    s.values.reserve(values.size()), s.masses.reserve(values.size());
    for (const Value& v : values) {
      s.values.push_back(v.value);
      s.masses.push_back(v.mass);
    }
    const Absent absent(column, x.rows);
    s.has_nan = absent.nan, s.has_infinity = absent.infinity;
  });
  return summary;
}

Summary merged(const Summary& a, const Summary& b) {
  Summary both{std::vector<FeatureSummary>(a.of_feature.size())};
  for (std::size_t f = 0; f < a.of_feature.size(); ++f) {
    const FeatureSummary &x = a.of_feature[f], &y = b.of_feature[f];
    FeatureSummary& z = both.of_feature[f];
    std::size_t i = 0, j = 0;
    while (i < x.values.size() || j < y.values.size()) {
      const bool take_x =
          j == y.values.size() || (i < x.values.size() && x.values[i] <= y.values[j]);
      const bool take_y =
          i == x.values.size() || (j < y.values.size() && y.values[j] <= x.values[i]);
      z.values.push_back(take_x ? x.values[i] : y.values[j]);
      z.masses.push_back((take_x ? x.masses[i] : 0) + (take_y ? y.masses[j] : 0));
      i += take_x, j += take_y;
    }
    z.has_nan = x.has_nan || y.has_nan;
    z.has_infinity = x.has_infinity || y.has_infinity;
  }
  return both;
}

Cuts cuts_of(const Summary& summary, int max_bins, const std::vector<int>& categorical) {
  Cuts cuts = empty_cuts(summary.of_feature.size(), categorical);
  for (std::size_t f = 0; f < summary.of_feature.size(); ++f) {
    const FeatureSummary& s = summary.of_feature[f];
    std::vector<Value> values;
    for (std::size_t i = 0; i < s.values.size(); ++i) values.push_back({s.values[i], s.masses[i]});
    choose(cuts, f, std::move(values), {s.has_nan, s.has_infinity}, max_bins);
  }
  return cuts;
}

Cuts fit_cuts(const Matrix& x, const double* weights, int max_bins,
              const std::vector<int>& categorical, const std::vector<Grouped>& grouped,
              const Team& team) {
  Cuts cuts = empty_cuts(x.cols, categorical);
  const auto mass = weights ? masses(weights, x.rows) : std::vector<std::uint64_t>{};
  each_column(x, team, [&](std::size_t f, const double* column, Sorter& sorter) {
    auto values = sorter.distinct(column, x.rows, mass.empty() ? nullptr : mass.data());
    choose(cuts, f, std::move(values), Absent(column, x.rows), max_bins);
  });
  part_cuts(cuts);
  for (const Grouped& g : grouped) add_groups(g, cuts);
  return cuts;
}

Cuts fit_cuts(const Transposed& x, const double* weights, int max_bins,
              const std::vector<int>& categorical, const std::vector<Grouped>& grouped,
              const Team& team) {
  Cuts cuts = empty_cuts(x.cols, categorical);
  const auto mass = weights ? masses(weights, x.rows) : std::vector<std::uint64_t>{};
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
    choose(cuts, f, std::move(values), Absent(column, n), max_bins);
  });
  for (const Grouped& g : grouped) add_groups(g, cuts);
  return cuts;
}

}  // namespace edgewise
