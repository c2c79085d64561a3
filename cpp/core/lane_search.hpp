// The best split of a node of a lane tree, from the lanes at the places of its features' bins,
// wherever these are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "binned.hpp"
#include "lane_categories.hpp"
#include "lanes.hpp"
#include "random_cut.hpp"
#include "split.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// What a node's cuts are scored by, all its features alike.
struct LaneNode {
  const Lane* total;
  CutKey key;  // where cuts are drawn
};

template <class Criterion>
class LaneSearch {
 public:
  LaneSearch(const BinnedData& data, const GrowLimits& limits, const Criterion& criterion)
      : data_(data), limits_(limits), criterion_(criterion), lanes_(criterion.lanes()) {}

  // Features that cannot be split, here or in the children, are taken out of `active`.
  // show(f, slot, look) calls look(places) with the lanes of all bins of feature f.
  template <class Show>
  Split operator()(LaneNode node, std::vector<int>& active, const Team& team, Show show) const {
    std::vector<Cut> cuts(active.size());
    std::vector<std::uint8_t> splits(active.size());
    team.range(active.size(), 4, [&](std::size_t begin, std::size_t end, int slot) {
      for (std::size_t a = begin; a < end; ++a)
        show(active[a], slot,
             [&](const Lane* places) { splits[a] = scan(node, active[a], places, cuts[a]); });
    });
    const std::size_t best = best_of(cuts);
    Split split;
    if (best < cuts.size())
      show(active[best], 0,
           [&](const Lane* places) { split = chosen(node, active[best], places, cuts[best]); });
    std::size_t kept = 0;
    for (std::size_t a = 0; a < active.size(); ++a)
      if (splits[a]) active[kept++] = active[a];
    active.resize(kept);
    return split;
  }

  // What `count` must say of a leaf.
  int least() const { return criterion_.counts_rows() ? limits_.min_samples_leaf : 1; }

 private:
  const Lane* at(const Lane* places, int bin) const {
    return places + static_cast<std::size_t>(bin) * lanes_;
  }

  // The best cut of one feature; returns whether it can be split at all, here or in the children.
  bool scan(LaneNode node, int f, const Lane* places, Cut& best) const {
    if (data_.is_categorical(f)) {
      auto search = search_categories(node, f, places);
      if (search.splits()) best = node.key == 0 ? search.best() : search.drawn(node.key, f);
      return search.splits();
    }
    const int n_bins = data_.n_value_bins(f);
    const Lane* missing = at(places, n_bins);
    const bool has_missing = data_.cuts.has_missing[static_cast<std::size_t>(f)] &&
                             criterion_.count(missing) > 0;  // in this node
    auto only = [&](bool missing_left) {
      if (node.key == 0) return kAllCuts;
      const std::int64_t n_missing = has_missing ? criterion_.count(missing) : 0;
      return draw_cut(node.key, f, n_bins, {n_missing, missing_left, least()},
                      [&](int b) -> std::int64_t { return criterion_.count(at(places, b)); });
    };
    bool splits =
        consider(node, places, has_missing ? n_bins : n_bins - 1, nullptr, only(false), best);
    if (has_missing) splits |= consider(node, places, n_bins - 1, missing, only(true), best);
    return splits;
  }

  CategorySearch<Criterion> search_categories(LaneNode node, int f, const Lane* places) const {
    return {criterion_, places, data_.n_bins(f), node.total, limits_.min_samples_leaf};
  }

  // Considers the first n cuts, or just the `only` one; `missing` goes left where given. Bins
  // without rows part the rows as the bin before does, and are passed over.
  bool consider(LaneNode node, const Lane* places, int n, const Lane* missing, int only,
                Cut& best) const {
    constexpr std::size_t kOnStack = 64;
    Lane on_stack[kOnStack];
    std::vector<Lane> on_heap(lanes_ > kOnStack ? lanes_ : 0);
    Lane* left = lanes_ > kOnStack ? on_heap.data() : on_stack;
    if (missing) {
      std::copy_n(missing, lanes_, left);
    } else {
      std::fill_n(left, lanes_, 0);
    }
    const auto all = criterion_.count(node.total);
    bool splits = false;
    for (int b = 0; b < n; ++b, places += lanes_) {
      if (criterion_.count(places) == 0) continue;
      const double score = criterion_.advance(left, places, node.total);
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

  // The place of the first of the best cuts; past the end if there is none.
  static std::size_t best_of(const std::vector<Cut>& cuts) {
    std::size_t best = cuts.size();
    double score = Cut{}.score;
    for (std::size_t a = 0; a < cuts.size(); ++a) {
      if (cuts[a].bin < 0 || cuts[a].score <= score * kTie) continue;
      score = cuts[a].score;
      best = a;
    }
    return best;
  }

  // The split that a cut of feature f makes, if it gains anything.
  Split chosen(LaneNode node, int f, const Lane* places, const Cut& cut) const {
    const double gain = cut.score - criterion_.unsplit(node.total);
    if (gain <= kMinRelativeGain * cut.score) return {};
    Split split{gain * criterion_.gain_unit(), f, cut.bin, cut.missing_left};
    if (data_.is_categorical(f)) {
      BinSet right;
      search_categories(node, f, places).seen().each([&](int bin) {
        if (!cut.left.contains(bin)) right.insert(bin);
      });
      take_sides(data_, cut.left, right, split);
    } else {
      split.bin = centred(places, data_.n_value_bins(f), cut.bin);
    }
    return split;
  }

  // As centre_in_gap, on lanes.
  int centred(const Lane* places, int n_bins, int bin) const {
    auto empty = [&](int b) { return criterion_.count(at(places, b)) == 0; };
    int low = bin, high = bin + 1;
    while (low > 0 && empty(low)) --low;
    while (high < n_bins && empty(high)) ++high;
    return high == n_bins ? n_bins - 1 : (low + high - 1) / 2;
  }

  const BinnedData& data_;
  const GrowLimits& limits_;
  const Criterion& criterion_;
  std::size_t lanes_;
};

}  // namespace edgewise
