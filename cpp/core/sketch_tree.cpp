#include "sketch_tree.hpp"

#include <algorithm>
#include <cmath>

#include "clones.hpp"
#include "lane_tree.hpp"
#include "row_sums.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

struct Squares {
  double left = 0.0, right = 0.0;
};

// left += bin; returns the sums of squares of the lanes that `mask` does not make zero, on both
// sides. Lanes are summed four by four, in the same order on every machine.
EDGEWISE_CLONES Squares advance_squares(Lane* left, const Lane* bin, const Lane* total,
                                        const double* mask, std::size_t lanes) {
  Double4 l2{}, r2{};
  for (std::size_t j = 0; j < lanes; j += 4) {
    Double4 l, r;
    for (std::size_t m = 0; m < 4; ++m) {
      left[j + m] += bin[j + m];
      l[m] = left[j + m];
      r[m] = total[j + m] - left[j + m];
    }
    const Double4 keep = load4(mask + j);
    l2 += l * l * keep;
    r2 += r * r * keep;
  }
  return {(l2[0] + l2[1]) + (l2[2] + l2[3]), (r2[0] + r2[1]) + (r2[2] + r2[3])};
}

// Lanes: the projections, the mass, a count of rows.
class SketchCriterion {
 public:
  SketchCriterion(const double* g, const double* mass, std::size_t n_rows, int n_directions,
                  const GrowLimits& limits, const Team& team)
      : n_directions_(static_cast<std::size_t>(n_directions)),
        lanes_(lanes_for(n_directions + 1)),
        mask_(lanes_, 0.0) {
    std::fill_n(mask_.begin(), n_directions_, 1.0);
    const double all_g = total_of(g, n_rows * n_directions_, team);
    const double all_mass = total_of(mass, n_rows, team);
    // Of every direction the sizes sum to at most those of all, with room for rounding.
    unit_g_ = lane_units(all_g, n_rows * n_directions_);
    unit_mass_ = lane_units(all_mass, n_rows);
    l2_ = limits.core_l2() * unit_mass_;
    fill(g, mass, n_rows, limits, all_g, all_mass, team);
  }

  std::vector<Row> rows;  // that count in the search for splits

  std::size_t n_classes() const { return n_directions_; }
  std::size_t lanes() const { return lanes_; }
  Lane count(const Lane* place) const { return place[n_directions_ + 1]; }
  bool counts_rows() const { return true; }
  double gain_unit() const { return unit_g_ > 0.0 ? unit_mass_ / unit_g_ / unit_g_ : 0.0; }

  void add(Row row, Lane* place) const {
    const Lane* from = &values_[row * lanes_];
    for (std::size_t j = 0; j < lanes_; ++j) add_to(place[j], from[j]);
  }
  void add_dense(const BinnedData& data, FeatureGroup group, const Row* of, std::size_t n,
                 Lane* histogram) const {
    add_lanes(data, group, of, n, values_.data(), lanes_, histogram);
  }

  double advance(Lane* left, const Lane* bin, const Lane* total) const {
    const Squares squares = advance_squares(left, bin, total, mask_.data(), lanes_);
    const double l = weight(left), all = weight(total);
    return squares.left / (l + l2_) + squares.right / (std::max(all - l, 1.0) + l2_);
  }
  double unsplit(const Lane* total) const {
    double squares = 0.0;
    for (std::size_t k = 0; k < n_directions_; ++k)
      squares += static_cast<double>(total[k]) * static_cast<double>(total[k]);
    return squares / (weight(total) + l2_);
  }

  // For sets of categories: from the mean gradients of the left side to those of the right.
  bool one_direction() const { return n_directions_ == 1; }
  std::size_t n_climbs() const { return 2; }
  double weight(const Lane* place) const { return std::max(place[n_directions_], 1); }
  void direction(const Lane* left, const Lane* total, double* d) const {
    const double l = weight(left), r = std::max(weight(total) - l, 1.0);
    for (std::size_t k = 0; k < n_directions_; ++k)
      d[k] = static_cast<double>(total[k] - left[k]) / r - static_cast<double>(left[k]) / l;
  }

  void finish(Tree&, std::size_t, const Team&) const {}

 private:
  static double total_of(const double* x, std::size_t n, const Team& team) {
    return total(x, n, sum_scale(n, largest(x, n, team)), team);
  }

  void fill(const double* g, const double* mass, std::size_t n_rows, const GrowLimits& limits,
            double all_g, double all_mass, const Team& team) {
    values_.resize(n_rows * lanes_);
    std::vector<std::uint8_t> counts(n_rows);
    const auto n = static_cast<double>(n_rows);
    const double least_g = limits.negligible * all_g / n,
                 least_mass = limits.negligible * all_mass / n;
    team.range(n_rows, kParallelRows / 8, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) {
        Lane* lane = &values_[i * lanes_];
        double size = 0.0;
        for (std::size_t k = 0; k < n_directions_; ++k) {
          const double x = g[i * n_directions_ + k];
          size += std::abs(x);
          lane[k] = static_cast<Lane>(to_integer(x * unit_g_));
        }
        lane[n_directions_] = static_cast<Lane>(to_integer(mass[i] * unit_mass_));
        lane[n_directions_ + 1] = 1;
        counts[i] =
            limits.is_drawn(i) && ((size > 0.0 && size >= least_g) || mass[i] >= least_mass);
      }
    });
    for (std::size_t i = 0; i < n_rows; ++i)
      if (counts[i]) rows.push_back(static_cast<Row>(i));
  }

  std::size_t n_directions_, lanes_;
  std::vector<double> mask_;  // (lanes): 1 for directions
  double unit_g_ = 0.0, unit_mass_ = 0.0, l2_ = 0.0;
  std::vector<Lane> values_;  // (n_rows, lanes)
};

}  // namespace

Tree grow_sketch_tree(const BinnedData& data, const double* g, const double* mass, int n_directions,
                      const GrowLimits& limits, const Team& team) {
  SketchCriterion criterion(g, mass, data.n_rows, n_directions, limits, team);
  LaneEvaluator<SketchCriterion> evaluator(data, limits, criterion, team);
  return Grower(data, limits, evaluator, team).grow(criterion.rows);
}

}  // namespace edgewise
