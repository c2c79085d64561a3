#include "blocks.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "checks.hpp"
#include "routing.hpp"
#include "transposed.hpp"

namespace edgewise {

void Expansion::append_to(std::vector<std::int64_t>& numbers) const {
  numbers.insert(numbers.end(), {tree, node, split.feature, split.bin, split.missing_left,
                                 split.categorical, static_cast<int>(build)});
  std::int64_t words[4] = {};
  split.left.each([&](int bin) {
    auto& word = words[bin / 64];
    word = std::bit_cast<std::int64_t>(std::bit_cast<std::uint64_t>(word) |
                                       (std::uint64_t{1} << (bin % 64)));
  });
  numbers.insert(numbers.end(), words, words + 4);
}

std::vector<Expansion> Expansion::from(std::span<const std::int64_t> numbers) {
  std::vector<Expansion> expansions;
  for (std::size_t i = 0; i + kWidth <= numbers.size(); i += kWidth) {
    const std::int64_t* n = &numbers[i];
    Expansion e;
    e.tree = static_cast<int>(n[0]), e.node = static_cast<int>(n[1]);
    e.split.feature = static_cast<int>(n[2]), e.split.bin = static_cast<int>(n[3]);
    e.split.missing_left = n[4] != 0, e.split.categorical = n[5] != 0;
    e.build = static_cast<Build>(n[6]);
    for (int bin = 0; bin < 256; ++bin)
      if ((std::bit_cast<std::uint64_t>(n[7 + bin / 64]) >> (bin % 64)) & 1)
        e.split.left.insert(bin);
    expansions.push_back(e);
  }
  return expansions;
}

void Histograms::put(std::size_t node, const std::vector<CountedBin>& bins) {
  for (std::size_t b = 0; b < bins.size(); ++b) {
    sums[node * bins.size() + b] = bins[b].gh();
    counts[node * bins.size() + b] = static_cast<std::int32_t>(bins[b].n());
  }
}

void Histograms::put(std::size_t node, const std::vector<PlainBin>& bins) {
  for (std::size_t b = 0; b < bins.size(); ++b) sums[node * bins.size() + b] = bins[b].gh();
}

std::vector<CountedBin> bins_of(std::span<const Packed> sums,
                                std::span<const std::int32_t> counts) {
  std::vector<CountedBin> bins(sums.size());
  for (std::size_t b = 0; b < bins.size(); ++b) bins[b].sum = Long2{sums[b], counts[b]};
  return bins;
}

std::vector<PlainBin> bins_of(std::span<const Packed> sums) {
  std::vector<PlainBin> bins(sums.size());
  for (std::size_t b = 0; b < bins.size(); ++b) bins[b].sum = sums[b];
  return bins;
}

std::vector<int> all_columns(const BinnedData& data) {
  std::vector<int> columns(static_cast<std::size_t>(data.n_features));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

void RowRanges::plant(std::vector<Row> rows, Row* lent) {
  ranges_.assign(1, {0, rows.size()});
  if (lent) {
    std::copy(rows.begin(), rows.end(), lent);
    rows_ = lent;
  } else {
    own_ = std::move(rows);
    rows_ = own_.data();
  }
}

void RowRanges::make_room(std::size_t n_expansions) {
  ranges_.resize(ranges_.size() + 2 * n_expansions);
}

Partition RowRanges::part(const BinnedData& data, const Expansion& expansion,
                          std::size_t left_child, const Team& team) {
  assert(expansion.node >= 0 && left_child + 1 < ranges_.size());
  const Range range = ranges_[static_cast<std::size_t>(expansion.node)];
  const std::size_t n = range.end - range.begin;
  const auto scratch = std::make_unique_for_overwrite<Row[]>(n);  // not kept: trees are many
  const Partition p =
      partition_rows(data, expansion.split, rows_ + range.begin, n, scratch.get(), team);
  ranges_[left_child] = {range.begin, range.begin + p.n_left};
  ranges_[left_child + 1] = {range.begin + p.n_left, range.end};
  return p;
}

namespace {

// A value that falls into a bin.
double value_in(const Cuts& cuts, std::size_t f, Code code) {
  const auto& points = cuts.of_feature[f];
  if (code == cuts.n_value_bins(f)) return std::numeric_limits<double>::quiet_NaN();
  return code < points.size() ? points[code] : std::numeric_limits<double>::infinity();
}

Code code_of_zero(const Cuts& cuts, std::size_t f) {
  const double nothing = 0.0;
  Code zero = 0;
  encode_column(cuts, f, &nothing, 1, &zero, 1);
  return zero;
}

}  // namespace

ListedBins listed_bins(const BinnedData& data) {
  ListedBins bins{{0}, {}, {}};
  std::vector<Code> column(data.n_rows);
  for (int f = 0; f < data.n_features; ++f) {
    const Code zero = code_of_zero(data.cuts, static_cast<std::size_t>(f));
    data.column(f).copy(0, data.n_rows, column.data());
    for (std::size_t i = 0; i < data.n_rows; ++i) {
      if (column[i] == zero) continue;
      bins.rows.push_back(static_cast<Row>(i));
      bins.codes.push_back(column[i]);
    }
    bins.start.push_back(static_cast<std::int64_t>(bins.rows.size()));
  }
  return bins;
}

BinnedData binned_from_lists(const ListedBins& bins, std::size_t n_rows, const Cuts& cuts,
                             const Team& team) {
  need_lists(bins.start, bins.rows, bins.codes, n_rows, cuts);
  Transposed x{
      n_rows, cuts.of_feature.size(), {bins.start.begin(), bins.start.end()}, bins.rows, {}};
  for (std::size_t f = 0; f < x.cols; ++f)
    for (std::size_t e = x.start[f]; e < x.start[f + 1]; ++e)
      x.value.push_back(value_in(cuts, f, bins.codes[e]));
  return {x, cuts, {}, team};
}

namespace {

// The place of a value among sorted ones.
std::size_t place_of(const std::vector<double>& sorted, double value) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (at == sorted.end() || *at != value)
    throw std::invalid_argument(
        "the trees split at values that are no cut points of these rows: they were grown on other "
        "data");
  return static_cast<std::size_t>(at - sorted.begin());
}

}  // namespace

std::vector<Tree> binned_trees(const Cuts& cuts, const ForestArrays& a) {
  std::vector<Tree> trees;
  std::size_t set = 0;
  for (std::size_t t = 0; t + 1 < a.node_start.size(); ++t) {
    Tree tree;
    const auto first = static_cast<std::size_t>(a.node_start[t]);
    const auto last = static_cast<std::size_t>(a.node_start[t + 1]);
    auto take = [&](auto& to, auto from, std::size_t begin, std::size_t end) {
      to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin),
                from.begin() + static_cast<std::ptrdiff_t>(end));
    };
    each_of_nodes([&](const char*, auto array) {
      if (!array(a).empty()) take(array(tree), array(a), first, last);  // covers come last
    });
    tree.bin.resize(last - first);
    for (std::size_t i = 0; i < last - first; ++i) {
      if (tree.feature[i] < 0) continue;
      const auto& values = cuts.of_feature.at(static_cast<std::size_t>(tree.feature[i]));
      if (std::isnan(tree.threshold[i])) {
        CategorySet categories;
        for (auto v = a.set_start[set]; v < a.set_start[set + 1]; ++v)
          categories.bins.insert(
              static_cast<int>(place_of(values, a.set_values[static_cast<std::size_t>(v)])));
        tree.sets.push_back(std::move(categories));
        ++set;
      } else {
        tree.bin[i] = static_cast<Code>(
            std::isinf(tree.threshold[i]) ? values.size() : place_of(values, tree.threshold[i]));
      }
    }
    tree.width = a.width[t];
    const auto value = static_cast<std::size_t>(a.value_start[t]);
    const auto end = static_cast<std::size_t>(a.value_start[t + 1]);
    each_of_values([&](const char*, auto array) { take(array(tree), array(a), value, end); });
    trees.push_back(std::move(tree));
  }
  return trees;
}

std::size_t n_leaves(const Tree& tree) {
  return static_cast<std::size_t>(std::count(tree.feature.begin(), tree.feature.end(), -1));
}

void route_all(const BinnedData& data, Tree& tree, const Team& team) {
  constexpr std::size_t kGrain = 1 << 13;
  tree.leaf_of_row.resize(data.n_rows);
  const bool at_once = fits_range(tree);
  std::vector<Row> rows(at_once ? 0 : data.n_rows);
  std::iota(rows.begin(), rows.end(), Row{0});
  team.range(data.n_rows, kGrain, [&](std::size_t begin, std::size_t end, int) {
    if (at_once) {
      route_range(data, tree, begin, end);
    } else {
      route_rows(data, tree, rows.data() + begin, end - begin);
    }
  });
}

}  // namespace edgewise
