#include "class_trees.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "criteria/least_squares.hpp"
#include "criteria/newton.hpp"
#include "fixed_point.hpp"
#include "grower.hpp"
#include "histogram.hpp"
#include "split.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kParallelRows = 1 << 14;

// First and second derivatives of the loss along e_k (base = -1) or e_k - e_base.
struct Derivatives {
  double g = 0.0, h = 0.0;
};

Derivatives derivatives(const Posterior& posterior, Row row, Target target) {
  const double* p = posterior.of_row(row);
  const double g = posterior.residual(row, target.k);
  const double size = std::abs(g);
  if (target.base < 0) return {g, size * (1.0 - size)};
  const double base_g = posterior.residual(row, target.base);
  const double base_size = std::abs(base_g);
  return {g - base_g, size * (1.0 - size) + base_size * (1.0 - base_size) +
                          2.0 * p[target.k] * p[target.base]};
}

// One thread's arrays, reused from tree to tree.
struct Scratch {
  std::vector<double> g, h;     // (n_rows), weighted
  std::vector<Packed> stats;    // (n_rows)
  std::vector<Row> rows;
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
                     double factor, double shrinkage, int min_samples, Scratch& scratch,
                     HistogramPool<Bin>& pool)
      : data_(data), posterior_(posterior), target_(target), factor_(factor),
        shrinkage_(shrinkage), min_samples_(min_samples), s_(scratch), pool_(pool) {}

  void root(Node& node, const Row* rows, bool search, const Team& team) {
    quantise(team);
    if (!search || scale_.g == 0.0) return;
    node.state.active.resize(static_cast<std::size_t>(data_.n_features));
    std::iota(node.state.active.begin(), node.state.active.end(), 0);
    build(node, rows, team);
    find(node);
  }

  void children(Node& parent, const Row* rows, bool search_left, bool search_right,
                const Team& team, int /*slot*/) {
    if (search_left || search_right) {
      Node* small = parent.left.get();
      Node* large = parent.right.get();
      if (small->n_rows() > large->n_rows()) std::swap(small, large);
      small->state.active = large->state.active = parent.state.active;
      build(*small, rows, team);
      large->state.histogram = std::move(parent.state.histogram);
      for (std::size_t b = 0; b < small->state.histogram.size(); ++b)
        large->state.histogram[b] -= small->state.histogram[b];
      large->state.total = difference(parent.state.total, small->state.total);
      settle(*parent.left, search_left);
      settle(*parent.right, search_right);
    } else {
      pool_.give_back(std::move(parent.state.histogram));
    }
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row* rows, Tree& tree,
              const Team& team) {
    const bool pair = target_.base >= 0;
    tree.width = pair ? 2 : 1;
    tree.classes.resize(leaves.size() * static_cast<std::size_t>(tree.width));
    tree.values.resize(tree.classes.size());
    team.each(leaves.size(), [&](std::size_t j, int) {
      const double value = shrinkage_ * newton_step(*leaves[j], rows);
      const std::size_t at = j * static_cast<std::size_t>(tree.width);
      tree.classes[at] = target_.k;
      tree.values[at] = value;
      if (pair) {
        tree.classes[at + 1] = target_.base;
        tree.values[at + 1] = -value;
      }
    });
    for (auto& leaf : leaves) pool_.give_back(std::move(leaf->state.histogram));
  }

 private:
  // Derivatives of every row, their exact totals, and from these the packed statistics.
  void quantise(const Team& team) {
    const std::size_t n = data_.n_rows;
    s_.g.resize(n), s_.h.resize(n), s_.stats.resize(n);
    derive(team);
    const auto [sum_g, sum_mass] = totals(team);
    scale_ = FixedPoint{FixedPoint::units(static_cast<double>(sum_g) / unit_.g, n),
                        FixedPoint::units(static_cast<double>(sum_mass) / mass_unit_, n)};
    team.range(n, kParallelRows, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i)
        s_.stats[i] = scale_(s_.g[i], mass(i));
    });
  }

  double mass(std::size_t i) const {
    return Criterion::mass(posterior_.weight(static_cast<Row>(i)), s_.h[i]);
  }

  // Weighted g and h of every row, and units fine enough for exact sums of them.
  void derive(const Team& team) {
    std::vector<Derivatives> most(static_cast<std::size_t>(team.size()), {1e-300, 1e-300});
    team.range(data_.n_rows, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
      Derivatives largest = most[static_cast<std::size_t>(slot)];
      for (std::size_t i = begin; i < end; ++i) {
        const auto row = static_cast<Row>(i);
        const auto [g, h] = derivatives(posterior_, row, target_);
        const double w = posterior_.weight(row);
        s_.g[i] = w * g;
        s_.h[i] = w * h;
        largest.g = std::max(largest.g, std::abs(s_.g[i]));
        largest.h = std::max(largest.h, s_.h[i]);
      }
      most[static_cast<std::size_t>(slot)] = largest;
    });
    for (const auto& [g, h] : most) {
      most[0].g = std::max(most[0].g, g);
      most[0].h = std::max(most[0].h, h);
    }
    unit_ = {sum_scale(data_.n_rows, most[0].g), sum_scale(data_.n_rows, most[0].h)};
    mass_unit_ =
        sum_scale(data_.n_rows, Criterion::mass(posterior_.largest_weight(), most[0].h));
  }

  std::pair<std::int64_t, std::int64_t> totals(const Team& team) const {
    std::vector<std::int64_t> g(static_cast<std::size_t>(team.size())), h(g.size());
    team.range(data_.n_rows, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
      std::int64_t sum_g = 0, sum_mass = 0;
      for (std::size_t i = begin; i < end; ++i) {
        sum_g += to_integer(std::abs(s_.g[i]) * unit_.g);
        sum_mass += to_integer(mass(i) * mass_unit_);
      }
      g[static_cast<std::size_t>(slot)] += sum_g;
      h[static_cast<std::size_t>(slot)] += sum_mass;
    });
    return {std::accumulate(g.begin(), g.end(), std::int64_t{0}),
            std::accumulate(h.begin(), h.end(), std::int64_t{0})};
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

  void find(Node& node) {
    const double unit = scale_.h / (scale_.g * scale_.g);
    node.split = find_split(data_, node.state.histogram.data(), node.state.total, min_samples_,
                            unit, node.state.active);
  }

  void settle(Node& node, bool search) {
    if (search) find(node);
    if (!node.split.found()) pool_.give_back(std::move(node.state.histogram));
  }

  // factor sum g / sum h over the leaf, both exact in a finer fixed point than the histogram's.
  double newton_step(const Node& leaf, const Row* rows) const {
    std::int64_t g = 0, h = 0;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      g += to_integer(s_.g[rows[i]] * unit_.g);
      h += to_integer(s_.h[rows[i]] * unit_.h);
    }
    if (g == 0) return 0.0;
    const double step = (static_cast<double>(g) / unit_.g) /
                        (static_cast<double>(std::max<std::int64_t>(h, 1)) / unit_.h);
    return std::clamp(factor_ * step, -kLeafClip, kLeafClip);
  }

  const BinnedData& data_;
  const Posterior& posterior_;
  Target target_;
  double factor_, shrinkage_;
  int min_samples_;
  Scratch& s_;
  HistogramPool<Bin>& pool_;
  FixedPoint scale_;
  Derivatives unit_;        // units per 1.0 of g and h in exact sums
  double mass_unit_ = 1.0;  // the same for the criterion's second channel
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
    s.rows.resize(data.n_rows);
    std::iota(s.rows.begin(), s.rows.end(), Row{0});
    ClassTreeEvaluator<Criterion, Bin> evaluator(data, posterior, targets[t], factor, shrinkage,
                                                 limits.min_samples_leaf, s, pool);
    trees[t] = Grower(data, limits, evaluator, inner).grow(s.rows);
  };
  const std::size_t threads = scratch.size();
  const std::size_t whole = threads == 1 ? targets.size() : targets.size() / threads * threads;
  team.each(whole, [&](std::size_t t, int slot) { grow(t, slot, Team(1)); });
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
