#include "class_trees.hpp"

#include <algorithm>

#include "derivatives.hpp"
#include "fixed_point.hpp"
#include "two_channel.hpp"

namespace edgewise {

namespace {

// One thread's arrays, reused from tree to tree.
struct Scratch {
  std::vector<double> g, h;     // (n_rows), weighted
  std::vector<double> weights;  // (n_rows), where they are not the posterior's
  TwoChannels channels;
};

// Weights of the rows, zero where they are not drawn; null: all are one.
const double* weights_of(const Posterior& posterior, const GrowLimits& limits, Scratch& s) {
  if (!limits.sample) return posterior.weights();
  s.weights.resize(posterior.n_rows());
  for (std::size_t i = 0; i < s.weights.size(); ++i)
    s.weights[i] = limits.is_drawn(i) ? posterior.weight(static_cast<Row>(i)) : 0.0;
  return s.weights.data();
}

void derive(const Posterior& posterior, Target target, const double* weights, Scratch& s,
            const Team& team) {
  s.g.resize(posterior.n_rows()), s.h.resize(posterior.n_rows());
  team.range(posterior.n_rows(), kParallelRows, [&](std::size_t begin, std::size_t end, int) {
    derive_rows(posterior, target.k, target.base, weights, begin, end, &s.g[begin], &s.h[begin]);
  });
}

const double* or_ones(const double* weights, std::size_t n, Scratch& s) {
  if (weights) return weights;
  s.weights.resize(n, 1.0);
  return s.weights.data();
}

// Leaf values from the exact sums of all rows.
struct NewtonLeaves {
  const Scratch& s;
  NewtonSteps steps;
  std::vector<Bounds> bounds{};  // of the steps of the leaves, if any

  void operator()(Tree& tree, std::size_t n_leaves, const Team& team) const {
    steps.set_leaves(tree, sums(tree, n_leaves, team), bounds);
  }

  // Of some of the rows.
  double step(const Row* rows, std::size_t n) const {
    ClassSum sum;
    for (std::size_t i = 0; i < n; ++i) add_to(sum, s.g[rows[i]], s.h[rows[i]], steps.unit);
    return steps.step(sum);
  }

 private:
  std::vector<ClassSum> sums(const Tree& tree, std::size_t n_leaves, const Team& team) const {
    std::vector<std::vector<ClassSum>> part(static_cast<std::size_t>(team.size()));
    for (auto& sums : part) sums.resize(n_leaves);
    team.range(s.g.size(), kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
      ClassSum* sums = part[static_cast<std::size_t>(slot)].data();
      for (std::size_t i = begin; i < end; ++i)
        add_to(sums[tree.leaf_of_row[i]], s.g[i], s.h[i], steps.unit);
    });
    for (std::size_t t = 1; t < part.size(); ++t)
      for (std::size_t j = 0; j < n_leaves; ++j)
        part[0][j].g += part[t][j].g, part[0][j].h += part[t][j].h;
    return part[0];
  }
};

// Derivatives of the logistic loss, from the probabilities. Fills s.g and s.h of a target and
// returns the weights of the rows (null: all are one).
struct FromPosterior {
  static constexpr bool kLogistic = true;
  const Posterior& posterior;

  const double* operator()(Target target, const GrowLimits& limits, Scratch& s,
                           const Team& team) const {
    const double* weights = weights_of(posterior, limits, s);
    derive(posterior, target, weights, s, team);
    return weights;
  }
};

// Derivatives of any loss, given as columns of two matrices (n_rows, n_classes), weighted.
struct FromColumns {
  static constexpr bool kLogistic = false;
  const double *g, *h;
  std::size_t n_rows, n_classes;

  const double* operator()(Target target, const GrowLimits& limits, Scratch& s,
                           const Team& team) const {
    s.g.resize(n_rows), s.h.resize(n_rows);
    team.range(n_rows, kParallelRows, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t at = i * n_classes + static_cast<std::size_t>(target.k);
        s.g[i] = limits.is_drawn(i) ? g[at] : 0.0;
        s.h[i] = limits.is_drawn(i) ? h[at] : 0.0;
      }
    });
    return nullptr;
  }
};

template <class Criterion, class Bin, class Source>
std::vector<Tree> grow_all(const BinnedData& data, const Source& source,
                           const std::vector<Target>& targets, const GrowLimits& limits,
                           double factor, double shrinkage, const Team& team) {
  HistogramPool<Bin> pool(data);
  std::vector<Scratch> scratch(static_cast<std::size_t>(team.size()));
  std::vector<Tree> trees(targets.size());
  share_trees(targets.size(), team, [&](std::size_t t, int slot, const Team& inner) {
    const std::size_t n = data.n_rows;
    Scratch& s = scratch[static_cast<std::size_t>(slot)];
    const double* weights = source(targets[t], limits, s, inner);
    const Derivatives unit{sum_scale(n, largest(s.g.data(), n, inner)),
                           sum_scale(n, largest(s.h.data(), n, inner))};
    const double* mass =
        Criterion::mass(Criterion::kWeighs ? or_ones(weights, n, s) : weights, s.h.data());
    const double sum_g = total(s.g.data(), n, unit.g, inner);
    const double sum_mass = total(mass, n, sum_scale(n, largest(mass, n, inner)), inner);
    TwoChannelEvaluator<Bin, NewtonLeaves> evaluator(
        data, limits, s.channels, pool,
        NewtonLeaves{s, {unit, targets[t], factor, shrinkage, limits}});
    set_rules<Criterion>(evaluator.rules(), limits, targets[t], factor, data.feature_of,
                         Source::kLogistic);
    evaluator.prepare(s.g.data(), mass, sum_g, sum_mass, inner);
    trees[t] = Grower(data, limits, evaluator, inner).grow(s.channels.rows);
  });
  return trees;
}

}  // namespace

std::vector<std::int8_t> directions_of(const Monotone& monotone, Target target,
                                       const std::vector<int>& feature_of) {
  std::vector<std::int8_t> of_feature;
  if (!monotone.any()) return of_feature;
  for (const int f : feature_of)
    of_feature.push_back(static_cast<std::int8_t>(monotone.of_move(f, target.k, target.base)));
  const bool free = std::all_of(of_feature.begin(), of_feature.end(),
                                [](std::int8_t d) { return d == direction::kFree; });
  return free ? std::vector<std::int8_t>{} : of_feature;
}

double NewtonSteps::step(ClassSum sum) const {
  if (sum.g == 0) return 0.0;
  const double mass = static_cast<double>(std::max<std::int64_t>(sum.h, 1)) / unit.h + l2;
  return std::clamp(factor * ((static_cast<double>(sum.g) / unit.g) / mass), -max_delta, max_delta);
}

void NewtonSteps::set_leaves(Tree& tree, const std::vector<ClassSum>& sums,
                             const std::vector<Bounds>& bounds) const {
  const bool pair = target.base >= 0;
  tree.width = pair ? 2 : 1;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    const double own = step(sums[j]);
    const double bounded = bounds.empty() ? own : bounds[j].clamp(own);
    tree.classes.push_back(target.k);
    tree.values.push_back(shrinkage * bounded);
    if (pair) {
      tree.classes.push_back(target.base);
      tree.values.push_back(-shrinkage * bounded);
    }
  }
}

std::vector<Tree> grow_class_trees(const BinnedData& data, const Posterior& posterior,
                                   const std::vector<Target>& targets, Criterion criterion,
                                   const GrowLimits& limits, double factor, double shrinkage,
                                   const Team& team) {
  return with_criterion(criterion, [&](auto c) {
    using C = decltype(c);
    const auto grow = limits.min_samples_leaf > 1 ? grow_all<C, CountedBin, FromPosterior>
                                                  : grow_all<C, PlainBin, FromPosterior>;
    return grow(data, {posterior}, targets, limits, factor, shrinkage, team);
  });
}

std::vector<Tree> grow_derivative_trees(const BinnedData& data, const double* g, const double* h,
                                        int n_classes, const GrowLimits& limits, double shrinkage,
                                        const Team& team) {
  std::vector<Target> targets;
  for (int k = 0; k < n_classes; ++k) targets.push_back({k});
  const auto grow = limits.min_samples_leaf > 1 ? grow_all<Newton, CountedBin, FromColumns>
                                                : grow_all<Newton, PlainBin, FromColumns>;
  return grow(data, {g, h, data.n_rows, static_cast<std::size_t>(n_classes)}, targets, limits, 1.0,
              shrinkage, team);
}

}  // namespace edgewise
