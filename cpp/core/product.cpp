#include "product.hpp"

#include <numeric>

namespace edgewise {
namespace {

bool splits(const Tree& stump) { return stump.feature[0] >= 0; }

// Votes of a stump's leaf.
const double* votes(const Tree& stump, std::size_t leaf, std::size_t n_classes) {
  return &stump.sums[(3 * leaf + 2) * n_classes];
}

void add_level(Tree& tree, const Tree& stump, std::size_t n_nodes) {
  for (std::size_t i = 0; i < n_nodes; ++i) {
    tree.left.push_back(static_cast<std::int32_t>(2 * tree.feature.size() + 1));
    tree.feature.push_back(stump.feature[0]);
    tree.threshold.push_back(stump.threshold[0]);
    tree.bin.push_back(stump.bin[0]);
    tree.missing_left.push_back(stump.missing_left[0]);
    tree.gain.push_back(stump.gain[0] / static_cast<double>(n_nodes));
    tree.sets.insert(tree.sets.end(), stump.sets.begin(), stump.sets.end());
  }
}

void add_leaves(Tree& tree, std::size_t n_leaves) {
  for (std::size_t j = 0; j < n_leaves; ++j) {
    tree.feature.push_back(-1);
    tree.left.push_back(static_cast<std::int32_t>(j));
    tree.threshold.push_back(0.0);
    tree.bin.push_back(0);
    tree.missing_left.push_back(0);
    tree.gain.push_back(0.0);
  }
}

}  // namespace

Tree product_tree(const std::vector<const Tree*>& stumps, int n_classes) {
  const auto k = static_cast<std::size_t>(n_classes);
  Tree tree;
  tree.leaf_of_row.assign(stumps[0]->leaf_of_row.size(), 0);
  tree.values.assign(k, 1.0);  // (n_leaves, n_classes), so far
  std::size_t n_leaves = 1;
  for (const Tree* stump : stumps) {
    const std::size_t sides = splits(*stump) ? 2 : 1;
    std::vector<double> values;
    for (std::size_t j = 0; j < n_leaves; ++j)
      for (std::size_t side = 0; side < sides; ++side)
        for (std::size_t l = 0; l < k; ++l)
          values.push_back(tree.values[j * k + l] * votes(*stump, side, k)[l]);
    tree.values.swap(values);
    if (sides == 1) continue;
    add_level(tree, *stump, n_leaves);
    n_leaves *= 2;
    for (std::size_t i = 0; i < tree.leaf_of_row.size(); ++i)
      tree.leaf_of_row[i] =
          static_cast<std::uint16_t>(2 * tree.leaf_of_row[i] + stump->leaf_of_row[i]);
  }
  add_leaves(tree, n_leaves);
  tree.width = n_classes;
  tree.classes.resize(n_leaves * k);
  for (std::size_t j = 0; j < n_leaves; ++j)
    std::iota(&tree.classes[j * k], &tree.classes[j * k] + k, 0);
  return tree;
}

}  // namespace edgewise
