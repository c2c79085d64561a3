// The two sets of categories that a split of a lane tree parts.
//
// The criteria are convex in the sums of a side, so that some direction d in the space of the
// classes tells the best sets apart: the categories below a level of d . S_v / w_v and those above
// it, S_v the sums of category v (Burshtein et al. 1992). With two classes Gini has one direction,
// and the search is exact. Otherwise directions are looked for, which is a heuristic (no exact way
// is known that does not take exponential time in the classes):
//
// 1. the best category alone against the others;
// 2. for a direction, the categories in the order of d . S_v / w_v, the best beginning of it
//    against the rest; at first the directions are the heaviest classes;
// 3. from the best of these, the direction between the two sides, and again 2, as long as the
//    score grows.
//
// For Gini, 2 and 3 are the iteration of Chou (1991). For the edge, d are votes of the classes: it
// is the alternating optimisation of votes over values and over classes of MultiBoost's indicators
// (Benbouzid et al. 2012), whose next step, the signs of d . S_v, is one of the beginnings tried.
// Categories of equal d . S_v / w_v are not parted, so that codes decide nothing.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "lanes.hpp"
#include "split.hpp"
#include "types.hpp"

namespace edgewise {

// Besides what LaneSearch needs, a Criterion provides
//   n_classes()
//   one_direction()                 whether the first class's direction is enough
//   n_climbs()                      from how many of the starts to go on
//   weight(place)                   w_v
//   direction(left, total, d)       the direction (n_classes) between two sides
template <class Criterion>
class CategorySearch {
 public:
  CategorySearch(const Criterion& criterion, const Lane* places, int n_bins, const Lane* total,
                 int min_samples)
      : criterion_(criterion),
        places_(places),
        total_(total),
        min_samples_(min_samples),
        left_(criterion.lanes()),
        direction_(criterion.n_classes()) {
    for (int b = 0; b < n_bins; ++b)
      if (criterion.count(place(b)) > 0) seen_.push_back(b);
    for (const int b : seen_) weight_.push_back(criterion.weight(place(b)));
    order_.resize(seen_.size());
  }

  // Whether the feature can be split at all, here or in the children.
  bool splits() const { return seen_.size() > 1; }

  // The best sets found; score -1 if none is allowed.
  Cut best() {
    if (criterion_.one_direction()) {
      Cut cut;
      along_class(0, cut);
      return cut;
    }
    std::vector<Cut> cuts(1, alone());
    for (const std::size_t k : heaviest_classes()) along_class(k, cuts.emplace_back());
    std::stable_sort(cuts.begin(), cuts.end(),
                     [](const Cut& a, const Cut& b) { return a.score > b.score; });
    Cut best;
    for (std::size_t i = 0; i < std::min(cuts.size(), criterion_.n_climbs()); ++i) {
      if (cuts[i].bin >= 0) climb(cuts[i]);
      if (cuts[i].score > best.score * kTie) best = cuts[i];
    }
    return best;
  }

  // Where cuts are drawn: a class, and a beginning of the categories in its direction.
  Cut drawn(CutKey key, int feature) {
    const auto classes =
        criterion_.one_direction() ? std::vector<std::size_t>{0} : heaviest_classes();
    std::vector<Cut> cuts;
    if (!classes.empty()) {
      point_along(classes[drawn_of(key, feature, Drawn::class_of_order, classes.size())]);
      each_beginning(
          [&](double score, const BinSet& bins) { cuts.push_back({score, 0, false, bins}); });
    }
    return cuts.empty() ? Cut{} : cuts[drawn_of(key, feature, Drawn::cut, cuts.size())];
  }

  BinSet seen() const {
    BinSet bins;
    for (const int b : seen_) bins.insert(b);
    return bins;
  }

 private:
  static std::size_t drawn_of(CutKey key, int feature, Drawn what, std::size_t n) {
    return static_cast<std::size_t>(draw(key, feature, what, static_cast<int>(n)));
  }

  static constexpr std::size_t kStarts = 8;  // classes whose direction is tried

  const Lane* place(int bin) const {
    return places_ + static_cast<std::size_t>(bin) * criterion_.lanes();
  }

  bool allowed() const {
    if (!criterion_.counts_rows()) return true;
    const auto n_left = criterion_.count(left_.data());
    return n_left >= min_samples_ && criterion_.count(total_) - n_left >= min_samples_;
  }

  Cut alone() {
    Cut best;
    for (const int b : seen_) {
      std::fill(left_.begin(), left_.end(), 0);
      const double score = criterion_.advance(left_.data(), place(b), total_);
      if (!allowed() || score <= best.score * kTie) continue;
      best = {score, 0, false, {}};
      best.left.insert(b);
    }
    return best;
  }

  // Classes by the size of their sums, the lowest of equals first.
  std::vector<std::size_t> heaviest_classes() const {
    std::vector<std::pair<std::int64_t, std::size_t>> by_size;
    for (std::size_t k = 0; k < criterion_.n_classes(); ++k) {
      std::int64_t size = 0;
      for (const int b : seen_) size += std::abs(place(b)[k]);
      if (size > 0) by_size.emplace_back(-size, k);
    }
    std::sort(by_size.begin(), by_size.end());
    std::vector<std::size_t> classes;
    for (std::size_t i = 0; i < std::min(kStarts, by_size.size()); ++i)
      classes.push_back(by_size[i].second);
    return classes;
  }

  void point_along(std::size_t k) {
    std::fill(direction_.begin(), direction_.end(), 0.0);
    direction_[k] = 1.0;
  }

  void along_class(std::size_t k, Cut& cut) {
    point_along(k);
    part(cut);
  }

  // Step 3 until nothing is gained, or the way leads where an earlier one did.
  void climb(Cut& cut) {
    do {
      if (std::find(passed_.begin(), passed_.end(), cut.left) != passed_.end()) return;
      passed_.push_back(cut.left);
      std::fill(left_.begin(), left_.end(), 0);
      cut.left.each([&](int b) {
        for (std::size_t l = 0; l < left_.size(); ++l) left_[l] += place(b)[l];
      });
      criterion_.direction(left_.data(), total_, direction_.data());
    } while (part(cut));
  }

  // Step 2: takes the best beginning of the order if it beats `cut`.
  bool part(Cut& cut) {
    bool better = false;
    each_beginning([&](double score, const BinSet& bins) {
      if (score <= cut.score * kTie) return;
      cut = {score, 0, false, bins};
      better = true;
    });
    return better;
  }

  // Calls visit(score, bins) for the beginnings of the order that are allowed.
  template <class Visit>
  void each_beginning(Visit visit) {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      const Lane* sums = place(seen_[i]);
      double sum = 0.0;
      for (std::size_t k = 0; k < direction_.size(); ++k) sum += direction_[k] * sums[k];
      order_[i] = {sum / weight_[i], seen_[i]};
    }
    std::sort(order_.begin(), order_.end());
    std::fill(left_.begin(), left_.end(), 0);
    BinSet bins;
    for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
      const auto [key, bin] = order_[i];
      const double score = criterion_.advance(left_.data(), place(bin), total_);
      bins.insert(bin);
      if (key != order_[i + 1].first && allowed()) visit(score, bins);
    }
  }

  const Criterion& criterion_;
  const Lane* places_;
  const Lane* total_;
  int min_samples_;
  std::vector<int> seen_;  // bins that hold rows, ascending; the missing one is like the others
  std::vector<Lane> left_;
  std::vector<double> direction_, weight_;     // (n_classes), (seen)
  std::vector<std::pair<double, int>> order_;  // d . S_v / w_v, bin
  std::vector<BinSet> passed_;                 // sets whose direction was followed
};

}  // namespace edgewise
