#include "class_trees.hpp"

#include <algorithm>

#include "criteria/least_squares.hpp"
#include "criteria/newton.hpp"
#include "derivatives.hpp"
#include "fixed_point.hpp"
#include "two_channel.hpp"

namespace edgewise {

namespace {

// One thread's arrays, reused from tree to tree.
struct Scratch {
  std::vector<double> g, h;  // (n_rows), weighted
  std::vector<double> ones;  // (n_rows), where least squares needs unit weights
  TwoChannels channels;
};

void derive(const Posterior& posterior, Target target, Scratch& s, const Team& team) {
  const double* weights = posterior.weights();
  const double* r = posterior.residuals_of_class(target.k);
  s.g.resize(posterior.n_rows()), s.h.resize(posterior.n_rows());
  team.range(posterior.n_rows(), kParallelRows, [&](std::size_t begin, std::size_t end, int) {
    const double* w = weights ? weights + begin : nullptr;
    const std::size_t n = end - begin;
    if (target.base < 0) {
      derive_alone(r + begin, w, n, &s.g[begin], &s.h[begin]);
    } else {
      const double* base = posterior.residuals_of_class(target.base);
      derive_against(r + begin, base + begin, w, n, &s.g[begin], &s.h[begin]);
    }
  });
}

const double* weights_or_ones(const Posterior& posterior, Scratch& s) {
  if (posterior.weighted()) return posterior.weights();
  s.ones.resize(posterior.n_rows(), 1.0);
  return s.ones.data();
}

// A leaf moves its class, and the base class against it, by shrinkage * factor * sum g / sum h. All
// rows count, in a finer fixed point than the histogram's.
struct NewtonLeaves {
  const Scratch& s;
  Derivatives unit;  // units per 1.0 of g and h in exact sums
  Target target;
  double factor, shrinkage;

  void operator()(Tree& tree, std::size_t n_leaves, const Team& team) const {
    move_by_steps(tree, target, steps(tree, n_leaves, team), shrinkage);
  }

 private:
  std::vector<double> steps(const Tree& tree, std::size_t n_leaves, const Team& team) const {
    struct Sums {
      std::int64_t g = 0, h = 0;
    };
    std::vector<std::vector<Sums>> part(static_cast<std::size_t>(team.size()));
    for (auto& sums : part) sums.resize(n_leaves);
    team.range(s.g.size(), kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
      Sums* sums = part[static_cast<std::size_t>(slot)].data();
      for (std::size_t i = begin; i < end; ++i) {
        Sums& leaf = sums[tree.leaf_of_row[i]];
        leaf.g += to_integer(s.g[i] * unit.g);
        leaf.h += to_integer(s.h[i] * unit.h);
      }
    });
    std::vector<double> step_of_leaf(n_leaves);
    for (std::size_t j = 0; j < n_leaves; ++j) {
      Sums sum;
      for (const auto& sums : part) sum.g += sums[j].g, sum.h += sums[j].h;
      step_of_leaf[j] = newton_step(sum.g, sum.h, unit, factor);
    }
    return step_of_leaf;
  }
};

template <class Criterion, class Bin>
std::vector<Tree> grow_all(const BinnedData& data, const Posterior& posterior,
                           const std::vector<Target>& targets, const GrowLimits& limits,
                           double factor, double shrinkage, const Team& team) {
  HistogramPool<Bin> pool(data);
  std::vector<Scratch> scratch(static_cast<std::size_t>(team.size()));
  std::vector<Tree> trees(targets.size());
  share_trees(targets.size(), team, [&](std::size_t t, int slot, const Team& inner) {
    const std::size_t n = data.n_rows;
    Scratch& s = scratch[static_cast<std::size_t>(slot)];
    derive(posterior, targets[t], s, inner);
    const Derivatives unit{sum_scale(n, largest(s.g.data(), n, inner)),
                           sum_scale(n, largest(s.h.data(), n, inner))};
    const double* mass = Criterion::mass(weights_or_ones(posterior, s), s.h.data());
    const double sum_g = total(s.g.data(), n, unit.g, inner);
    const double sum_mass = total(mass, n, sum_scale(n, largest(mass, n, inner)), inner);
    TwoChannelEvaluator<Bin, NewtonLeaves> evaluator(
        data, limits, s.channels, pool, NewtonLeaves{s, unit, targets[t], factor, shrinkage});
    evaluator.prepare(s.g.data(), mass, sum_g, sum_mass, inner);
    trees[t] = Grower(data, limits, evaluator, inner).grow(s.channels.rows, s.channels.skipped);
  });
  return trees;
}

}  // namespace

double newton_step(std::int64_t g, std::int64_t h, Derivatives unit, double factor) {
  if (g == 0) return 0.0;
  const double step = (static_cast<double>(g) / unit.g) /
                      (static_cast<double>(std::max<std::int64_t>(h, 1)) / unit.h);
  return std::clamp(factor * step, -kLeafClip, kLeafClip);
}

void move_by_steps(Tree& tree, Target target, const std::vector<double>& steps, double shrinkage) {
  const bool pair = target.base >= 0;
  tree.width = pair ? 2 : 1;
  for (const double step : steps) {
    tree.classes.push_back(target.k);
    tree.values.push_back(shrinkage * step);
    if (pair) {
      tree.classes.push_back(target.base);
      tree.values.push_back(-shrinkage * step);
    }
  }
}

std::vector<Tree> grow_class_trees(const BinnedData& data, const Posterior& posterior,
                                   const std::vector<Target>& targets, Criterion criterion,
                                   const GrowLimits& limits, double factor, double shrinkage,
                                   const Team& team) {
  const bool counted = limits.min_samples_leaf > 1;
  const auto grow = [&]() {
    if (criterion == Criterion::newton)
      return counted ? grow_all<Newton, CountedBin> : grow_all<Newton, PlainBin>;
    return counted ? grow_all<LeastSquares, CountedBin> : grow_all<LeastSquares, PlainBin>;
  }();
  return grow(data, posterior, targets, limits, factor, shrinkage, team);
}

}  // namespace edgewise
