// Trees from two numbers per row, a gradient and a mass, fixed for the whole tree: a child's
// histogram is its parent's minus its sibling's. Here is the row side; channel_search.hpp has the
// search. A leaf rule computes the values of the leaves.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "channel_search.hpp"
#include "fixed_point.hpp"
#include "grower.hpp"
#include "histogram.hpp"
#include "row_sums.hpp"

namespace edgewise {

// One thread's arrays, reused from tree to tree.
struct TwoChannels {
  std::vector<Packed> stats;  // (n_rows)
  std::vector<Row> rows;      // that count in the search for splits
  std::vector<Row> skipped;   // the others of those that prepare_some was given
};

void pack_rows(const double* g, const double* mass, std::size_t n, FixedPoint scale, Packed* stats);

// Lists the rows that count, ascending.
void select_rows(const std::vector<Packed>& stats, Threshold counts, std::vector<Row>& rows);

// Histograms handed out and taken back.
template <class Bin>
class HistogramPool {
 public:
  explicit HistogramPool(const BinnedData& data) : data_(data) {}

  // Zero at the places of some features.
  std::vector<Bin> zeroed(const std::vector<int>& features) {
    std::vector<Bin> histogram;
    {
      std::lock_guard lock(mutex_);
      ++n_out_;
      if (!free_.empty()) {
        histogram = std::move(free_.back());
        free_.pop_back();
      }
    }
    clear_histogram(data_, features, histogram);
    return histogram;
  }
  void give_back(std::vector<Bin>&& histogram) {
    if (histogram.empty()) return;
    std::lock_guard lock(mutex_);
    --n_out_;
    free_.push_back(std::move(histogram));
  }
  // Whether those handed out take more memory than it is worth to keep for a subtraction.
  bool is_full() {
    std::lock_guard lock(mutex_);
    return n_out_ * data_.n_places() * sizeof(Bin) > kHeldBytes;
  }

 private:
  static constexpr std::size_t kHeldBytes = std::size_t{1} << 28;

  const BinnedData& data_;
  std::mutex mutex_;
  std::size_t n_out_ = 0;
  std::vector<std::vector<Bin>> free_;
};

// A LeafRule provides operator()(Tree&, std::size_t n_leaves, const Team&): classes and values of
// the leaves; tree.leaf_of_row is set. For monotone trees it also provides
//   double step(const Row*, std::size_t) const    the step of a leaf of these rows
//   std::vector<Bounds> bounds                    which it finds filled in, leaf by leaf
template <class Bin, class LeafRule>
class TwoChannelEvaluator {
 public:
  using State = ChannelState<Bin>;
  using Node = Leaf<State>;

  TwoChannelEvaluator(const BinnedData& data, const GrowLimits& limits, TwoChannels& scratch,
                      HistogramPool<Bin>& pool, LeafRule leaf_rule)
      : data_(data),
        limits_(limits),
        s_(scratch),
        pool_(pool),
        leaf_rule_(std::move(leaf_rule)),
        search_(data, limits) {}

  // What the search keeps to.
  ChannelSearch<Bin>& rules() { return search_; }

  // From gradient and mass of every row the packed statistics, and the rows that take part in the
  // search for splits. `sum_g` and `sum_mass` are totals of absolute values.
  void prepare(const double* g, const double* mass, double sum_g, double sum_mass,
               const Team& team) {
    const std::size_t n = data_.n_rows;
    s_.stats.resize(n);
    const FixedPoint scale =
        search_.scale = {FixedPoint::units(sum_g, n), FixedPoint::units(sum_mass, n)};
    team.range(n, kParallelRows, [&](std::size_t begin, std::size_t end, int) {
      pack_rows(g + begin, mass + begin, end - begin, scale, &s_.stats[begin]);
    });
    const std::size_t counted = limits_.sample ? limits_.sample->n_drawn : n;
    const Threshold counts(limits_.negligible, sum_g * scale.g, sum_mass * scale.h, counted);
    select_rows(s_.stats, counts, s_.rows);
  }

  // The same for some rows only, of signed weights (rows) whose sizes sum to one: mass is size.
  void prepare_some(const std::vector<Row>& rows, const std::vector<double>& signed_weights) {
    const std::size_t n = rows.size();
    s_.stats.resize(data_.n_rows);
    s_.rows.clear(), s_.skipped.clear();
    const FixedPoint scale = search_.scale = {FixedPoint::units(1.0, n), FixedPoint::units(1.0, n)};
    const Threshold counts_for_splits(limits_.negligible, scale.g, scale.h, n);
    for (std::size_t j = 0; j < n; ++j) {
      const Packed v = scale(signed_weights[j], std::abs(signed_weights[j]));
      s_.stats[rows[j]] = v;
      (counts_for_splits(v) ? s_.rows : s_.skipped).push_back(rows[j]);
    }
  }

  void root(Node& node, const Row* rows, const Team& team) {
    if (search_.scale.g == 0.0) return;
    node.state.active = search_.features();
    build(node, rows, team);
  }

  void inherit(Node& parent, const Row* rows, bool search, const Team& team, int /*slot*/) {
    if constexpr (kHasSteps)
      if (search_.directions.any())
        search_.part_bounds(parent, [&](const Node& side) {
          return leaf_rule_.step(rows + side.begin, side.n_rows());
        });
    if (!search) return pool_.give_back(std::move(parent.state.histogram));
    Node* small = parent.left.get();
    Node* large = parent.right.get();
    if (small->n_rows() > large->n_rows()) std::swap(small, large);
    small->state.active = parent.state.active;
    large->state.active = std::move(parent.state.active);
    const bool remove = !parent.state.histogram.empty() && data_.pays_to_remove(small->n_rows());
    if (remove)
      drop_hopeless(data_, rows + small->begin, small->n_rows(), limits_.min_samples_leaf,
                    small->state.active);
    build(*small, rows, team);
    if (parent.state.histogram.empty()) return build(*large, rows, team);  // was not kept
    large->state.histogram = std::move(parent.state.histogram);
    if (remove) {
      remove_rows(rows, *small, *large);
    } else {
      each_range(data_, large->state.active, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b)
          large->state.histogram[b] -= small->state.histogram[b];
      });
    }
    large->state.total = difference(parent.state.total, small->state.total);
  }

  void search(Node& node, const Row*, const Team&, int /*slot*/) {
    search_(node);
    if (!node.split.found() || pool_.is_full()) pool_.give_back(std::move(node.state.histogram));
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row*, Tree& tree,
              const Team& team) {
    if constexpr (kHasSteps)
      if (search_.directions.any())
        for (const auto& leaf : leaves) leaf_rule_.bounds.push_back(leaf->state.bounds);
    leaf_rule_(tree, leaves.size(), team);
    for (const auto& leaf : leaves) pool_.give_back(std::move(leaf->state.histogram));
  }

 private:
  static constexpr bool kHasSteps =
      requires(const LeafRule& rule, const Row* rows) { rule.step(rows, std::size_t{0}); };

  // Sums rows [begin, end) of the row array into a histogram; returns their total.
  Bin sum(const Row* rows, std::size_t begin, std::size_t end, std::vector<Bin>& histogram,
          const Team& team) const {
    constexpr std::size_t kAtOnce = 1024, kManyAtOnce = 65536;
    // Where columns are joint, many rows must pass before the next ones are worth loading; of wide
    // sparse data it is best to know all.
    const std::size_t some = data_.joint.size() == 0 ? kAtOnce : kManyAtOnce;
    const std::size_t at_once = data_.column_at.empty() ? some : end - begin;
    Packed few[kAtOnce];
    std::vector<Packed> many(at_once > kAtOnce ? std::min(at_once, end - begin) : 0);
    Packed* stats = many.empty() ? few : many.data();
    Bin total{};
    for (std::size_t b = begin; b < end; b += at_once) {
      const std::size_t n = std::min(at_once, end - b);
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        stats[i] = s_.stats[rows[b + i]];
        sum += static_cast<std::uint64_t>(stats[i]);
      }
      total += Bin::rows(static_cast<Packed>(sum), n);
      add_to_histogram(data_, rows + b, stats, n, histogram.data(), &team);
    }
    return total;
  }

  // Wide sparse data: a few rows are taken out of their parent's histogram one by one.
  void remove_rows(const Row* rows, const Node& small, Node& large) const {
    Bin* histogram = large.state.histogram.data();
    auto usual = [&](std::size_t f) { return data_.offset[f] + data_.usual[f]; };
    for (const int f : large.state.active)
      histogram[usual(static_cast<std::size_t>(f))] -= small.state.total;
    for (const Block& block : data_.blocks) {
      for (std::size_t i = small.begin; i < small.end; ++i) {
        const Bin v = Bin::row(s_.stats[rows[i]]);
        for (const std::uint16_t entry : block.of(rows[i])) {
          const std::uint32_t place = block.base + entry;
          histogram[place] -= v;
          histogram[usual(data_.column_at[place])] += v;
        }
      }
    }
  }

  void build(Node& node, const Row* rows, const Team& team) {
    if (node.state.active.empty()) {
      node.state.total = {};
      for (std::size_t i = node.begin; i < node.end; ++i)
        node.state.total += Bin::row(s_.stats[rows[i]]);
      return;
    }
    node.state.histogram = pool_.zeroed(node.state.active);
    const std::size_t n = node.n_rows();
    if (team.size() == 1 || n < kParallelRows || data_.pays_by_columns(n)) {
      node.state.total = sum(rows, node.begin, node.end, node.state.histogram, team);
    } else {
      build_together(node, rows, team);
    }
    complete_histogram(data_, node.state.active, node.state.total, node.state.histogram.data());
  }

  // Every thread fills a histogram of its own; integers make their sum exact.
  void build_together(Node& node, const Row* rows, const Team& team) {
    std::vector<std::vector<Bin>> part(static_cast<std::size_t>(team.size()));
    std::vector<Bin> total(part.size());
    team.range(node.n_rows(), kParallelRows / 4, [&](std::size_t begin, std::size_t end, int slot) {
      auto& histogram = part[static_cast<std::size_t>(slot)];
      if (histogram.empty()) histogram = pool_.zeroed(node.state.active);
      total[static_cast<std::size_t>(slot)] +=
          sum(rows, node.begin + begin, node.begin + end, histogram, team.alone(slot));
    });
    for (std::size_t t = 0; t < part.size(); ++t) {
      node.state.total += total[t];
      if (part[t].empty()) continue;
      each_range(data_, node.state.active, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b) node.state.histogram[b] += part[t][b];
      });
      pool_.give_back(std::move(part[t]));
    }
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
  TwoChannels& s_;
  HistogramPool<Bin>& pool_;
  LeafRule leaf_rule_;
  ChannelSearch<Bin> search_;
};

// Calls grow(t, slot, team) for n_trees trees: threads take whole trees; those left over when their
// number is no multiple of the threads are grown one after the other, all threads on each.
template <class Grow>
void share_trees(std::size_t n_trees, const Team& team, Grow grow) {
  const auto threads = static_cast<std::size_t>(team.size());
  const std::size_t whole = threads == 1 ? n_trees : n_trees / threads * threads;
  team.each(whole, [&](std::size_t t, int slot) { grow(t, slot, team.alone(slot)); });
  for (std::size_t t = whole; t < n_trees; ++t) grow(t, 0, team);
}

}  // namespace edgewise
