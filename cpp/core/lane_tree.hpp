// Trees whose rows carry a number per class, fixed for the whole tree; their histograms have lanes
// (see lanes.hpp).
//
// Hamming trees (all lanes of a row filled) and Gini trees (only the lane of its class) differ in
// the criterion, which provides
//   lanes(), counts_rows(), gain_unit()     the layout; whether min_samples_leaf is kept; gain of 1
//   count(place)                            rows in a place, or a weight that is positive with them
//   add(row, place), add_dense(...)         a row's lanes added to a place, to its features' places
//   advance(left, bin, total)               left += bin; the score of the cut
//   unsplit(total), finish(tree, ...)       the score without a cut; what the leaves are left with
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "fixed_point.hpp"
#include "grower.hpp"
#include "histogram.hpp"
#include "lane_search.hpp"
#include "lanes.hpp"

namespace edgewise {

// Features [first, last) whose histograms fit the cache together: the unit of work of a thread.
struct FeatureGroup {
  int first, last;
};
std::vector<FeatureGroup> feature_groups(const BinnedData& data, std::size_t lanes,
                                         std::size_t at_least);

// Rows of a node for which histograms, made once and passed on to a child by subtraction, are less
// work than sums of the rows made anew for every feature, in a space that stays in the cache.
std::size_t rows_worth_a_histogram(const BinnedData& data, std::size_t lanes);

// Adds the lanes of rows, `values` (n_rows, lanes), to the histograms of a group's features.
void add_lanes(const BinnedData& data, FeatureGroup group, const Row* rows, std::size_t n,
               const Lane* values, std::size_t lanes, Lane* histogram);

// The row side: sums of the lanes of some rows. The rows may be a part of the data.
template <class Criterion>
class LaneRows {
 public:
  LaneRows(const BinnedData& data, const Criterion& criterion, const Team& team)
      : data_(data),
        criterion_(criterion),
        lanes_(criterion.lanes()),
        groups_(feature_groups(data, lanes_, static_cast<std::size_t>(team.size()))) {}

  std::vector<Lane> total(std::span<const Row> rows) const {
    std::vector<Lane> sums(lanes_);
    for (const Row row : rows) criterion_.add(row, sums.data());
    return sums;
  }

  // Adds to the places of some features, which are zero.
  void fill(std::span<const Row> rows, const std::vector<int>& features, const Lane* total,
            Lane* histogram, const Team& team) const {
    if (data_.sparse) {
      team.each(data_.blocks.size(), [&](std::size_t b, int) {
        add_block(rows, features, total, data_.blocks[b], histogram);
      });
    } else {
      team.each(groups_.size(), [&](std::size_t g, int) {
        criterion_.add_dense(data_, groups_[g], rows.data(), rows.size(), histogram);
      });
    }
  }

  // Calls look(places) with what the rows have in the bins of feature f; `places` is zero before
  // and after.
  template <class Look>
  void show(std::span<const Row> rows, int f, std::vector<Lane>& places, Look look) const {
    places.resize((kMaxValueBins + 1) * lanes_);
    const Column& column = data_.column(f);
    column.each(rows.data(), rows.size(), [&](std::size_t i, Code code) {
      criterion_.add(rows[i], places.data() + code * lanes_);
    });
    look(places.data());
    column.each(rows.data(), rows.size(), [&](std::size_t, Code code) {
      std::fill_n(places.data() + code * lanes_, lanes_, 0);
    });
  }

 private:
  // Sparse layout: what rows list, then the usual bins from the total.
  void add_block(std::span<const Row> rows, const std::vector<int>& features, const Lane* total,
                 const Block& block, Lane* histogram) const {
    Lane* base = histogram + block.base * lanes_;
    for (const Row row : rows)
      for (const std::uint16_t place : block.of(row)) criterion_.add(row, base + place * lanes_);
    const auto last = std::lower_bound(features.begin(), features.end(), block.last);
    for (auto at = std::lower_bound(features.begin(), last, block.first); at != last; ++at) {
      const auto u = static_cast<std::size_t>(*at);
      Lane* places = histogram + data_.offset[u] * lanes_;
      const std::size_t n_places = data_.offset[u + 1] - data_.offset[u];
      Lane* usual = places + data_.usual[u] * lanes_;
      for (std::size_t l = 0; l < lanes_; ++l) {
        Lane rest = total[l];
        for (std::size_t p = 0; p < n_places; ++p) rest -= places[p * lanes_ + l];
        usual[l] += rest;
      }
    }
  }

  const BinnedData& data_;
  const Criterion& criterion_;
  std::size_t lanes_;
  std::vector<FeatureGroup> groups_;
};

template <class Criterion>
class LaneEvaluator {
 public:
  struct State {
    std::vector<Lane> histogram, total;
    std::vector<int> active;  // features not constant in the node
  };
  using Node = Leaf<State>;

  LaneEvaluator(const BinnedData& data, const GrowLimits& limits, const Criterion& criterion,
                const Team& team)
      : data_(data),
        limits_(limits),
        criterion_(criterion),
        row_side_(data, criterion, team),
        search_(data, limits, criterion),
        lanes_(criterion.lanes()),
        scratch_(static_cast<std::size_t>(team.size())),
        least_kept_(rows_worth_a_histogram(data, lanes_)),
        bytes_(data.n_places() * lanes_ * sizeof(Lane)) {}

  void root(Node& node, const Row* rows, const Team& team) {
    node.state.active = limits_.allowed(data_.varying, data_.feature_of);
    build(node, rows, team);
  }

  void inherit(Node& parent, const Row* rows, bool search, const Team& team, int /*slot*/) {
    Node &left = *parent.left, &right = *parent.right;
    left.state.active = parent.state.active;
    right.state.active = std::move(parent.state.active);
    if (!search) return drop(parent);
    if (std::max(left.n_rows(), right.n_rows()) < least_kept_) {
      drop(parent);
      sum(left, rows);
      sum(right, rows);
      return;
    }
    if (parent.state.histogram.empty()) {  // was dropped to save memory
      build(left, rows, team);
      build(right, rows, team);
      return;
    }
    Node& small = left.n_rows() <= right.n_rows() ? left : right;
    Node& large = left.n_rows() <= right.n_rows() ? right : left;
    build(small, rows, team);
    subtract(parent, small, large);
    if (small.n_rows() < least_kept_) drop(small);
  }

  void search(Node& node, const Row* rows, const Team& team, int slot) {
    auto& active = node.state.active;
    const LaneNode of{node.state.total.data(), node.key};
    if (node.state.histogram.empty()) {  // few rows
      // A thread alone has its number in `slot`, those of a team in `thread`; the other one is 0.
      node.split = search_(of, active, team, [&](int f, int thread, auto look) {
        row_side_.show(of_node(node, rows), f, scratch_[static_cast<std::size_t>(slot + thread)],
                       look);
      });
      return;
    }
    if (data_.sparse) std::erase_if(active, [&](int f) { return hopeless(node, f); });
    node.split =
        search_(of, active, team, [&](int f, int, auto look) { look(places_of(node, f)); });
    if (!node.split.found() || held_ > kHeldBytes) drop(node);
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row*, Tree& tree,
              const Team& team) {
    criterion_.finish(tree, leaves.size(), team);
  }

 private:
  static constexpr std::size_t kHeldBytes = std::size_t{1} << 28;  // histograms of open leaves

  // Whether too few rows are in another bin than the usual one for any cut, here or in the
  // children.
  bool hopeless(Node& node, int f) const {
    const Code usual = data_.usual[static_cast<std::size_t>(f)];
    const auto others = criterion_.count(node.state.total.data()) -
                        criterion_.count(places_of(node, f) + usual * lanes_);
    return others < search_.least();
  }

  Lane* places_of(Node& node, int f) const {
    return node.state.histogram.data() + data_.offset[static_cast<std::size_t>(f)] * lanes_;
  }

  static std::span<const Row> of_node(const Node& node, const Row* rows) {
    return {rows + node.begin, node.n_rows()};
  }

  void sum(Node& node, const Row* rows) const {
    node.state.total = row_side_.total(of_node(node, rows));
  }

  void build(Node& node, const Row* rows, const Team& team) {
    auto& s = node.state;
    s.histogram = zeroed(s.active);
    sum(node, rows);
    row_side_.fill(of_node(node, rows), s.active, s.total.data(), s.histogram.data(), team);
  }

  void subtract(Node& parent, const Node& small, Node& large) {
    auto& s = large.state;
    s.histogram = std::move(parent.state.histogram);
    s.total = parent.state.total;
    for (std::size_t l = 0; l < lanes_; ++l) s.total[l] -= small.state.total[l];
    for (const int f : s.active) {
      const auto u = static_cast<std::size_t>(f);
      Lane* to = s.histogram.data();
      const Lane* from = small.state.histogram.data();
      for (std::size_t p = data_.offset[u] * lanes_; p < data_.offset[u + 1] * lanes_; ++p)
        to[p] -= from[p];
    }
  }

  // Zero at the places of some features.
  std::vector<Lane> zeroed(const std::vector<int>& features) {
    std::vector<Lane> histogram;
    {
      std::lock_guard lock(mutex_);
      held_ += bytes_;
      if (!free_.empty()) {
        histogram = std::move(free_.back());
        free_.pop_back();
      }
    }
    const std::size_t size = data_.n_places() * lanes_;
    if (histogram.size() != size || !data_.sparse) {
      histogram.assign(size, 0);
      return histogram;
    }
    each_range(data_, features, [&](std::size_t begin, std::size_t end) {
      std::fill_n(histogram.data() + begin * lanes_, (end - begin) * lanes_, 0);
    });
    return histogram;
  }
  void drop(Node& node) {
    if (node.state.histogram.empty()) return;
    std::lock_guard lock(mutex_);
    held_ -= bytes_;
    if (free_.size() < 8) free_.push_back(std::move(node.state.histogram));
    release(node.state.histogram);
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
  const Criterion& criterion_;
  LaneRows<Criterion> row_side_;
  LaneSearch<Criterion> search_;
  std::size_t lanes_;
  std::vector<std::vector<Lane>> scratch_;  // for each thread, the places of a feature
  std::size_t least_kept_;                  // rows of a node whose histogram is kept
  std::size_t bytes_;
  std::mutex mutex_;
  std::atomic<std::size_t> held_{0};
  std::vector<std::vector<Lane>> free_;
};

}  // namespace edgewise
