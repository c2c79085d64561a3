#include "routing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "choices.hpp"

namespace edgewise {
namespace {

// A node of a tree, for rows of bins. A leaf leads to itself.
struct Step {
  const Column* column;
  std::uint32_t left;
  Code bin, missing;  // missing: the code that goes left although above the bin; else = bin
};

std::vector<Step> steps_of(const BinnedData& data, const Tree& tree) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] < 0) {
      steps.push_back({&data.column(0), static_cast<std::uint32_t>(i), 255, 255});
      continue;
    }
    const auto f = static_cast<std::size_t>(tree.feature[i]);
    const bool missing_left = tree.missing_left[i] && data.cuts.has_missing[f];
    const auto missing = static_cast<Code>(data.n_value_bins(tree.feature[i]));
    steps.push_back({&data.column(tree.feature[i]), static_cast<std::uint32_t>(tree.left[i]),
                     tree.bin[i], missing_left ? missing : tree.bin[i]});
  }
  return steps;
}

// For every node its set, or null.
std::vector<const BinSet*> sets_of(const Tree& tree) {
  std::vector<const BinSet*> sets;
  auto set = tree.sets.begin();
  for (const double threshold : tree.threshold)
    sets.push_back(std::isnan(threshold) ? &(set++)->bins : nullptr);
  return sets;
}

int depth_of(const Tree& tree) {
  std::vector<int> depth(tree.feature.size());
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] < 0) continue;
    const auto left = static_cast<std::size_t>(tree.left[i]);
    depth[left] = depth[left + 1] = depth[i] + 1;
  }
  return *std::max_element(depth.begin(), depth.end());
}

template <bool kSets, bool kLists>
void route(const BinnedData& data, Tree& tree, const Row* rows, std::size_t n) {
  constexpr std::size_t kAbreast = 8;
  const std::vector<Step> steps = steps_of(data, tree);
  const auto sets = kSets ? sets_of(tree) : std::vector<const BinSet*>{};
  const int deepest = depth_of(tree);
  for (std::size_t b = 0; b < n; b += kAbreast) {
    const std::size_t m = std::min(kAbreast, n - b);
    std::uint32_t at[kAbreast] = {};
    Row of[kAbreast];
    for (std::size_t i = 0; i < kAbreast; ++i) of[i] = rows[b + std::min(i, m - 1)];
    for (int d = 0; d < deepest; ++d) {
      for (std::size_t i = 0; i < kAbreast; ++i) {
        const Step& step = steps[at[i]];
        const Code code = kLists ? step.column->code(of[i]) : step.column->at(of[i]);
        bool left = (code <= step.bin) | (code == step.missing);
        if constexpr (kSets) left = sets[at[i]] ? sets[at[i]]->contains(code) : left;
        at[i] = step.left + !left;
      }
    }
    for (std::size_t i = 0; i < m; ++i)
      tree.leaf_of_row[rows[b + i]] = static_cast<std::uint16_t>(tree.left[at[i]]);
  }
}

}  // namespace

void route_rows(const BinnedData& data, Tree& tree, const Row* rows, std::size_t n) {
  if (data.has_lists()) {
    tree.sets.empty() ? route<false, true>(data, tree, rows, n)
                      : route<true, true>(data, tree, rows, n);
  } else {
    tree.sets.empty() ? route<false, false>(data, tree, rows, n)
                      : route<true, false>(data, tree, rows, n);
  }
}

bool fits_range(const Tree& tree) {
  return tree.sets.empty() && tree.feature.size() <= 2 * kMostByteLeaves - 1;
}

void route_range(const BinnedData& data, Tree& tree, std::size_t begin, std::size_t end) {
  constexpr std::size_t kAtOnce = 1024;
  const auto nodes = steps_of(data, tree);
  std::vector<const Code*> columns(nodes.size());  // of every node, from the next rows on
  std::vector<std::array<Code, kAtOnce>> copies(   // of columns that are not bytes
      static_cast<std::size_t>(std::count_if(
          nodes.begin(), nodes.end(), [](const Step& step) { return !step.column->bytes(); })));
  const auto choices = choices_of(
      tree.feature, tree.left, [](std::size_t i) { return static_cast<std::uint32_t>(i); },
      [&](std::size_t i) { return std::pair(nodes[i].bin, nodes[i].missing); });
  const std::size_t whole = begin + (end - begin) / kRowsAbreast * kRowsAbreast;
  LeafBoard board;
  std::uint8_t leaves[kAtOnce];
  for (std::size_t b = begin; b < whole; b += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, whole - b);
    auto copy = copies.begin();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Column& column = *nodes[i].column;
      if (!column.bytes()) column.copy(b, b + n, copy->data());
      columns[i] = column.bytes() ? column.all + b : (copy++)->data();
    }
    board.leaves(choices, columns.data(), n, leaves);
    std::copy_n(leaves, n, &tree.leaf_of_row[b]);
  }
  std::vector<Row> rest(end - whole);
  std::iota(rest.begin(), rest.end(), static_cast<Row>(whole));
  route_rows(data, tree, rest.data(), rest.size());
}

}  // namespace edgewise
