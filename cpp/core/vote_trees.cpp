#include "vote_trees.hpp"

#include <cmath>

#include "fixed_point.hpp"
#include "two_channel.hpp"

namespace edgewise {
namespace {

// One thread's arrays, reused from tree to tree.
struct Scratch {
  std::vector<double> signed_weights, sizes;  // (n_rows): of one class
  TwoChannels channels;

  void take(const double* column, std::size_t n, std::size_t stride) {
    signed_weights.resize(n), sizes.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      signed_weights[i] = column[i * stride];
      sizes[i] = std::abs(signed_weights[i]);
    }
  }
};

// Leaves sums of the signed weights and of their sizes to the round rule.
struct SumLeaves {
  const std::vector<double>& signed_weights;
  double unit;  // units per 1.0 in exact sums
  int k;

  void operator()(Tree& tree, std::size_t n_leaves, const Team&) const {
    struct Sums {
      std::int64_t edge = 0, mass = 0;
    };
    std::vector<Sums> sums(n_leaves);
    for (std::size_t i = 0; i < signed_weights.size(); ++i) {
      const std::int64_t s = to_integer(signed_weights[i] * unit);
      Sums& leaf = sums[tree.leaf_of_row[i]];
      leaf.edge += s;
      leaf.mass += std::abs(s);
    }
    for (const Sums& leaf : sums) {
      tree.sums.push_back(static_cast<double>(leaf.edge) / unit);
      tree.sums.push_back(static_cast<double>(leaf.mass) / unit);
    }
    tree.width = 1;
    tree.classes.assign(n_leaves, k);
    tree.values.assign(n_leaves, 0.0);
  }
};

template <class Bin>
std::vector<Tree> grow_all(const BinnedData& data, const double* signed_weights, int n_classes,
                           const GrowLimits& limits, const Team& team) {
  HistogramPool<Bin> pool(data);
  std::vector<Scratch> scratch(static_cast<std::size_t>(team.size()));
  const auto stride = static_cast<std::size_t>(n_classes);
  std::vector<Tree> trees(stride);
  share_trees(stride, team, [&](std::size_t k, int slot, const Team& inner) {
    const std::size_t n = data.n_rows;
    Scratch& s = scratch[static_cast<std::size_t>(slot)];
    s.take(signed_weights + k, n, stride);
    const double unit = sum_scale(n, largest(s.sizes.data(), n, inner));
    const double sum = total(s.sizes.data(), n, unit, inner);
    GrowLimits own = limits;
    own.cut_key = key_of_part(limits.cut_key, k);
    TwoChannelEvaluator<Bin, SumLeaves> evaluator(
        data, own, s.channels, pool, SumLeaves{s.signed_weights, unit, static_cast<int>(k)});
    evaluator.prepare(s.signed_weights.data(), s.sizes.data(), sum, sum, inner);
    trees[k] = Grower(data, own, evaluator, inner).grow(s.channels.rows);
  });
  return trees;
}

}  // namespace

std::vector<Tree> grow_vote_trees(const BinnedData& data, const double* signed_weights,
                                  int n_classes, const GrowLimits& limits, const Team& team) {
  const auto grow = limits.min_samples_leaf > 1 ? grow_all<CountedBin> : grow_all<PlainBin>;
  return grow(data, signed_weights, n_classes, limits, team);
}

}  // namespace edgewise
