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
#include <utility>
#include <vector>

#include "binned.hpp"
#include "fixed_point.hpp"
#include "grower.hpp"
#include "histogram.hpp"
#include "lane_categories.hpp"
#include "lanes.hpp"
#include "row_sums.hpp"
#include "split.hpp"
#include "vectors.hpp"

namespace edgewise {

// Features [first, last) whose histograms fit the cache together: the unit of work of a thread.
struct FeatureGroup {
  int first, last;
};
std::vector<FeatureGroup> feature_groups(const BinnedData& data, std::size_t lanes,
                                         std::size_t at_least);

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
        lanes_(criterion.lanes()),
        groups_(feature_groups(data, lanes_, static_cast<std::size_t>(team.size()))),
        bytes_(data.n_places() * lanes_ * sizeof(Lane)) {}

  void root(Node& node, const Row* rows, const Team& team) {
    node.state.active = limits_.allowed(data_.feature_of);
    build(node, rows, team);
  }

  void inherit(Node& parent, const Row* rows, bool search, const Team& team, int /*slot*/) {
    Node &left = *parent.left, &right = *parent.right;
    left.state.active = parent.state.active;
    right.state.active = std::move(parent.state.active);
    if (!search) return drop(parent);
    if (parent.state.histogram.empty()) {  // was dropped to save memory
      build(left, rows, team);
      build(right, rows, team);
      return;
    }
    Node& small = left.n_rows() <= right.n_rows() ? left : right;
    Node& large = left.n_rows() <= right.n_rows() ? right : left;
    build(small, rows, team);
    subtract(parent, small, large);
  }

  void search(Node& node, const Row*, const Team& team, int /*slot*/) {
    limits_.interactions.restrict_to(node.path, data_.feature_of, node.state.active);
    if (data_.sparse) std::erase_if(node.state.active, [&](int f) { return hopeless(node, f); });
    const auto& active = node.state.active;
    std::vector<Cut> cuts(active.size());
    std::vector<std::uint8_t> splits(active.size());
    team.range(active.size(), 4, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t a = begin; a < end; ++a) splits[a] = scan(node, active[a], cuts[a]);
    });
    node.split = best_of(node, cuts);
    std::size_t kept = 0;
    for (std::size_t a = 0; a < active.size(); ++a)
      if (splits[a]) node.state.active[kept++] = node.state.active[a];
    node.state.active.resize(kept);
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
    return others < least();
  }

  // What `count` must say of a leaf.
  int least() const { return criterion_.counts_rows() ? limits_.min_samples_leaf : 1; }

  Lane* places_of(Node& node, int f) const {
    return node.state.histogram.data() + data_.offset[static_cast<std::size_t>(f)] * lanes_;
  }

  void build(Node& node, const Row* rows, const Team& team) {
    auto& s = node.state;
    s.histogram = zeroed(s.active);
    s.total.assign(lanes_, 0);
    for (std::size_t i = node.begin; i < node.end; ++i) criterion_.add(rows[i], s.total.data());
    if (data_.sparse) {
      team.each(data_.blocks.size(), [&](std::size_t b, int) { add_block(node, rows, b); });
    } else {
      team.each(groups_.size(), [&](std::size_t g, int) {
        criterion_.add_dense(data_, groups_[g], rows + node.begin, node.n_rows(),
                             s.histogram.data());
      });
    }
  }

  // Sparse layout: what rows list, then the usual bins from the total.
  void add_block(Node& node, const Row* rows, std::size_t b) {
    const Block& block = data_.blocks[b];
    Lane* histogram = node.state.histogram.data();
    Lane* base = histogram + block.base * lanes_;
    for (std::size_t i = node.begin; i < node.end; ++i)
      for (const std::uint16_t place : block.of(rows[i]))
        criterion_.add(rows[i], base + place * lanes_);
    const auto& active = node.state.active;
    const auto last = std::lower_bound(active.begin(), active.end(), block.last);
    for (auto at = std::lower_bound(active.begin(), last, block.first); at != last; ++at) {
      const int f = *at;
      Lane* places = places_of(node, f);
      const auto u = static_cast<std::size_t>(f);
      const std::size_t n_places = data_.offset[u + 1] - data_.offset[u];
      Lane* usual = places + data_.usual[u] * lanes_;
      for (std::size_t l = 0; l < lanes_; ++l) {
        Lane rest = node.state.total[l];
        for (std::size_t p = 0; p < n_places; ++p) rest -= places[p * lanes_ + l];
        usual[l] += rest;
      }
    }
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

  // The best cut of one feature; returns whether it can be split at all, here or in the children.
  bool scan(Node& node, int f, Cut& best) {
    const auto u = static_cast<std::size_t>(f);
    const Lane* places = places_of(node, f);
    if (data_.is_categorical(f)) {
      auto search = search_categories(node, f);
      if (search.splits()) best = node.key == 0 ? search.best() : search.drawn(node.key, f);
      return search.splits();
    }
    const int n_bins = data_.n_value_bins(f);
    const Lane* missing = places + static_cast<std::size_t>(n_bins) * lanes_;
    const bool has_missing =
        data_.cuts.has_missing[u] && criterion_.count(missing) > 0;  // in this node
    auto only = [&](bool missing_left) {
      if (node.key == 0) return kAllCuts;
      const std::int64_t n_missing = has_missing ? criterion_.count(missing) : 0;
      return draw_cut(node.key, f, n_bins, {n_missing, missing_left, least()}, [&](int b) {
        return criterion_.count(places_of(node, f) + static_cast<std::size_t>(b) * lanes_);
      });
    };
    bool splits =
        consider(node, places, has_missing ? n_bins : n_bins - 1, nullptr, only(false), best);
    if (has_missing) splits |= consider(node, places, n_bins - 1, missing, only(true), best);
    return splits;
  }

  CategorySearch<Criterion> search_categories(Node& node, int f) const {
    return {criterion_, places_of(node, f), data_.n_bins(f), node.state.total.data(),
            limits_.min_samples_leaf};
  }

  // Considers the first n cuts, or just the `only` one; `missing` goes left where given. Bins
  // without rows part the rows as the bin before does, and are passed over.
  bool consider(const Node& node, const Lane* places, int n, const Lane* missing, int only,
                Cut& best) {
    constexpr std::size_t kOnStack = 64;
    Lane on_stack[kOnStack];
    std::vector<Lane> on_heap(lanes_ > kOnStack ? lanes_ : 0);
    Lane* left = lanes_ > kOnStack ? on_heap.data() : on_stack;
    if (missing) {
      std::copy_n(missing, lanes_, left);
    } else {
      std::fill_n(left, lanes_, 0);
    }
    const Lane* total = node.state.total.data();
    const auto all = criterion_.count(total);
    bool splits = false;
    for (int b = 0; b < n; ++b, places += lanes_) {
      if (criterion_.count(places) == 0) continue;
      const double score = criterion_.advance(left, places, total);
      const auto n_left = criterion_.count(left);
      if (n_left == all) break;
      splits = true;
      if (only != kAllCuts && b != only) continue;
      if (criterion_.counts_rows() &&
          (n_left < limits_.min_samples_leaf || all - n_left < limits_.min_samples_leaf))
        continue;
      if (score > best.score * kTie) best = {score, b, missing != nullptr, {}};
    }
    return splits;
  }

  Split best_of(Node& node, const std::vector<Cut>& cuts) {
    Split split;
    Cut best;
    for (std::size_t a = 0; a < cuts.size(); ++a) {
      if (cuts[a].bin < 0 || cuts[a].score <= best.score * kTie) continue;
      best = cuts[a];
      split = {0.0, node.state.active[a], best.bin, best.missing_left};
    }
    if (!split.found()) return {};
    const double gain = best.score - criterion_.unsplit(node.state.total.data());
    if (gain <= kMinRelativeGain * best.score) return {};
    split.gain = gain * criterion_.gain_unit();
    if (data_.is_categorical(split.feature)) {
      BinSet right;
      search_categories(node, split.feature).seen().each([&](int bin) {
        if (!best.left.contains(bin)) right.insert(bin);
      });
      take_sides(data_, best.left, right, split);
    } else {
      split.bin =
          centred(places_of(node, split.feature), data_.n_value_bins(split.feature), best.bin);
    }
    return split;
  }

  // As centre_in_gap, on lanes.
  int centred(const Lane* places, int n_bins, int bin) const {
    auto empty = [&](int b) {
      return criterion_.count(places + static_cast<std::size_t>(b) * lanes_) == 0;
    };
    int low = bin, high = bin + 1;
    while (low > 0 && empty(low)) --low;
    while (high < n_bins && empty(high)) ++high;
    return high == n_bins ? n_bins - 1 : (low + high - 1) / 2;
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
    node.state.histogram = {};
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
  const Criterion& criterion_;
  std::size_t lanes_;
  std::vector<FeatureGroup> groups_;
  std::size_t bytes_;
  std::mutex mutex_;
  std::atomic<std::size_t> held_{0};
  std::vector<std::vector<Lane>> free_;
};

}  // namespace edgewise
