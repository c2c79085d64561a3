#include "binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "clones.hpp"

namespace edgewise {

// Strictly between a < b, or a itself where no double lies between: "x <= cut" parts them.
double midpoint(double a, double b) {
  const double mid =
      b - a < std::numeric_limits<double>::infinity() ? a + (b - a) * 0.5 : a * 0.5 + b * 0.5;
  return (mid > a && mid < b) ? mid : a;
}

namespace {

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
    if (closes_bin(filled, next, target)) {
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

// Number of cuts below each of kAbreast values: the searches run side by side, because each of them
// mostly waits for memory. `padded` has a power-of-two size, filled up with infinity.
constexpr std::size_t kAbreast = 16;
EDGEWISE_CLONES void search_cuts(const double* padded, std::size_t size, const double* values,
                                 std::uint32_t* found) {
  std::uint32_t at[kAbreast] = {};
  for (auto step = static_cast<std::uint32_t>(size / 2); step > 0; step /= 2)
    for (std::size_t j = 0; j < kAbreast; ++j)
      at[j] += padded[at[j] + step - 1] < values[j] ? step : 0;
  for (std::size_t j = 0; j < kAbreast; ++j) found[j] = at[j];
}

// The code of one value.
Code code_of(const std::vector<double>& points, bool categorical, double value, Code missing) {
  const auto at = std::lower_bound(points.begin(), points.end(), value);
  const bool known =
      categorical ? at != points.end() && *at == value && !std::isinf(value) : !std::isnan(value);
  return known ? static_cast<Code>(at - points.begin()) : missing;
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

// Which of the features are among these.
std::vector<std::uint8_t> are_among(std::size_t n_features, const std::vector<int>& which) {
  std::vector<std::uint8_t> among(n_features);
  for (const int f : which) among.at(static_cast<std::size_t>(f)) = 1;
  return among;
}

}  // namespace

Cuts empty_cuts(std::size_t n_features, std::vector<std::uint8_t> categorical) {
  Cuts cuts;
  cuts.of_feature.resize(n_features);
  cuts.has_missing.resize(n_features);
  cuts.categorical = std::move(categorical);
  return cuts;
}

void choose_bins(Cuts& cuts, std::size_t f, std::vector<Value> values, Absent absent,
                 int max_bins) {
  const bool categorical = cuts.categorical[f];
  const bool too_many = categorical && values.size() > kMaxCategories;
  cuts.of_feature[f] =
      categorical ? choose_categories(std::move(values)) : choose_cuts(values, max_bins);
  cuts.has_missing[f] = too_many || absent.nan || (categorical && absent.infinity);
}

void encode_column(const Cuts& cuts, std::size_t f, const double* values, std::size_t n, Code* out,
                   std::size_t step) {
  const auto& points = cuts.of_feature[f];
  // X may be changed by others between its reading for cuts and this one: a missing value that is
  // new then falls into the last bin.
  const auto missing = static_cast<Code>(std::max(cuts.n_bins(f), 1) - 1);
  if (n < kAbreast) {  // sparse matrices have many columns of few entries
    for (std::size_t i = 0; i < n; ++i)
      out[i * step] = code_of(points, cuts.categorical[f] != 0, values[i], missing);
    return;
  }
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

Cuts fit_cuts(const Matrix& x, const double* weights, int max_bins,
              const std::vector<int>& categorical, const std::vector<Grouped>& grouped,
              const Team& team) {
  Cuts cuts = empty_cuts(x.cols, are_among(x.cols, categorical));
  const auto mass = weights ? masses(weights, x.rows) : std::vector<std::uint64_t>{};
  each_column(x, team, [&](std::size_t f, const double* column, Sorter& sorter) {
    auto values = sorter.distinct(column, x.rows, mass.empty() ? nullptr : mass.data());
    choose_bins(cuts, f, std::move(values), Absent(column, x.rows), max_bins);
  });
  part_cuts(cuts);
  for (const Grouped& g : grouped) add_groups(g, cuts);
  return cuts;
}

Cuts fit_cuts(const Transposed& x, const double* weights, int max_bins,
              const std::vector<int>& categorical, const std::vector<Grouped>& grouped,
              const Team& team) {
  Cuts cuts = empty_cuts(x.cols, are_among(x.cols, categorical));
  const auto mass = weights ? masses(weights, x.rows) : std::vector<std::uint64_t>{};
  each_column(x, mass, team, [&](std::size_t f, std::vector<Value> values, Absent absent) {
    choose_bins(cuts, f, std::move(values), absent, max_bins);
  });
  for (const Grouped& g : grouped) add_groups(g, cuts);
  return cuts;
}

}  // namespace edgewise
