#include "pair_leaves.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "clones.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

inline Long4 to_integers(Double4 x) { return (Long4)(x + kRound) - kRoundBits; }

// The rows of a posterior, row after row, and where they are to be added.
struct RowsOfLeaves {
  const double *p, *others, *weights;
  const Label* y;
  const std::uint16_t* leaf_of_row;
  const std::uint8_t* drawn;  // null: all
};

// Places read beyond the last class of a row, at most.
constexpr std::size_t kBeyond = 3;

// PairLeaves::add_all of rows [begin, end), four classes at a time.
EDGEWISE_CLONES void add_whole_rows(const RowsOfLeaves& rows, std::size_t n_classes,
                                    std::size_t begin, std::size_t end, double unit,
                                    PairSums* sums) {
  const std::size_t stride = (n_classes + 3) / 4 * 4;
  for (std::size_t i = begin; i < end; ++i) {
    if (rows.drawn && !rows.drawn[i]) continue;
    const double* p = rows.p + i * n_classes;
    const double own = rows.weights ? rows.weights[i] * unit : unit;
    const double others = rows.others[i];
    Long4 to_label = Long4{0, 1, 2, 3} - rows.y[i];
    PairSums* sum = sums + rows.leaf_of_row[i] * stride;
    for (std::size_t k = 0; k < stride; k += 4, to_label += 4) {
      const Double4 of_class = load4(p + k);
      const Double4 residual = to_label == 0 ? others - Double4{} : -of_class;
      const Double4 size = to_label == 0 ? others - Double4{} : of_class;
      const Long4 g = to_integers(residual * own);
      const Long4 h = to_integers(size * (1.0 - size) * own);
      Long4 low, high;  // g, h, g, h
      std::memcpy(&low, sum + k, sizeof low);
      std::memcpy(&high, sum + k + 2, sizeof high);
      low += __builtin_shufflevector(g, h, 0, 4, 1, 5);
      high += __builtin_shufflevector(g, h, 2, 6, 3, 7);
      std::memcpy(sum + k, &low, sizeof low);
      std::memcpy(sum + k + 2, &high, sizeof high);
    }
  }
}

}  // namespace

PairLeaves::PairLeaves(LeafKind kind, int n_classes, double shrinkage, const GrowLimits& limits,
                       std::size_t n, double largest, const Prior* prior)
    : kind_(kind),
      n_classes_(static_cast<std::size_t>(n_classes)),
      shrinkage_(shrinkage),
      unit_(sum_scale(n, 4.0 * largest)),
      l2_(limits.core_l2() * unit_),
      max_delta_(limits.max_delta),
      prior_(prior),
      rest_(unit_ / 256.0, n) {}

void PairLeaves::add_rows(const Posterior& posterior, const std::uint16_t* leaf_of_row,
                          const RowSample* sample, std::size_t begin, std::size_t end,
                          const std::vector<Pair>& pairs, PairSums* sums) const {
  if (moves_all()) {
    const std::size_t n = posterior.n_rows();
    const std::size_t before_last = std::clamp(n - std::min(n, kBeyond), begin, end);
    add_whole_rows({posterior.of_row(0), posterior.others(), posterior.weights(),
                    posterior.labels(), leaf_of_row, sample ? sample->drawn.data() : nullptr},
                   n_classes_, begin, before_last, unit_, sums);
    begin = before_last;
  }
  for (std::size_t i = begin; i < end; ++i) {
    if (sample && !sample->drawn[i]) continue;
    const std::size_t leaf = leaf_of_row[i];
    add(posterior, static_cast<Row>(i), pairs[leaf], sums + leaf * stride());
  }
}

double PairLeaves::step(PairSums sum, double factor) const {
  if (sum.g == 0) return 0.0;
  const double h = static_cast<double>(std::max<std::int64_t>(sum.h, 1)) + l2_;
  return std::clamp(factor * (static_cast<double>(sum.g) / h), -max_delta_, max_delta_);
}

double PairLeaves::class_factor() const {
  const auto k = static_cast<double>(n_classes_);
  return (k - 1.0) / k;
}

std::vector<double> PairLeaves::steps(Pair pair, const PairSums* sums) const {
  std::vector<double> steps(n_classes_);
  if (kind_ == LeafKind::pair) {
    const double own = step(*sums, 1.0);
    steps[static_cast<std::size_t>(pair.r)] = own;
    steps[static_cast<std::size_t>(pair.s)] = -own;
    return steps;
  }
  double mean = 0.0;
  for (std::size_t k = 0; k < n_classes_; ++k) {
    steps[k] = step(sums[k], class_factor());
    mean += steps[k] / static_cast<double>(n_classes_);
  }
  for (double& s : steps) s -= mean;
  return steps;
}

void PairLeaves::set(Tree& tree, const std::vector<Pair>& pairs, const std::vector<PairSums>& sums,
                     const std::vector<const std::vector<Bounds>*>& boxes) const {
  if (prior_ && kind_ == LeafKind::vector) return put_listed(tree, sums);
  const bool two = kind_ == LeafKind::pair && boxes.empty();
  tree.width = two ? 2 : static_cast<std::int32_t>(n_classes_);
  for (std::size_t j = 0; j < sums.size() / width(); ++j) {
    const PairSums* of_leaf = &sums[j * width()];
    if (!boxes.empty()) {
      const auto step_of_class = steps(pairs[j], of_leaf);
      for (std::size_t k = 0; k < n_classes_; ++k) {
        tree.classes.push_back(static_cast<std::int32_t>(k));
        tree.values.push_back(shrinkage_ * (*boxes[j])[k].clamp(step_of_class[k]));
      }
    } else if (two) {
      put_pair(tree, pairs[j], *of_leaf);
    } else {
      put_all(tree, of_leaf);
    }
  }
}

// What listed classes have beyond what they would have off the list, and the rest at the end.
void PairLeaves::add_listed(const Posterior& posterior, Row row, double unit,
                            PairSums* sums) const {
  const ListedRow list = posterior.lists()->row(row);
  const int y = posterior.label(row);
  for (std::size_t j = 0; j < list.n; ++j) {
    const auto k = static_cast<std::size_t>(list.classes[j]);
    const double off = list.rest * prior_->share[k];
    const double p = list.p[j];
    const bool right = list.classes[j] == y;
    const double size = right ? posterior.residual(row, y) : p;
    sums[k].g += to_integer((right ? size : -p) * unit) + to_integer(off * unit);
    sums[k].h += to_integer(size * (1.0 - size) * unit) - to_integer(off * (1.0 - off) * unit);
  }
  sums[n_classes_].g += rest_.first(list.rest, posterior.weight(row));
  sums[n_classes_].h += rest_.second(list.rest, posterior.weight(row));
}

// The classes that differ most from one that no row of the leaf has, whose step is about -1, until
// those left out hold a share of the differences that does not matter. The others share the step of
// their sums, from which the values of the listed ones are counted.
std::vector<PairLeaves::Step> PairLeaves::listed_steps(const PairSums* sums) const {
  const auto first = static_cast<double>(sums[n_classes_].g) * (unit_ / rest_.unit);
  const auto second = static_cast<double>(sums[n_classes_].h) * (unit_ / rest_.unit);
  std::vector<PairSums> whole(sums, sums + n_classes_);
  std::vector<std::pair<double, std::int32_t>> gain;
  PairSums others;
  for (std::size_t k = 0; k < n_classes_; ++k) {
    const double p = prior_->share[k] * first;
    whole[k].g -= static_cast<std::int64_t>(p + 0.5);
    whole[k].h += static_cast<std::int64_t>(p - prior_->share[k] * prior_->share[k] * second + 0.5);
    others.g += whole[k].g, others.h += whole[k].h;
    if (sums[k].g == 0 && sums[k].h == 0) continue;  // on no list
    const auto h = static_cast<double>(std::max<std::int64_t>(whole[k].h, 1)) + l2_;
    const double beyond = static_cast<double>(whole[k].g) + h;
    gain.emplace_back(-beyond * beyond / h, static_cast<std::int32_t>(k));
  }
  const std::size_t most = std::min(gain.size(), kMostListed);
  std::partial_sort(gain.begin(), gain.begin() + static_cast<std::ptrdiff_t>(most), gain.end());
  double left = 0.0;
  for (const auto& [minus, k] : gain) left += minus;
  const double least = kShareLeftOut * left;
  std::vector<Step> steps;
  for (std::size_t j = 0; j < most && left < least; ++j) {
    left -= gain[j].first;
    const auto k = static_cast<std::size_t>(gain[j].second);
    others.g -= whole[k].g, others.h -= whole[k].h;
    steps.push_back({gain[j].second, shrinkage_ * step(whole[k], class_factor())});
  }
  const double common = shrinkage_ * step(others, class_factor());
  for (Step& s : steps) s.value -= common;
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.of_class < b.of_class; });
  return steps;
}

// Leaves list different numbers of classes; those that list fewer repeat one, which they move by
// nothing.
void PairLeaves::put_listed(Tree& tree, const std::vector<PairSums>& sums) const {
  std::vector<std::vector<Step>> leaves;
  std::size_t widest = 1;
  for (std::size_t at = 0; at < sums.size(); at += width()) {
    leaves.push_back(listed_steps(&sums[at]));
    widest = std::max(widest, leaves.back().size());
  }
  tree.width = static_cast<std::int32_t>(widest);
  for (std::vector<Step>& steps : leaves) {
    steps.resize(widest, {steps.empty() ? 0 : steps.back().of_class, 0.0});
    for (const Step& s : steps) {
      tree.classes.push_back(s.of_class);
      tree.values.push_back(s.value);
    }
  }
}

void PairLeaves::put_pair(Tree& tree, Pair pair, PairSums sum) const {
  const double value = shrinkage_ * step(sum, 1.0);
  tree.classes.insert(tree.classes.end(), {pair.r, pair.s});
  tree.values.insert(tree.values.end(), {value, -value});
}

void PairLeaves::put_all(Tree& tree, const PairSums* sums) const {
  std::vector<double> values(n_classes_);
  double mean = 0.0;
  for (std::size_t k = 0; k < n_classes_; ++k) {
    values[k] = shrinkage_ * step(sums[k], class_factor());
    mean += values[k] / static_cast<double>(n_classes_);
  }
  for (std::size_t k = 0; k < n_classes_; ++k) {
    tree.classes.push_back(static_cast<std::int32_t>(k));
    tree.values.push_back(values[k] - mean);
  }
}

}  // namespace edgewise
