#include "checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

static_assert(
    std::endian::native == std::endian::little,
    "edgewise needs a little-endian processor, such as x86-64 or ARM: model files and the "
    "packed statistics have that order of bytes, and none for the other is tested.");

namespace edgewise {
namespace {

void need(bool condition, const char* words) {
  if (!condition) throw std::invalid_argument(words);
}

bool is_finite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

template <class T>
bool ascends(const std::vector<T>& numbers) {
  return std::ranges::adjacent_find(numbers, std::greater_equal{}) == numbers.end();
}

bool is_boolean(const std::vector<std::uint8_t>& flags) {
  return std::ranges::all_of(flags, [](std::uint8_t flag) { return flag <= 1; });
}

std::size_t count_leaves(const Tree& tree) {
  return static_cast<std::size_t>(std::ranges::count(tree.feature, -1));
}

void check_lengths(const Tree& tree) {
  const std::size_t n = tree.feature.size();
  need(n > 0 && tree.left.size() == n && tree.threshold.size() == n && tree.bin.size() == n &&
           tree.missing_left.size() == n && tree.gain.size() == n &&
           (tree.cover.size() == n || tree.cover.empty()),
       "the arrays of a tree's nodes must have one length");
  need(is_boolean(tree.missing_left) && is_finite(tree.gain) && is_finite(tree.cover),
       "gains and covers of a tree must be finite numbers");
}

// Children come after their parent, and every node but the root is the child of exactly one.
void check_children(const Tree& tree) {
  const std::size_t n = tree.feature.size();
  std::vector<std::uint8_t> is_child(n);
  is_child[0] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    need(tree.feature[i] >= -1, "a feature must not be negative");
    if (tree.feature[i] < 0) continue;
    const auto left = static_cast<std::size_t>(tree.left[i]);  // a negative one is too large
    need(left > i && left < n - 1 && !is_child[left] && !is_child[left + 1],
         "the children of a node must come after it, and be no other node's");
    is_child[left] = is_child[left + 1] = 1;
  }
  need(std::ranges::count(is_child, 0) == 0, "every node but the root must be a child");
}

void check_leaves(const Tree& tree) {
  const std::size_t n_leaves = count_leaves(tree);
  need(n_leaves <= static_cast<std::size_t>(kMaxLeaves), "a tree has at most 65535 leaves");
  std::vector<std::uint8_t> seen(n_leaves);
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] >= 0) continue;
    const auto number = static_cast<std::size_t>(tree.left[i]);
    need(number < n_leaves && !seen[number], "leaves must be numbered from 0, each number once");
    seen[number] = 1;
  }
  const auto width = static_cast<std::size_t>(std::max(tree.width, 0));
  need(tree.width >= 0 && tree.classes.size() == n_leaves * width &&
           tree.values.size() == tree.classes.size() && tree.sums.size() % n_leaves == 0,
       "every leaf of a tree must have `width` values");
  need(is_finite(tree.values) && is_finite(tree.sums), "values of leaves must be finite");
  need(std::ranges::all_of(tree.classes, [](std::int32_t k) { return k >= 0; }),
       "classes must not be negative");
}

void check_sets(const Tree& tree) {
  std::size_t n_sets = 0;
  for (std::size_t i = 0; i < tree.threshold.size(); ++i) {
    if (!std::isnan(tree.threshold[i])) continue;
    need(tree.feature[i] >= 0, "a leaf has no set of categories");
    ++n_sets;
  }
  need(tree.sets.size() == n_sets, "there must be a set for every node of threshold NaN");
  for (const CategorySet& set : tree.sets)
    need(is_finite(set.values) && ascends(set.values), "the categories of a set must ascend");
}

}  // namespace

void need_rows_and_columns(std::size_t n_rows, std::size_t n_columns) {
  need(n_rows > 0, "there must be at least one row to learn from");
  need(n_columns > 0, "there must be at least one column to learn from");
}

void need_finite(std::span<const double> numbers, const char* name) {
  if (!is_finite(numbers))
    throw std::invalid_argument(std::string(name) + " must hold finite numbers");
}

void need_weights(std::span<const double> weights, std::size_t n_rows) {
  need(weights.size() == n_rows, "there must be one weight per row");
  bool fine = true;
  double largest = 0.0;
  for (const double w : weights) {
    fine &= w >= 0.0;  // NaN is not
    largest = w > largest ? w : largest;
  }
  need(fine && std::isfinite(largest), "weights must be finite numbers that are not negative");
  need(largest > 0.0 || n_rows == 0, "there must be at least one positive weight");
}

void need_labels(std::span<const Label> labels, std::size_t n_classes) {
  bool fine = true;
  for (const Label y : labels) fine &= static_cast<std::size_t>(y) < n_classes;
  need(fine, "labels must be numbers of classes");
}

void need_codes(std::span<const Code> codes, std::size_t n_rows, const Cuts& cuts) {
  const std::size_t d = cuts.of_feature.size();
  need(n_rows == 0 ? codes.empty() : codes.size() / n_rows == d && codes.size() % n_rows == 0,
       "there must be one bin per row and column");
  for (std::size_t f = 0; f < d; ++f) {
    const auto column = codes.subspan(f * n_rows, n_rows);
    const int n_bins = cuts.n_bins(f);
    int most = 0;
    for (const Code code : column) most = code > most ? code : most;
    need(column.empty() || most < n_bins, "bins must be those of the cuts");
  }
}

void need_lists(std::span<const std::int64_t> start, std::span<const Row> rows,
                std::span<const Code> codes, std::size_t n_rows, const Cuts& cuts) {
  const std::size_t d = cuts.of_feature.size();
  need(cuts.finer.empty() && start.size() == d + 1 && start[0] == 0 &&
           rows.size() == codes.size() && std::is_sorted(start.begin(), start.end()) &&
           static_cast<std::size_t>(start[d]) == rows.size(),
       "there must be one list per column");
  for (std::size_t f = 0; f < d; ++f) {
    const auto begin = static_cast<std::size_t>(start[f]);
    const auto end = static_cast<std::size_t>(start[f + 1]);
    for (std::size_t e = begin; e < end; ++e) {
      need(rows[e] < n_rows && (e == begin || rows[e - 1] < rows[e]),
           "listed rows must ascend and be among the rows");
      need(codes[e] < cuts.n_bins(f), "bins must be those of the cuts");
    }
  }
}

void need_columns(std::size_t n_columns, const Cuts& cuts) {
  need(n_columns == cuts.of_feature.size() - cuts.finer.size(),
       "the matrix must have the columns that the cuts were made for");
}

void check(const Summary& summary) {
  constexpr std::uint64_t kMostMass = std::uint64_t{1} << 53;  // sums of masses are exact
  constexpr double kLargest = std::numeric_limits<double>::max();
  for (const FeatureSummary& s : summary.of_feature) {
    need(s.keys.size() == s.masses.size() && s.keys.size() <= summary.most && ascends(s.keys),
         "the keys of a summary must ascend, each with its mass, and be no more than it may list");
    need(s.dropped >= 0 && s.dropped < 64, "a summary must drop from 0 to 63 bits");
    const Key low = (Key{1} << s.dropped) - 1;
    for (const Key key : s.keys)
      need((key & low) == 0 && (key | low) >= sortable(-kLargest) && key <= sortable(kLargest),
           "the keys of a summary must be of finite numbers, without dropped bits");
    std::uint64_t total = 0;
    for (const std::uint64_t mass : s.masses) {
      need(mass >= 1 && mass <= kMostMass - total, "the masses of a summary must be counts");
      total += mass;
    }
  }
}

void check(const Cuts& cuts) {
  const std::size_t d = cuts.of_feature.size();
  need(cuts.has_missing.size() == d && cuts.categorical.size() == d &&
           is_boolean(cuts.has_missing) && is_boolean(cuts.categorical),
       "cuts must say of every column whether it is categorical and has missing values");
  for (std::size_t f = 0; f < d; ++f) {
    const auto& points = cuts.of_feature[f];
    const int most = cuts.categorical[f] ? kMaxCategories : kMaxValueBins - 1;
    need(points.size() <= static_cast<std::size_t>(most), "a column has at most 255 bins");
    need(is_finite(points) && ascends(points), "cuts must be finite and ascend");
    need(cuts.n_bins(f) > 0, "a column must have a bin");
  }
}

void check(const Tree& tree) {
  check_lengths(tree);
  check_children(tree);
  check_leaves(tree);
  check_sets(tree);
}

void need_features(const Tree& tree, std::size_t n_features) {
  for (const std::int32_t f : tree.feature)
    need(f < 0 || static_cast<std::size_t>(f) < n_features,
         "a tree tests a feature that is not "
         "there");
}

void need_moves(const Tree& tree, std::size_t n_rows, std::size_t n_classes) {
  need(tree.leaf_of_row.size() == n_rows, "a tree must have been grown on, or routed, these rows");
  need(tree.width > 0 &&
           tree.values.size() == count_leaves(tree) * static_cast<std::size_t>(tree.width) &&
           tree.classes.size() == tree.values.size(),
       "every leaf of a tree must have its values");
  need_labels(tree.classes, n_classes);
}

}  // namespace edgewise
