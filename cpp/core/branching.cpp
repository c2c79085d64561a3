#include "branching.hpp"

#include <cmath>

#include "cover.hpp"
#include "fixed_point.hpp"
#include "two_channel.hpp"

namespace edgewise {
namespace {

// Shares below it count as none: else rounding would send rows to nodes that give them half of
// their weight.
constexpr double kNegligible = 1e-9;

// The rows of a node, each class with half of the weight.
struct Balanced {
  std::vector<Row> rows;
  std::vector<double> signed_weights;  // (rows), sizes sum to one

  // Returns the weights of the two classes before balancing.
  std::array<double, 2> take(const std::int8_t* signs, const double* mass, std::size_t n) {
    rows.clear(), signed_weights.clear();
    std::array<double, 2> most{};
    for (std::size_t i = 0; i < n; ++i) most[signs[i] > 0] = std::max(most[signs[i] > 0], mass[i]);
    const std::array<double, 2> unit{sum_scale(n, most[0]), sum_scale(n, most[1])};
    std::array<std::int64_t, 2> sums{};
    for (std::size_t i = 0; i < n; ++i) {
      const bool one = signs[i] > 0;
      const std::int64_t m = to_integer(mass[i] * unit[one]);
      if (m == 0) continue;
      sums[one] += m;
      rows.push_back(static_cast<Row>(i));
    }
    const std::array<double, 2> of_class{static_cast<double>(sums[0]) / unit[0],
                                         static_cast<double>(sums[1]) / unit[1]};
    for (const Row i : rows)
      signed_weights.push_back(signs[i] * mass[i] / (2.0 * of_class[signs[i] > 0]));
    return of_class;
  }
};

// A leaf predicts 1 if its signed weights have a positive sum.
struct SayLeaves {
  const Balanced& balanced;
  double* ones;  // frequency of the prediction 1 on the balanced rows

  void operator()(Tree& tree, std::size_t n_leaves, const Team&) const {
    const double unit = sum_scale(balanced.rows.size(), 1.0);
    std::vector<std::int64_t> edge(n_leaves), size(n_leaves);
    for (std::size_t j = 0; j < balanced.rows.size(); ++j) {
      const std::int64_t s = to_integer(balanced.signed_weights[j] * unit);
      edge[tree.leaf_of_row[balanced.rows[j]]] += s;
      size[tree.leaf_of_row[balanced.rows[j]]] += std::abs(s);
    }
    std::int64_t said = 0;
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
      const bool one = is_positive(edge[leaf], size[leaf]);
      tree.values.push_back(one ? 1.0 : 0.0);
      if (one) said += size[leaf];
    }
    *ones = static_cast<double>(said) / unit;
    tree.width = 1;
    tree.classes.assign(n_leaves, 0);
  }
};

Tree single_leaf() {
  Tree tree;
  tree.feature = {-1}, tree.left = {0}, tree.threshold = {0.0}, tree.bin = {0};
  tree.missing_left = {0}, tree.gain = {0.0}, tree.width = 1, tree.classes = {0};
  tree.values = {0.0}, tree.cover = {1.0};
  return tree;
}

struct Scratch {
  Balanced balanced;
  TwoChannels channels;
};

template <class Bin>
void train(const BinnedData& data, const GrowLimits& limits, HistogramPool<Bin>& pool, Scratch& s,
           BranchNode& node, const Team& team) {
  double ones = 0.0;
  TwoChannelEvaluator<Bin, SayLeaves> evaluator(data, limits, s.channels, pool,
                                                SayLeaves{s.balanced, &ones});
  evaluator.prepare_some(s.balanced.rows, s.balanced.signed_weights);
  node.tree = Grower(data, limits, evaluator, team).grow(s.channels.rows, &s.channels.skipped);
  if (std::abs(ones - 0.5) < kNegligible) ones = 0.5;
  node.right = {1.0 - 1.0 / (2.0 * std::max(1.0 - ones, 0.5)), 1.0 / (2.0 * std::max(ones, 0.5))};
}

template <class Bin>
std::vector<BranchNode> grow_all(const BinnedData& data, const std::int8_t* signs,
                                 const double* mass, const std::vector<double>& otherwise,
                                 const GrowLimits& limits, std::uint8_t* says, const Team& team) {
  HistogramPool<Bin> pool(data);
  std::vector<Scratch> scratch(static_cast<std::size_t>(team.size()));
  const std::size_t n_nodes = otherwise.size();
  std::vector<BranchNode> nodes(n_nodes);
  team.each(n_nodes, [&](std::size_t v, int slot) {
    Scratch& s = scratch[static_cast<std::size_t>(slot)];
    BranchNode& node = nodes[v];
    const auto of_class = s.balanced.take(signs, mass + v * data.n_rows, data.n_rows);
    const double both = of_class[0] + of_class[1];
    if (std::min(of_class[0], of_class[1]) <= kNegligible * both) {
      const double label =
          both > 0.0 ? static_cast<double>(of_class[1] > of_class[0]) : otherwise[v];
      node = {single_leaf(), true, {label, label}};
      return;
    }
    train<Bin>(data, limits, pool, s, node, team.alone(slot));
    for (const Row i : s.balanced.rows)
      says[v * data.n_rows + i] = node.tree.values[node.tree.leaf_of_row[i]] > 0.0;
    find_covers({&node.tree}, mass + v * data.n_rows, team.alone(slot));
    release(node.tree.leaf_of_row);
  });
  return nodes;
}

}  // namespace

std::vector<BranchNode> grow_layer(const BinnedData& data, const std::int8_t* signs,
                                   const double* mass, const std::vector<double>& otherwise,
                                   const GrowLimits& limits, std::uint8_t* says, const Team& team) {
  const auto grow = limits.min_samples_leaf > 1 ? grow_all<CountedBin> : grow_all<PlainBin>;
  return grow(data, signs, mass, otherwise, limits, says, team);
}

}  // namespace edgewise
