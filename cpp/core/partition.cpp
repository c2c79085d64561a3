#include "partition.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace edgewise {
namespace {

constexpr std::size_t kParallelRows = 1 << 16;

struct Router {
  const BinnedData& data;
  int feature;
  Code missing;
  std::array<bool, 256> left{};

  Router(const BinnedData& d, const Split& split)
      : data(d), feature(split.feature), missing(static_cast<Code>(d.n_value_bins(split.feature))) {
    if (split.categorical) {
      for (int b = 0; b < missing; ++b) left[static_cast<std::size_t>(b)] = split.left.contains(b);
      return;
    }
    for (int b = 0; b <= split.bin; ++b) left[static_cast<std::size_t>(b)] = true;
    if (data.cuts.has_missing[static_cast<std::size_t>(feature)])
      left[missing] = split.missing_left;
  }

  // Left rows to the front of `rows`, right rows to `right`; no branch depends on the data.
  Partition operator()(Row* rows, std::size_t n, Row* right) const {
    std::size_t n_left = 0, n_right = 0, n_missing = 0;
    const std::size_t step = data.sparse ? 1 : static_cast<std::size_t>(data.n_features);
    const Code* codes =
        data.codes.data() + static_cast<std::size_t>(feature) * (data.sparse ? data.n_rows : 1);
    for (std::size_t i = 0; i < n; ++i) {
      const Row row = rows[i];
      const Code code = codes[row * step];
      const bool goes_left = left[code];
      n_missing += code == missing;
      rows[n_left] = row;
      right[n_right] = row;
      n_left += goes_left;
      n_right += !goes_left;
    }
    return {n_left, n_missing > 0};
  }
};

int lowest(const BinSet& bins) {
  int first = 256;
  bins.each([&](int bin) { first = std::min(first, bin); });
  return first;
}

}  // namespace

void turn_to_majority(const BinnedData& data, const Row* rows, std::size_t n, Split& split) {
  if (split.right.contains(data.n_value_bins(split.feature))) return;
  std::array<std::size_t, 256> count{};
  const std::size_t step = data.sparse ? 1 : static_cast<std::size_t>(data.n_features);
  const Code* codes =
      data.codes.data() + static_cast<std::size_t>(split.feature) * (data.sparse ? data.n_rows : 1);
  for (std::size_t i = 0; i < n; ++i) ++count[codes[rows[i] * step]];
  std::size_t n_left = 0, n_right = 0;
  split.left.each([&](int bin) { n_left += count[static_cast<std::size_t>(bin)]; });
  split.right.each([&](int bin) { n_right += count[static_cast<std::size_t>(bin)]; });
  const bool lowest_right = lowest(split.right) < lowest(split.left);
  if (n_left > n_right || (n_left == n_right && lowest_right)) std::swap(split.left, split.right);
}

Partition partition_rows(const BinnedData& data, const Split& split, Row* rows, std::size_t n,
                         Row* scratch, const Team& team) {
  const Router route(data, split);
  if (team.size() == 1 || n < kParallelRows) {
    const Partition p = route(rows, n, scratch);
    std::copy(scratch, scratch + (n - p.n_left), rows + p.n_left);
    return p;
  }
  // Every piece is parted in place, then the pieces are put together in order.
  const std::size_t n_pieces = static_cast<std::size_t>(team.size()) * 2;
  const std::size_t size = (n + n_pieces - 1) / n_pieces;
  std::vector<Partition> piece(n_pieces);
  team.each(n_pieces, [&](std::size_t k, int) {
    const std::size_t begin = std::min(n, k * size), end = std::min(n, begin + size);
    piece[k] = route(rows + begin, end - begin, scratch + begin);
  });
  Partition whole;
  std::vector<std::size_t> left_at, right_at;
  std::size_t n_right = 0;
  for (std::size_t k = 0; k < n_pieces; ++k) {
    const std::size_t begin = std::min(n, k * size), end = std::min(n, begin + size);
    left_at.push_back(whole.n_left);
    right_at.push_back(n_right);
    whole.n_left += piece[k].n_left;
    n_right += end - begin - piece[k].n_left;
    whole.saw_missing |= piece[k].saw_missing;
  }
  // Left parts only move forwards, so an ascending copy never overwrites what is still needed;
  // right rows wait in the scratch space.
  for (std::size_t k = 1; k < n_pieces; ++k)
    std::memmove(rows + left_at[k], rows + std::min(n, k * size), piece[k].n_left * sizeof(Row));
  team.each(n_pieces, [&](std::size_t k, int) {
    const std::size_t begin = std::min(n, k * size), end = std::min(n, begin + size);
    std::copy(scratch + begin, scratch + begin + (end - begin - piece[k].n_left),
              rows + whole.n_left + right_at[k]);
  });
  return whole;
}

namespace {

// A node of a tree, for rows of bins. A leaf leads to itself.
struct Step {
  std::size_t column;
  std::uint32_t left;
  Code bin, missing;  // missing: the code that goes left although above the bin; else = bin
};

std::vector<Step> steps_of(const BinnedData& data, const Tree& tree) {
  const std::size_t column_step = data.sparse ? data.n_rows : 1;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] < 0) {
      steps.push_back({0, static_cast<std::uint32_t>(i), 255, 255});
      continue;
    }
    const auto f = static_cast<std::size_t>(tree.feature[i]);
    const bool missing_left = tree.missing_left[i] && data.cuts.has_missing[f];
    const auto missing = static_cast<Code>(data.n_value_bins(tree.feature[i]));
    steps.push_back({f * column_step, static_cast<std::uint32_t>(tree.left[i]), tree.bin[i],
                     missing_left ? missing : tree.bin[i]});
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

template <bool kSets>
void route(const BinnedData& data, Tree& tree, const Row* rows, std::size_t n) {
  constexpr std::size_t kAbreast = 8;
  const std::size_t row_step = data.sparse ? 1 : static_cast<std::size_t>(data.n_features);
  const std::vector<Step> steps = steps_of(data, tree);
  const auto sets = kSets ? sets_of(tree) : std::vector<const BinSet*>{};
  const int deepest = depth_of(tree);
  for (std::size_t b = 0; b < n; b += kAbreast) {
    const std::size_t m = std::min(kAbreast, n - b);
    std::uint32_t at[kAbreast] = {};
    const Code* codes[kAbreast];
    for (std::size_t i = 0; i < kAbreast; ++i)
      codes[i] = data.codes.data() + rows[b + std::min(i, m - 1)] * row_step;
    for (int d = 0; d < deepest; ++d) {
      for (std::size_t i = 0; i < kAbreast; ++i) {
        const Step& step = steps[at[i]];
        const Code code = codes[i][step.column];
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
  if (tree.sets.empty()) {
    route<false>(data, tree, rows, n);
  } else {
    route<true>(data, tree, rows, n);
  }
}

}  // namespace edgewise
