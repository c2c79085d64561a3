#include "split.hpp"

#include <algorithm>

#include "clones.hpp"

namespace edgewise {
namespace {

// Scores A_L^2 / B_L + A_R^2 / B_R of n left sides; -1 where a side is empty.
EDGEWISE_CLONES void scores_of(const Packed* left, std::size_t stride, int n, Packed total,
                               double* __restrict score) {
  const double a = gradient(total);
  const double b = hessian(total);
  for (int i = 0; i < n; ++i) {
    const double al = gradient(left[static_cast<std::size_t>(i) * stride]);
    const double bl = hessian(left[static_cast<std::size_t>(i) * stride]);
    const double ar = a - al;
    const double br = b - bl;
    const double denominator = bl * br;
    const double value = (al * al * br + ar * ar * bl) / (denominator > 0.0 ? denominator : 1.0);
    score[i] = denominator > 0.0 ? value : -1.0;
  }
}

struct Best {
  double score = 0.0;
  int bin = -1;
  bool missing_left = false;
};

template <class Bin>
void consider(const Bin* left, int n, Bin total, int min_samples, bool missing_left, Best& best) {
  double score[kMaxValueBins + 1];
  scores_of(&left[0].gh, sizeof(Bin) / sizeof(Packed), n, total.gh, score);
  for (int i = 0; i < n; ++i) {
    if (score[i] <= best.score * kTie) continue;
    if (!left[i].enough(min_samples) || !difference(total, left[i]).enough(min_samples)) continue;
    best = {score[i], i, missing_left};
  }
}

// Best split of one feature; `constant` is set where all the node's rows share one bin.
template <class Bin>
Best scan(const Bin* places, int n_bins, bool has_missing, Bin total, int min_samples,
          bool& constant) {
  Bin left[kMaxValueBins + 1];
  Bin sum{};
  int occupied = 0;
  for (int b = 0; b < n_bins; ++b) {
    occupied += !places[b].empty();
    sum += places[b];
    left[b] = sum;
  }
  const Bin missing = has_missing ? places[n_bins] : Bin{};
  constant = occupied + !missing.empty() <= 1;
  Best best;
  if (constant) return best;
  // The last cut parts all values from the missing ones.
  consider(left, missing.empty() ? n_bins - 1 : n_bins, total, min_samples, false, best);
  if (!missing.empty()) {
    for (int b = 0; b < n_bins; ++b) left[b] += missing;
    consider(left, n_bins - 1, total, min_samples, true, best);
  }
  return best;
}

}  // namespace

template <class Bin>
Split find_split(const BinnedData& data, const Bin* histogram, Bin total, int min_samples,
                 double unit, std::vector<int>& active) {
  Split split;
  double best = 0.0;
  std::size_t kept = 0;
  for (const int f : active) {
    const auto u = static_cast<std::size_t>(f);
    bool constant = false;
    const Best of_feature = scan(histogram + data.offset[u], data.n_value_bins(f),
                                 data.cuts.has_missing[u], total, min_samples, constant);
    if (constant) continue;
    active[kept++] = f;
    if (of_feature.score > best * kTie) {
      best = of_feature.score;
      split = {0.0, f, of_feature.bin, of_feature.missing_left};
    }
  }
  active.resize(kept);
  const double a = gradient(total.gh);
  const double b = hessian(total.gh);
  const double gain = split.found() ? best - a * a / b : 0.0;
  if (gain <= kMinRelativeGain * best) return {};
  split.gain = gain * unit;
  split.bin = centre_in_gap(data, histogram, split.feature, split.bin);
  return split;
}

template <class Bin>
int centre_in_gap(const BinnedData& data, const Bin* histogram, int feature, int bin) {
  const Bin* places = histogram + data.offset[static_cast<std::size_t>(feature)];
  const int n_bins = data.n_value_bins(feature);
  int low = bin;
  while (low > 0 && places[low].empty()) --low;
  int high = bin + 1;
  while (high < n_bins && places[high].empty()) ++high;
  return high == n_bins ? n_bins - 1 : (low + high - 1) / 2;
}

template Split find_split<PlainBin>(const BinnedData&, const PlainBin*, PlainBin, int, double,
                                    std::vector<int>&);
template Split find_split<CountedBin>(const BinnedData&, const CountedBin*, CountedBin, int, double,
                                      std::vector<int>&);
template int centre_in_gap<PlainBin>(const BinnedData&, const PlainBin*, int, int);
template int centre_in_gap<CountedBin>(const BinnedData&, const CountedBin*, int, int);

}  // namespace edgewise
