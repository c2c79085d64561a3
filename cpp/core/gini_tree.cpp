#include "gini_tree.hpp"

#include "clones.hpp"
#include "lane_tree.hpp"
#include "row_sums.hpp"

namespace edgewise {
namespace {

struct Squares {
  double left = 0.0, right = 0.0;
};

// left += bin; returns the sums of squares over the classes on both sides. Lanes are summed four
// by four, in the same order on every machine.
EDGEWISE_CLONES Squares advance_squares(Lane* left, const Lane* bin, const Lane* total,
                                        std::size_t lanes) {
  Double4 l2{}, r2{};
  for (std::size_t j = 0; j < lanes; j += 4) {
    Double4 l, r;
    for (std::size_t m = 0; m < 4; ++m) {
      left[j + m] += bin[j + m];
      l[m] = left[j + m];
      r[m] = total[j + m] - left[j + m];
    }
    l2 += l * l;
    r2 += r * r;
  }
  return {(l2[0] + l2[1]) + (l2[2] + l2[3]), (r2[0] + r2[1]) + (r2[2] + r2[3])};
}

// Lanes: the weight of every class, in the last one in use their sum.
class GiniCriterion {
 public:
  GiniCriterion(const Label* labels, const double* weights, std::size_t n_rows, int n_classes,
                const GrowLimits& limits, const Team& team)
      : labels_(labels),
        weights_(weights),
        n_rows_(n_rows),
        n_classes_(static_cast<std::size_t>(n_classes)),
        lanes_(lanes_for(n_classes)),
        counted_(limits.min_samples_leaf > 1) {
    fine_unit_ = sum_scale(n_rows, largest(weights, n_rows, team));
    const double sum = total(weights, n_rows, fine_unit_, team);
    unit_ = lane_units(sum, n_rows);
    values_.resize(n_rows);
    const double mean = sum * unit_ / static_cast<double>(n_rows);
    const auto least = std::max<std::int64_t>(1, to_integer(limits.negligible * mean));
    for (std::size_t i = 0; i < n_rows; ++i) {
      values_[i] = static_cast<Lane>(to_integer(weights[i] * unit_));
      if (values_[i] >= least) rows.push_back(static_cast<Row>(i));
    }
  }

  std::vector<Row> rows;  // that count in the search for splits

  std::size_t n_classes() const { return n_classes_; }
  std::size_t lanes() const { return lanes_; }
  // Rows in a place; without a limit to keep, a weight that is positive where there are any.
  Lane count(const Lane* place) const { return place[n_classes_]; }
  bool counts_rows() const { return counted_; }
  double gain_unit() const { return 1.0 / unit_; }

  void add(Row row, Lane* place) const {
    add_to(place[labels_[row]], values_[row]);
    add_to(place[n_classes_], counted_ ? 1 : values_[row]);
  }
  void add_dense(const BinnedData& data, FeatureGroup group, const Row* of, std::size_t n,
                 Lane* histogram) const {
    const auto d = static_cast<std::size_t>(data.n_features);
    for (std::size_t i = 0; i < n; ++i) {
      const Code* codes = data.codes.data() + of[i] * d;
      const auto label = static_cast<std::size_t>(labels_[of[i]]);
      const Lane weight = values_[of[i]], one = counted_ ? 1 : weight;
      for (auto f = static_cast<std::size_t>(group.first); f < static_cast<std::size_t>(group.last);
           ++f) {
        Lane* place = histogram + (data.offset[f] + codes[f]) * lanes_;
        place[label] += weight;
        place[n_classes_] += one;
      }
    }
  }
  double advance(Lane* left, const Lane* bin, const Lane* total) const {
    const Squares squares = advance_squares(left, bin, total, lanes_);
    const double l = weight_of(left), r = weight_of(total) - l;
    const double extra_l = count(left), extra_r = count(total) - extra_l;
    return (squares.left - extra_l * extra_l) / l +
           (squares.right - extra_r * extra_r) / (r > 0.0 ? r : 1.0);
  }
  double unsplit(const Lane* total) const {
    double squares = 0.0;
    for (std::size_t k = 0; k < n_classes_; ++k)
      squares += static_cast<double>(total[k]) * static_cast<double>(total[k]);
    return squares / weight_of(total);
  }

  // For sets of categories: from the mean class shares of the left side to those of the right.
  bool one_direction() const { return n_classes_ == 2; }
  std::size_t n_climbs() const { return 2; }
  double weight(const Lane* place) const { return weight_of(place); }
  void direction(const Lane* left, const Lane* total, double* d) const {
    const double l = weight_of(left), r = weight_of(total) - l;
    for (std::size_t k = 0; k < n_classes_; ++k)
      d[k] = static_cast<double>(total[k] - left[k]) / r - static_cast<double>(left[k]) / l;
  }

  void finish(Tree& tree, std::size_t n_leaves, const Team&) const {
    std::vector<std::int64_t> sums(n_leaves * n_classes_);
    for (std::size_t i = 0; i < n_rows_; ++i)
      sums[tree.leaf_of_row[i] * n_classes_ + static_cast<std::size_t>(labels_[i])] +=
          to_integer(weights_[i] * fine_unit_);
    for (const std::int64_t sum : sums) tree.sums.push_back(static_cast<double>(sum) / fine_unit_);
  }

 private:
  double weight_of(const Lane* place) const {
    if (!counted_) return place[n_classes_];
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) sum += place[k];
    return static_cast<double>(sum);
  }

  const Label* labels_;
  const double* weights_;
  std::size_t n_rows_, n_classes_, lanes_;
  bool counted_;
  double unit_, fine_unit_;   // units per 1.0 in histograms, and in the sums of leaves
  std::vector<Lane> values_;  // (n_rows)
};

}  // namespace

Tree grow_gini_tree(const BinnedData& data, const Label* labels, const double* weights,
                    int n_classes, const GrowLimits& limits, const Team& team) {
  GiniCriterion criterion(labels, weights, data.n_rows, n_classes, limits, team);
  LaneEvaluator<GiniCriterion> evaluator(data, limits, criterion, team);
  return Grower(data, limits, evaluator, team).grow(criterion.rows);
}

}  // namespace edgewise
