#include "cover.hpp"

#include <algorithm>
#include <iterator>

#include "fixed_point.hpp"

namespace edgewise {
namespace {

std::vector<std::int64_t> count(const Tree& tree, std::size_t n_leaves) {
  constexpr std::size_t kAbreast = 4;  // side by side, so that rows need not wait
  std::vector<std::int64_t> counters(kAbreast * n_leaves);
  const auto& leaf = tree.leaf_of_row;
  const std::size_t n = leaf.size(), whole = n - n % kAbreast;
  for (std::size_t i = 0; i < whole; i += kAbreast)
    for (std::size_t j = 0; j < kAbreast; ++j) ++counters[j * n_leaves + leaf[i + j]];
  for (std::size_t i = whole; i < n; ++i) ++counters[leaf[i]];
  for (std::size_t i = n_leaves; i < counters.size(); ++i) counters[i % n_leaves] += counters[i];
  counters.resize(n_leaves);
  return counters;
}

std::vector<std::int64_t> weigh(const Tree& tree, std::size_t n_leaves, const double* weights,
                                double unit) {
  std::vector<std::int64_t> sums(n_leaves);
  for (std::size_t i = 0; i < tree.leaf_of_row.size(); ++i)
    sums[tree.leaf_of_row[i]] += to_integer(weights[i] * unit);
  return sums;
}

}  // namespace

std::vector<std::int64_t> cover_sums(const Tree& tree, const double* weights, double unit) {
  const std::size_t n_leaves = (tree.feature.size() + 1) / 2;
  return weights ? weigh(tree, n_leaves, weights, unit) : count(tree, n_leaves);
}

// Children before their parents.
void set_cover(Tree& tree, const std::vector<std::int64_t>& of_leaf) {
  std::vector<std::int64_t> sums(tree.feature.size());
  for (std::size_t i = sums.size(); i-- > 0;) {
    const auto left = static_cast<std::size_t>(tree.left[i]);
    sums[i] = tree.feature[i] < 0 ? of_leaf[left] : sums[left] + sums[left + 1];
  }
  const auto total = static_cast<double>(std::max<std::int64_t>(sums[0], 1));
  for (const std::int64_t sum : sums) tree.cover.push_back(static_cast<double>(sum) / total);
}

void find_covers(const std::vector<Tree*>& trees, const double* weights, const Team& team) {
  std::vector<Tree*> open;
  std::ranges::copy_if(trees, std::back_inserter(open),
                       [](const Tree* t) { return t->cover.empty(); });
  if (open.empty()) return;
  const std::size_t n = open[0]->leaf_of_row.size();
  const double unit = weights ? sum_scale(n, *std::max_element(weights, weights + n)) : 1.0;
  team.each(open.size(),
            [&](std::size_t t, int) { set_cover(*open[t], cover_sums(*open[t], weights, unit)); });
}

}  // namespace edgewise
