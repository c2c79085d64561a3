#include "split.hpp"

#include <algorithm>
#include <cmath>

#include "category_order.hpp"
#include "clones.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

// Left sums of a feature's cuts.
struct Cumulated {
  Packed gh[kMaxValueBins + 9];       // room for whole vectors
  std::int64_t n[kMaxValueBins + 1];  // only where rows are counted

  template <class Bin>
  void put(int at, Bin sum) {
    gh[at] = sum.gh();
    if constexpr (std::is_same_v<Bin, CountedBin>) n[at] = sum.n();
  }
};

// Scores A_L^2 / B_L + A_R^2 / B_R of n cuts. Where a side is empty the score is 0.
EDGEWISE_CLONES void scores_of(const Packed* left, int n, Packed total, double* __restrict score) {
  const double a = gradient(total);
  const double b = hessian(total);
  for (int i = 0; i < n; ++i) {
    const double al = gradient(left[i]);
    const double bl = hessian(left[i]);
    const double ar = a - al;
    const double br = b - bl;
    const double denominator = bl * br;
    score[i] = (al * al * br + ar * ar * bl) / (denominator > 1.0 ? denominator : 1.0);
  }
}

struct Rough {
  float score = 0.0f;   // the largest score, to about 1e-6
  bool splits = false;  // whether some cut has rows on both sides
};

// The same in single precision, l2 added to B, to see whether a feature is worth a closer look.
// `left` is read in whole vectors: entries from n to the next multiple of 8 must repeat a valid
// sum.
template <bool kRidge>
[[gnu::always_inline]] inline Rough rough_best(const Packed* left, int n, Packed total, float l2) {
  const Int8 a = gradient(total) - Int8{}, b = hessian(total) - Int8{};
  Float8 best{}, product{};
  for (int i = 0; i < n; i += 8) {
    const Int8 low = load8(left + i), high = load8(left + i + 4);  // h, g, h, g, ...
    const Int8 al = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
    const Int8 bl = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    const Float8 x = to_float(al), y = to_float(bl), u = to_float(a - al), v = to_float(b - bl);
    const Float8 masses = y * v;
    product = larger(product, masses);
    const Float8 yl = kRidge ? y + l2 : y, vl = kRidge ? v + l2 : v;
    const Float8 denominator = kRidge ? yl * vl : masses;
    const Float8 score = (x * x * vl + u * u * yl) / larger(denominator, 1.0f - Float8{});
    best = larger(best, kRidge ? (masses > 0.0f ? score : Float8{}) : score);
  }
  Rough rough;
  for (int lane = 0; lane < 8; ++lane) {
    rough.score = std::max(rough.score, best[lane]);
    rough.splits |= product[lane] > 0.0f;
  }
  return rough;
}

EDGEWISE_CLONES Rough rough_plain(const Packed* left, int n, Packed total) {
  return rough_best<false>(left, n, total, 0.0f);
}

EDGEWISE_CLONES Rough rough_ridge(const Packed* left, int n, Packed total, float l2) {
  return rough_best<true>(left, n, total, l2);
}

// The cuts [first, last) of a feature.
struct Some {
  int first, last;
  int size() const { return last - first; }
};

struct Best {
  double score = 0.0;
  int bin = -1;
  bool missing_left = false;
};

// How cuts are scored. A Gain provides
//   floor()                          what is taken from scores before they are compared
//   unsplit(total)                   the score without a cut
//   rough(left, n, total)            a bound of the scores of n cuts, but for rounding
//   scores(left, cuts, total, score) the scores of some cuts, 0 where a side is empty
//   allows(cut, values)              whether a cut may be taken, `values` the sum of all values
struct PlainGain {
  double floor() const { return 0.0; }
  double unsplit(Packed total) const {
    const double a = gradient(total), b = hessian(total);
    return a * a / b;
  }
  Rough rough(const Packed* left, int n, Packed total) const { return rough_plain(left, n, total); }
  void scores(const Packed* left, Some cuts, Packed total, double* score) const {
    scores_of(left + cuts.first, cuts.size(), total, score + cuts.first);
  }
  bool allows(int, Packed) const { return true; }
};

EDGEWISE_CLONES void ridge_scores(const Packed* left, int n, Packed total, double l2,
                                  double* __restrict score) {
  const double a = gradient(total);
  const double b = hessian(total);
  for (int i = 0; i < n; ++i) {
    const double al = gradient(left[i]), bl = hessian(left[i]);
    const double ar = a - al, br = b - bl;
    const double sum = al * al / (bl + l2) + ar * ar / (br + l2);
    score[i] = (bl > 0.0) & (br > 0.0) ? sum : 0.0;
  }
}

struct RidgeGain {
  double l2;

  double floor() const { return 0.0; }
  double unsplit(Packed total) const {
    const double a = gradient(total), b = hessian(total);
    return a * a / (b + l2);
  }
  Rough rough(const Packed* left, int n, Packed total) const {
    constexpr double kMost = 0x1p40;  // products stay numbers of single precision
    return l2 < kMost ? rough_ridge(left, n, total, static_cast<float>(l2))
                      : rough_plain(left, n, total);
  }
  void scores(const Packed* left, Some cuts, Packed total, double* score) const {
    ridge_scores(left + cuts.first, cuts.size(), total, l2, score + cuts.first);
  }
  bool allows(int, Packed) const { return true; }
};

// Of values between bounds. Scores may be negative here, so that gains are compared.
class BoundedGain {
 public:
  BoundedGain(const SplitRules& rules, Packed total)
      : l2_(rules.l2), bounds_(rules.bounds), floor_(unsplit(total)) {}

  void look_at(int direction) { direction_ = direction; }

  double floor() const { return floor_; }
  double unsplit(Packed total) const {
    const double a = gradient(total), b = hessian(total) + l2_;
    return score(a, b, bounds_.clamp(a / b));
  }
  Rough rough(const Packed* left, int n, Packed total) const { return rough_plain(left, n, total); }
  void scores(const Packed* left, Some cuts, Packed total, double* score_of_cut) {
    left_ = left;
    const double a = gradient(total), b = hessian(total);
    for (int i = cuts.first; i < cuts.last; ++i) {
      const double al = gradient(left[i]), bl = hessian(left[i]);
      const double ar = a - al, br = b - bl;
      const double vl = bounds_.clamp(al / (bl + l2_)), vr = bounds_.clamp(ar / (br + l2_));
      const double gain = score(al, bl + l2_, vl) + score(ar, br + l2_, vr) - floor_;
      rise_[i] = vr - vl;
      score_of_cut[i] = bl > 0.0 && br > 0.0 ? gain : 0.0;
    }
  }
  // Where nothing but missing values is on the right, the cut has no direction.
  bool allows(int cut, Packed values) const {
    if (direction_ == direction::kFree || left_[cut] == values) return true;
    return direction_ == direction::kUp ? rise_[cut] >= 0.0 : rise_[cut] <= 0.0;
  }

 private:
  static double score(double a, double b, double v) { return v * (2.0 * a - b * v); }

  double l2_;
  Bounds bounds_;
  double floor_;
  int direction_ = direction::kFree;
  const Packed* left_ = nullptr;
  double rise_[kMaxValueBins + 1];  // of the value, from left to right of each cut
};

// Takes the best of n cuts, or just the `only` one, if it beats `best`.
template <class Bin, class Gain>
void consider(const Cumulated& left, int n, Bin total, Packed values, int min_samples,
              bool missing_left, int only, Gain& gain, Best& best) {
  if (only == kNoCut) return;
  const Some cuts = only == kAllCuts ? Some{0, n} : Some{only, only + 1};
  double score[kMaxValueBins + 1];
  gain.scores(left.gh, cuts, total.gh(), score);
  for (int i = cuts.first; i < cuts.last; ++i) {
    if (score[i] <= best.score * kTie) continue;
    if constexpr (std::is_same_v<Bin, CountedBin>)
      if (left.n[i] < min_samples || total.n() - left.n[i] < min_samples) continue;
    if (!gain.allows(i, values)) continue;
    best = {score[i], i, missing_left};
  }
}

template <class Bin>
void cumulate(const Bin* places, int n_bins, Bin first, Cumulated& left) {
  Bin sum = first;
  for (int b = 0; b < n_bins; ++b) {
    sum += places[b];
    left.put(b, sum);
  }
}

// The cuts of a feature that a node considers: all of them, or one that is drawn.
struct CutChoice {
  CutKey key;
  int feature;
  int min_samples;

  // The drawn one, or kNoCut.
  template <class Bin>
  int drawn(const Bin* places, int n_bins, Bin missing, bool missing_left) const {
    constexpr bool kCounted = std::is_same_v<Bin, CountedBin>;
    return draw_cut(key, feature, n_bins,
                    {rows_of(missing), missing_left, kCounted ? min_samples : 1},
                    [&](int b) { return rows_of(places[b]); });
  }

  // Of n beginnings of an order, those with enough rows are next to each other.
  template <class Bin>
  int only_beginning(const Cumulated& left, int n, Bin total) const {
    if (key == 0) return kAllCuts;
    int first = 0, last = n - 1;
    if constexpr (std::is_same_v<Bin, CountedBin>) {
      while (first <= last && left.n[first] < min_samples) ++first;
      while (first <= last && total.n() - left.n[last] < min_samples) --last;
    }
    return first > last ? kNoCut : first + draw(key, feature, Drawn::cut, last - first + 1);
  }

 private:
  // Rows of a bin; where they are not counted, a number that is positive where there are any.
  static std::int64_t rows_of(PlainBin bin) { return hessian(bin.gh()); }
  static std::int64_t rows_of(CountedBin bin) { return bin.n(); }
};

// Whether the values of a node's rows are in several bins.
template <class Bin>
bool has_several(const Bin* places, int n_bins, Bin values) {
  int b = 0;
  while (b < n_bins && hessian(places[b].gh()) == 0) ++b;
  return b < n_bins && hessian(places[b].gh()) < hessian(values.gh());
}

// Looks at the drawn cuts of one feature, one with missing values on each side, as scan does at
// all.
template <class Bin, class Gain>
bool scan_drawn(const Bin* places, int n_bins, Bin missing, Bin total, CutChoice choice, Gain& gain,
                Best& best) {
  const Bin values = difference(total, missing);
  bool found = false;
  for (const bool missing_left : {false, true}) {
    if (missing_left && missing.empty()) break;
    const int cut = choice.drawn(places, n_bins, missing, missing_left);
    if (cut == kNoCut) continue;
    found = true;
    Bin sum = missing_left ? missing : Bin{};
    for (int b = 0; b <= cut; ++b) sum += places[b];
    Cumulated left;
    left.put(cut, sum);
    consider(left, n_bins, total, (missing_left ? total : values).gh(), choice.min_samples,
             missing_left, cut, gain, best);
  }
  if (!missing.empty()) return !values.empty();
  return found || has_several(places, n_bins, values);
}

// Looks at one feature; improves `best` and returns whether the feature can be split at all, here
// or in the children. A rough bound of all gains is looked at first.
template <class Bin, class Gain>
bool scan(const Bin* places, int n_bins, bool has_missing, Bin total, CutChoice choice, Gain& gain,
          Best& best) {
  constexpr float kMargin = 1.0f + 4e-6f;  // above the rounding of single precision
  const Bin missing = has_missing ? places[n_bins] : Bin{};
  if (choice.key != 0) return scan_drawn(places, n_bins, missing, total, choice, gain, best);
  Cumulated left;
  left.gh[0] = 0;
  cumulate(places, n_bins, Bin{}, left);
  if (missing.empty()) {
    std::fill_n(left.gh + n_bins, 8, total.gh());  // a cut with nothing on its right
    const Rough rough = gain.rough(left.gh, n_bins - 1, total.gh());
    if (static_cast<double>(rough.score * kMargin) > best.score + gain.floor())
      consider(left, n_bins - 1, total, total.gh(), choice.min_samples, false, kAllCuts, gain,
               best);
    return rough.splits;
  }
  const Bin values = difference(total, missing);
  // The last cut: all values left.
  consider(left, n_bins, total, values.gh(), choice.min_samples, false, kAllCuts, gain, best);
  cumulate(places, n_bins, missing, left);
  consider(left, n_bins - 1, total, total.gh(), choice.min_samples, true, kAllCuts, gain, best);
  return !values.empty();
}

// The same for a categorical feature: its sets, and where categories may be noise also the cuts in
// the order of their values, as of numbers. `bin` of the best becomes kInOrder and the bin of the
// cut, or the last place of the order of categories that is on the left.
constexpr int kInOrder = 1 << 16;

template <class Bin>
struct Categories {
  const Bin* places;
  int n_value_bins, n_bins;
  bool in_order;  // whether the order of the values may mean something
  Bin total;
  double noise;  // see CategoryOrder
};

template <class Bin>
Categories<Bin> categories_of(const BinnedData& data, const Bin* histogram, int f, Bin total,
                              double noise) {
  return {histogram + data.offset[static_cast<std::size_t>(f)],
          data.n_value_bins(f),
          data.n_bins(f),
          noise > 0.0 && data.has_all_in_order(f),
          total,
          noise};
}

template <class Bin, class Gain>
void scan_sets(const Categories<Bin>& c, CutChoice choice, Gain& gain, Best& best) {
  const CategoryOrder<Bin> order(c.places, c.n_bins, c.total, c.noise);
  Cumulated left;
  int place[kMaxValueBins + 1] = {};
  int n = 0;
  Bin sum{};
  for (int i = 0; i + 1 < order.size(); ++i) {
    sum += order[i];
    if (!order.grows_after(i)) continue;
    left.put(n, sum);
    place[n++] = i;
  }
  const double before = best.score;
  consider(left, n, c.total, c.total.gh(), choice.min_samples, false,
           choice.only_beginning(left, n, c.total), gain, best);
  if (best.score > before) best.bin = place[best.bin];
}

template <class Bin, class Gain>
bool scan_categories(const Categories<Bin>& c, bool has_missing, CutChoice choice, Gain& gain,
                     Best& best) {
  int n_seen = 0;
  for (int b = 0; b < c.n_bins; ++b) n_seen += !c.places[b].empty();
  if (n_seen < 2) return false;
  if (c.in_order) {
    const double before = best.score;
    scan(c.places, c.n_value_bins, has_missing, c.total, choice, gain, best);
    if (best.score > before) best.bin += kInOrder;
  }
  if (!c.in_order || c.n_value_bins > 2) scan_sets(c, choice, gain, best);
  return true;
}

template <class Bin>
void part_categories(const BinnedData& data, const Bin* histogram, const Categories<Bin>& c,
                     Split& split) {
  BinSet left, right;
  if (split.bin < kInOrder) {
    CategoryOrder<Bin>(c.places, c.n_bins, c.total, c.noise)
        .part(split.bin, c.n_value_bins, c.noise > 0.0, left, right);
  } else {
    const int cut = centre_in_gap(data, histogram, split.feature, split.bin - kInOrder);
    for (int b = 0; b < c.n_value_bins; ++b) (b <= cut ? left : right).insert(b);
    if (c.n_bins > c.n_value_bins && !c.places[c.n_value_bins].empty())
      (split.missing_left ? left : right).insert(c.n_value_bins);
  }
  take_sides(data, left, right, split);
}

template <class Bin, class Gain>
Split search(const BinnedData& data, const Bin* histogram, Bin total, int min_samples, double unit,
             const SplitRules& rules, Gain gain, std::vector<int>& active) {
  Split split;
  Best best;
  std::size_t kept = 0;
  const double noise = rules.noise / unit;
  for (const int f : active) {
    const auto u = static_cast<std::size_t>(f);
    const double before = best.score;
    const Bin* places = histogram + data.offset[u];
    if constexpr (std::is_same_v<Gain, BoundedGain>) gain.look_at(rules.directions[u]);
    const CutChoice choice{rules.cut_key, f, min_samples};
    const bool splits = data.cuts.categorical[u]
                            ? scan_categories(categories_of(data, histogram, f, total, noise),
                                              data.cuts.has_missing[u], choice, gain, best)
                            : scan(places, data.n_value_bins(f), data.cuts.has_missing[u], total,
                                   choice, gain, best);
    if (splits) active[kept++] = f;
    if (best.score > before) split = {0.0, f, best.bin, best.missing_left};
  }
  active.resize(kept);
  if (!split.found()) return {};
  const double gained = best.score - (gain.unsplit(total.gh()) - gain.floor());
  if (gained <= kMinRelativeGain * (best.score + std::abs(gain.floor()))) return {};
  split.gain = gained * unit;
  if (data.is_categorical(split.feature)) {
    part_categories(data, histogram, categories_of(data, histogram, split.feature, total, noise),
                    split);
  } else {
    split.bin = centre_in_gap(data, histogram, split.feature, split.bin);
  }
  return split;
}

}  // namespace

void take_sides(const BinnedData& data, const BinSet& left, const BinSet& right, Split& split) {
  const bool swap = left.contains(data.n_value_bins(split.feature));
  split.categorical = true;
  split.bin = 0;
  split.missing_left = false;
  split.left = swap ? right : left;
  split.right = swap ? left : right;
}

template <class Bin>
Split find_split(const BinnedData& data, const Bin* histogram, Bin total, int min_samples,
                 double unit, std::vector<int>& active) {
  return find_split(data, histogram, total, min_samples, unit, SplitRules{}, active);
}

template <class Bin>
Split find_split(const BinnedData& data, const Bin* histogram, Bin total, int min_samples,
                 double unit, const SplitRules& rules, std::vector<int>& active) {
  if (rules.directions)
    return search(data, histogram, total, min_samples, unit, rules, BoundedGain(rules, total.gh()),
                  active);
  if (rules.l2 > 0.0)
    return search(data, histogram, total, min_samples, unit, rules, RidgeGain{rules.l2}, active);
  return search(data, histogram, total, min_samples, unit, rules, PlainGain{}, active);
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
template Split find_split<PlainBin>(const BinnedData&, const PlainBin*, PlainBin, int, double,
                                    const SplitRules&, std::vector<int>&);
template Split find_split<CountedBin>(const BinnedData&, const CountedBin*, CountedBin, int, double,
                                      const SplitRules&, std::vector<int>&);
template int centre_in_gap<PlainBin>(const BinnedData&, const PlainBin*, int, int);
template int centre_in_gap<CountedBin>(const BinnedData&, const CountedBin*, int, int);

}  // namespace edgewise
