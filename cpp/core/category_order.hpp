// The categories of a node, in the order in which the search considers sets of them.
//
// With few rows the A / B of a category is mostly noise, and the best of all sets would sort the
// rows of rare categories by their labels. A category is therefore treated separately only if it
// stands apart from the node: if
//   (A_v - B_v A / B)^2 / (B_v (1 - B_v / B)) >= kApart times `noise`,
// `noise` the variance of A per unit of B: for a log loss that is the weight of a row, and the left
// side is the square of a standard score. All other categories are merged into the pool, and so are
// those without rows in the node. If `noise` is 0, every category with rows is treated separately.
#pragma once

#include <algorithm>
#include <cstdint>

#include "histogram.hpp"
#include "types.hpp"

namespace edgewise {

inline constexpr double kApart = 4.0;  // two standard errors

template <class Bin>
class CategoryOrder {
 public:
  // `noise` is in units of A^2 / B. The missing bin, if there is one, is a category like the
  // others.
  CategoryOrder(const Bin* places, int n_bins, Bin total, double noise) {
    const double least = kApart * noise;
    const double b = hessian(total.gh()), mean = gradient(total.gh()) / b;
    for (int v = 0; v < n_bins; ++v) {
      const Bin& here = places[v];
      if (here.empty()) continue;
      const double bv = hessian(here.gh()), away = gradient(here.gh()) - mean * bv;
      const bool apart = away * away * b >= least * (bv * (b - bv));
      if (apart) sum_[n_] = here, bin_[n_++] = v;
      if (!apart) pool_.insert(v), pooled_ += here;
    }
    if (!pooled_.empty()) sum_[n_] = pooled_, bin_[n_++] = kPool;
    for (int i = 0; i < n_; ++i) at_[i] = i;
    std::sort(at_, at_ + n_, [&](int i, int j) {
      return below(sum_[i].gh(), sum_[j].gh()) ||
             (!below(sum_[j].gh(), sum_[i].gh()) && bin_[i] < bin_[j]);
    });
  }

  int size() const { return n_; }
  const Bin& operator[](int i) const { return sum_[at_[i]]; }

  // Whether A / B grows from place i of the order to the next. Categories of equal A / B are never
  // parted: that gains nothing, and would depend on codes.
  bool grows_after(int i) const { return below((*this)[i].gh(), (*this)[i + 1].gh()); }

  // The bins up to a place of the order, and the others. Where `noise` is not 0, categories
  // without rows are with the pool or, where there is none, on the side of the larger B.
  void part(int last, int n_value_bins, bool all, BinSet& left, BinSet& right) const {
    double mass = 0.0;  // B of the left minus that of the right
    int pool = -1;
    for (int i = 0; i < n_; ++i) {
      BinSet& side = i <= last ? left : right;
      const double b = hessian((*this)[i].gh());
      mass += i <= last ? b : -b;
      if (bin_[at_[i]] != kPool) {
        side.insert(bin_[at_[i]]);
      } else {
        pool_.each([&](int v) { side.insert(v); });
        pool = i;
      }
    }
    if (!all) return;
    BinSet& others = (pool < 0 ? mass > 0.0 : pool <= last) ? left : right;
    for (int v = 0; v < n_value_bins; ++v)
      if (!left.contains(v) && !right.contains(v)) others.insert(v);
  }

 private:
  static constexpr int kPool = kMaxValueBins + 1;

  // Whether A / B of x is below that of y; B of a category with rows is positive.
  static bool below(Packed x, Packed y) {
    return std::int64_t{gradient(x)} * hessian(y) < std::int64_t{gradient(y)} * hessian(x);
  }

  Bin sum_[kMaxValueBins + 2];
  int bin_[kMaxValueBins + 2], at_[kMaxValueBins + 2];
  int n_ = 0;
  BinSet pool_;
  Bin pooled_{};
};

}  // namespace edgewise
