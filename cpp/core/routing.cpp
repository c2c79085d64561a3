#include "routing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "clones.hpp"
#include "vectors.hpp"

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
        const Code code = kLists ? step.column->code(of[i]) : step.column->all[of[i]];
        bool left = (code <= step.bin) | (code == step.missing);
        if constexpr (kSets) left = sets[at[i]] ? sets[at[i]]->contains(code) : left;
        at[i] = step.left + !left;
      }
    }
    for (std::size_t i = 0; i < m; ++i)
      tree.leaf_of_row[rows[b + i]] = static_cast<std::uint16_t>(tree.left[at[i]]);
  }
}

constexpr std::size_t kAtOnce = 32;  // rows of route_range
constexpr std::size_t kGroups = 4;   // of eight leaves each

typedef std::uint8_t Byte32 __attribute__((vector_size(32)));

// A node of a tree for 32 rows at once.
struct MaskStep {
  const Code* column;  // from the first row on
  Code bin;
  Code missing;  // the code that goes left although above the bin; else = bin
  std::array<std::uint8_t, kGroups> left_leaves;  // bits
};

// Leaves numbered from left to right: bits of the leaves below `node`.
std::uint32_t number_leaves(const Tree& tree, std::size_t node, std::vector<std::uint16_t>& leaves,
                            std::vector<std::uint32_t>& left_leaves) {
  if (tree.feature[node] < 0) {
    leaves.push_back(static_cast<std::uint16_t>(tree.left[node]));
    return 1u << (leaves.size() - 1);
  }
  const auto left = static_cast<std::size_t>(tree.left[node]);
  left_leaves[node] = number_leaves(tree, left, leaves, left_leaves);
  return left_leaves[node] | number_leaves(tree, left + 1, leaves, left_leaves);
}

// Takes the leaves on the left away from rows that go right; `masks` (groups, rows).
EDGEWISE_CLONES void remaining_leaves(const MaskStep* steps, std::size_t n_steps, std::size_t at,
                                      std::uint8_t* masks) {
  Byte32 remaining[kGroups] = {};
  for (Byte32& group : remaining) group -= 1;  // all bits
  for (std::size_t s = 0; s < n_steps; ++s) {
    Byte32 codes;
    std::memcpy(&codes, steps[s].column + at, sizeof codes);
    const Byte32 goes_left = (codes <= steps[s].bin) | (codes == steps[s].missing);
    for (std::size_t g = 0; g < kGroups; ++g)
      remaining[g] &= goes_left | static_cast<std::uint8_t>(~steps[s].left_leaves[g]);
  }
  std::memcpy(masks, remaining, sizeof remaining);
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

bool fits_masks(const Tree& tree) {
  return tree.sets.empty() && tree.feature.size() <= 2 * 8 * kGroups - 1;
}

void route_range(const BinnedData& data, Tree& tree, std::size_t begin, std::size_t end) {
  std::vector<std::uint16_t> leaves;  // from left to right
  std::vector<std::uint32_t> left_leaves(tree.feature.size());
  number_leaves(tree, 0, leaves, left_leaves);
  std::vector<MaskStep> steps;
  const auto nodes = steps_of(data, tree);
  std::vector<std::vector<Code>> copies;  // of columns that list rows
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (tree.feature[i] < 0) continue;
    const Column& column = *nodes[i].column;
    if (!column.all) column.copy(begin, end, copies.emplace_back(end - begin).data());
    const Code* codes = column.all ? column.all + begin : copies.back().data();
    steps.push_back({codes, nodes[i].bin, nodes[i].missing, {}});
    for (std::size_t g = 0; g < kGroups; ++g)
      steps.back().left_leaves[g] = static_cast<std::uint8_t>(left_leaves[i] >> (8 * g));
  }
  std::uint8_t masks[kGroups][kAtOnce];
  std::size_t b = begin;
  for (; b + kAtOnce <= end; b += kAtOnce) {
    remaining_leaves(steps.data(), steps.size(), b - begin, masks[0]);
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      std::uint32_t mask = 0;
      for (std::size_t g = 0; g < kGroups; ++g) mask |= std::uint32_t{masks[g][i]} << (8 * g);
      tree.leaf_of_row[b + i] = leaves[static_cast<std::size_t>(std::countr_zero(mask))];
    }
  }
  std::vector<Row> rest;
  for (; b < end; ++b) rest.push_back(static_cast<Row>(b));
  route_rows(data, tree, rest.data(), rest.size());
}

}  // namespace edgewise
