#include "class_trees.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "clones.hpp"
#include "criteria/least_squares.hpp"
#include "criteria/newton.hpp"
#include "fixed_point.hpp"
#include "grower.hpp"
#include "histogram.hpp"
#include "split.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kParallelRows = 1 << 13;

struct Derivatives {
  double g = 0.0, h = 0.0;
};

// First and second derivatives of the loss along e_k from the residuals r of class k, weighted; h
// is p (1 - p), which is |r| (1 - |r|) whether or not k is the true class.
EDGEWISE_CLONES void derive_alone(const double* r, const double* weights, std::size_t n, double* g,
                                  double* h) {
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weights ? weights[i] : 1.0;
    const double size = std::abs(r[i]);
    g[i] = w * r[i];
    h[i] = w * (size * (1.0 - size));
  }
}

// The same along e_k - e_b from the residuals of k and of the base class b. A residual is positive
// only for the true class, so p = 1 - r there and p = -r elsewhere.
EDGEWISE_CLONES void derive_against(const double* r, const double* base, const double* weights,
                                    std::size_t n, double* g, double* h) {
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weights ? weights[i] : 1.0;
    const double a = std::abs(r[i]), b = std::abs(base[i]);
    const double p = r[i] > 0.0 ? 1.0 - a : a;
    const double p_base = base[i] > 0.0 ? 1.0 - b : b;
    g[i] = w * (r[i] - base[i]);
    h[i] = w * (a * (1.0 - a) + b * (1.0 - b) + 2.0 * p * p_base);
  }
}

EDGEWISE_CLONES double largest_of(const double* x, std::size_t n, double at_least) {
  double most[8];
  std::fill(most, most + 8, at_least);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) {
      const double size = std::abs(x[i + j]);
      most[j] = size > most[j] ? size : most[j];
    }
  for (; i < n; ++i) most[0] = std::max(most[0], std::abs(x[i]));
  return *std::max_element(most, most + 8);
}

EDGEWISE_CLONES std::int64_t sum_of_sizes(const double* x, std::size_t n, double unit) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += to_integer(std::abs(x[i]) * unit);
  return sum;
}

EDGEWISE_CLONES void pack_rows(const double* g, const double* mass, std::size_t n, FixedPoint scale,
                               Packed* stats) {
  for (std::size_t i = 0; i < n; ++i) stats[i] = scale(g[i], mass[i]);
}

// One thread's arrays, reused from tree to tree.
struct Scratch {
  std::vector<double> g, h;        // (n_rows), weighted
  std::vector<double> ones;        // (n_rows), where least squares needs unit weights
  std::vector<Packed> stats;       // (n_rows)
  std::vector<Row> rows, skipped;  // rows that count in the search for splits, and the others
};

// Histograms handed out and taken back.
template <class Bin>
class HistogramPool {
 public:
  explicit HistogramPool(std::size_t n_places) : n_places_(n_places) {}

  std::vector<Bin> zeroed() {
    std::vector<Bin> histogram;
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        histogram = std::move(free_.back());
        free_.pop_back();
      }
    }
    histogram.assign(n_places_, Bin{});
    return histogram;
  }
  void give_back(std::vector<Bin>&& histogram) {
    if (histogram.empty()) return;
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(histogram));
  }

 private:
  std::size_t n_places_;
  std::mutex mutex_;
  std::vector<std::vector<Bin>> free_;
};

template <class Criterion, class Bin>
class ClassTreeEvaluator {
 public:
  struct State {
    Bin total;
    std::vector<Bin> histogram;
    std::vector<int> active;  // features not constant in the node
  };
  using Node = Leaf<State>;

  ClassTreeEvaluator(const BinnedData& data, const Posterior& posterior, Target target,
                     double factor, double shrinkage, const GrowLimits& limits, Scratch& scratch,
                     HistogramPool<Bin>& pool)
      : data_(data),
        posterior_(posterior),
        target_(target),
        factor_(factor),
        shrinkage_(shrinkage),
        limits_(limits),
        s_(scratch),
        pool_(pool) {}

  // Derivatives of every row, their exact totals, from these the packed statistics, and the rows
  // that take part in the search for splits.
  void prepare(const Team& team) {
    const std::size_t n = data_.n_rows;
    s_.g.resize(n), s_.h.resize(n), s_.stats.resize(n);
    derive(team);
    mass_ = Criterion::mass(weights_or_ones(), s_.h.data());
    unit_ = {sum_scale(n, largest(s_.g.data(), team)), sum_scale(n, largest(s_.h.data(), team))};
    const double sum_g = total(s_.g.data(), unit_.g, team);
    const double sum_mass = total(mass_, sum_scale(n, largest(mass_, team)), team);
    scale_ = {FixedPoint::units(sum_g, n), FixedPoint::units(sum_mass, n)};
    team.range(n, kParallelRows, [&](std::size_t begin, std::size_t end, int) {
      pack_rows(&s_.g[begin], mass_ + begin, end - begin, scale_, &s_.stats[begin]);
    });
    select(Threshold(limits_.negligible, sum_g * scale_.g, sum_mass * scale_.h, n));
  }

  void root(Node& node, const Row* rows, const Team& team) {
    if (scale_.g == 0.0) return;
    node.state.active.resize(static_cast<std::size_t>(data_.n_features));
    std::iota(node.state.active.begin(), node.state.active.end(), 0);
    build(node, rows, team);
  }

  void inherit(Node& parent, const Row* rows, bool search, const Team& team, int /*slot*/) {
    if (!search) return pool_.give_back(std::move(parent.state.histogram));
    Node* small = parent.left.get();
    Node* large = parent.right.get();
    if (small->n_rows() > large->n_rows()) std::swap(small, large);
    small->state.active = parent.state.active;
    large->state.active = std::move(parent.state.active);
    build(*small, rows, team);
    large->state.histogram = std::move(parent.state.histogram);
    for (std::size_t b = 0; b < small->state.histogram.size(); ++b)
      large->state.histogram[b] -= small->state.histogram[b];
    large->state.total = difference(parent.state.total, small->state.total);
  }

  void search(Node& node, const Row*, const Team&, int /*slot*/) {
    if (node.state.histogram.empty()) return;
    const double unit = scale_.h / (scale_.g * scale_.g);
    node.split = find_split(data_, node.state.histogram.data(), node.state.total,
                            limits_.min_samples_leaf, unit, node.state.active);
    if (!node.split.found()) pool_.give_back(std::move(node.state.histogram));
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row*, Tree& tree,
              const Team& team) {
    const bool pair = target_.base >= 0;
    const auto steps = newton_steps(tree, leaves.size(), team);
    tree.width = pair ? 2 : 1;
    for (std::size_t j = 0; j < leaves.size(); ++j) {
      const double value = shrinkage_ * steps[j];
      tree.classes.push_back(target_.k);
      tree.values.push_back(value);
      if (pair) {
        tree.classes.push_back(target_.base);
        tree.values.push_back(-value);
      }
      pool_.give_back(std::move(leaves[j]->state.histogram));
    }
  }

 private:
  void select(Threshold counts_for_splits) {
    s_.rows.resize(data_.n_rows), s_.skipped.resize(data_.n_rows);
    std::size_t kept = 0, left = 0;
    for (std::size_t i = 0; i < data_.n_rows; ++i) {
      const bool counts = counts_for_splits(s_.stats[i]);
      s_.rows[kept] = s_.skipped[left] = static_cast<Row>(i);
      kept += counts;
      left += !counts;
    }
    s_.rows.resize(kept), s_.skipped.resize(left);
  }

  const double* weights_or_ones() {
    if (posterior_.weighted()) return posterior_.weights();
    s_.ones.resize(data_.n_rows, 1.0);
    return s_.ones.data();
  }

  void derive(const Team& team) {
    const double* weights = posterior_.weights();
    const double* r = posterior_.residuals_of_class(target_.k);
    team.range(data_.n_rows, kParallelRows, [&](std::size_t begin, std::size_t end, int) {
      const double* w = weights ? weights + begin : nullptr;
      const std::size_t n = end - begin;
      if (target_.base < 0) {
        derive_alone(r + begin, w, n, &s_.g[begin], &s_.h[begin]);
      } else {
        const double* base = posterior_.residuals_of_class(target_.base);
        derive_against(r + begin, base + begin, w, n, &s_.g[begin], &s_.h[begin]);
      }
    });
  }

  double largest(const double* x, const Team& team) const {
    std::vector<double> most(static_cast<std::size_t>(team.size()), 1e-300);
    team.range(data_.n_rows, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
      double& m = most[static_cast<std::size_t>(slot)];
      m = largest_of(x + begin, end - begin, m);
    });
    return *std::max_element(most.begin(), most.end());
  }

  // Sum of absolute values, exact in 1 / unit.
  double total(const double* x, double unit, const Team& team) const {
    std::vector<std::int64_t> sum(static_cast<std::size_t>(team.size()));
    team.range(data_.n_rows, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
      sum[static_cast<std::size_t>(slot)] += sum_of_sizes(x + begin, end - begin, unit);
    });
    return static_cast<double>(std::accumulate(sum.begin(), sum.end(), std::int64_t{0})) / unit;
  }

  // Sums rows [begin, end) of the row array into a histogram; returns their total.
  Bin sum(const Row* rows, std::size_t begin, std::size_t end, std::vector<Bin>& histogram) const {
    constexpr std::size_t kAtOnce = 1024;
    Packed stats[kAtOnce];
    Bin total{};
    for (std::size_t b = begin; b < end; b += kAtOnce) {
      const std::size_t n = std::min(kAtOnce, end - b);
      for (std::size_t i = 0; i < n; ++i) {
        stats[i] = s_.stats[rows[b + i]];
        total += Bin::row(stats[i]);
      }
      add_to_histogram(data_, rows + b, stats, n, histogram.data());
    }
    return total;
  }

  void build(Node& node, const Row* rows, const Team& team) {
    node.state.histogram = pool_.zeroed();
    if (team.size() == 1 || node.n_rows() < kParallelRows) {
      node.state.total = sum(rows, node.begin, node.end, node.state.histogram);
    } else {
      build_together(node, rows, team);
    }
    complete_histogram(data_, node.state.total, node.state.histogram.data());
  }

  // Every thread fills a histogram of its own; integers make their sum exact.
  void build_together(Node& node, const Row* rows, const Team& team) {
    std::vector<std::vector<Bin>> part(static_cast<std::size_t>(team.size()));
    std::vector<Bin> total(part.size());
    team.range(node.n_rows(), kParallelRows / 4, [&](std::size_t begin, std::size_t end, int slot) {
      auto& histogram = part[static_cast<std::size_t>(slot)];
      if (histogram.empty()) histogram = pool_.zeroed();
      total[static_cast<std::size_t>(slot)] +=
          sum(rows, node.begin + begin, node.begin + end, histogram);
    });
    for (std::size_t t = 0; t < part.size(); ++t) {
      node.state.total += total[t];
      for (std::size_t b = 0; b < part[t].size(); ++b) node.state.histogram[b] += part[t][b];
      pool_.give_back(std::move(part[t]));
    }
  }

  // factor sum g / sum h over every leaf: all rows count, in a finer fixed point than the
  // histogram's.
  std::vector<double> newton_steps(const Tree& tree, std::size_t n_leaves, const Team& team) const {
    struct Sums {
      std::int64_t g = 0, h = 0;
    };
    std::vector<std::vector<Sums>> part(static_cast<std::size_t>(team.size()));
    for (auto& sums : part) sums.resize(n_leaves);
    team.range(data_.n_rows, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
      Sums* sums = part[static_cast<std::size_t>(slot)].data();
      for (std::size_t i = begin; i < end; ++i) {
        Sums& leaf = sums[tree.leaf_of_row[i]];
        leaf.g += to_integer(s_.g[i] * unit_.g);
        leaf.h += to_integer(s_.h[i] * unit_.h);
      }
    });
    std::vector<double> steps(n_leaves);
    for (std::size_t j = 0; j < n_leaves; ++j) {
      Sums sum;
      for (const auto& sums : part) sum.g += sums[j].g, sum.h += sums[j].h;
      if (sum.g == 0) continue;
      const double step = (static_cast<double>(sum.g) / unit_.g) /
                          (static_cast<double>(std::max<std::int64_t>(sum.h, 1)) / unit_.h);
      steps[j] = std::clamp(factor_ * step, -kLeafClip, kLeafClip);
    }
    return steps;
  }

  const BinnedData& data_;
  const Posterior& posterior_;
  Target target_;
  double factor_, shrinkage_;
  const GrowLimits& limits_;
  Scratch& s_;
  HistogramPool<Bin>& pool_;
  FixedPoint scale_;
  Derivatives unit_;              // units per 1.0 of g and h in exact sums
  const double* mass_ = nullptr;  // (n_rows): the criterion's second channel
};

template <class Criterion, class Bin>
std::vector<Tree> grow_all(const BinnedData& data, const Posterior& posterior,
                           const std::vector<Target>& targets, const GrowLimits& limits,
                           double factor, double shrinkage, const Team& team) {
  HistogramPool<Bin> pool(data.n_places());
  std::vector<Scratch> scratch(static_cast<std::size_t>(team.size()));
  std::vector<Tree> trees(targets.size());
  auto grow = [&](std::size_t t, int slot, const Team& inner) {
    Scratch& s = scratch[static_cast<std::size_t>(slot)];
    ClassTreeEvaluator<Criterion, Bin> evaluator(data, posterior, targets[t], factor, shrinkage,
                                                 limits, s, pool);
    evaluator.prepare(inner);
    trees[t] = Grower(data, limits, evaluator, inner).grow(s.rows, s.skipped);
  };
  const std::size_t threads = scratch.size();
  const std::size_t whole = threads == 1 ? targets.size() : targets.size() / threads * threads;
  team.each(whole, [&](std::size_t t, int slot) { grow(t, slot, team.alone(slot)); });
  for (std::size_t t = whole; t < targets.size(); ++t) grow(t, 0, team);
  return trees;
}

}  // namespace

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
