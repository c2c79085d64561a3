#include "hamming_tree.hpp"

#include <cmath>
#include <cstring>

#include "clones.hpp"
#include "lane_tree.hpp"

namespace edgewise {

namespace {

inline void store8(Lane* p, Int8 v) { std::memcpy(p, &v, sizeof v); }

// Adds rows to the histograms of one group of features; kVectors * 8 lanes a place.
template <std::size_t kVectors>
[[gnu::always_inline]] inline void add_rows_of(const Code* codes, std::size_t d, const Row* rows,
                                               std::size_t n, const Lane* values,
                                               const std::uint32_t* offset, std::size_t first,
                                               std::size_t last, Lane* histogram) {
  constexpr std::size_t kWidth = kVectors * kLanesAtOnce;
  for (std::size_t i = 0; i < n; ++i) {
    const Code* row = codes + rows[i] * d;
    const Lane* from = values + rows[i] * kWidth;
    Int8 v[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j) v[j] = load8(from + j * kLanesAtOnce);
    for (std::size_t f = first; f < last; ++f) {
      Lane* place = histogram + (offset[f] + row[f]) * kWidth;
      for (std::size_t j = 0; j < kVectors; ++j)
        store8(place + j * kLanesAtOnce, load8(place + j * kLanesAtOnce) + v[j]);
    }
  }
}

EDGEWISE_CLONES void add_rows(const Code* codes, std::size_t d, const Row* rows, std::size_t n,
                              const Lane* values, std::size_t lanes, const std::uint32_t* offset,
                              std::size_t first, std::size_t last, Lane* histogram) {
  switch (lanes / kLanesAtOnce) {
    case 1: return add_rows_of<1>(codes, d, rows, n, values, offset, first, last, histogram);
    case 2: return add_rows_of<2>(codes, d, rows, n, values, offset, first, last, histogram);
    case 3: return add_rows_of<3>(codes, d, rows, n, values, offset, first, last, histogram);
    case 4: return add_rows_of<4>(codes, d, rows, n, values, offset, first, last, histogram);
    default: break;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t f = first; f < last; ++f) {
      Lane* place = histogram + (offset[f] + codes[rows[i] * d + f]) * lanes;
      const Lane* from = values + rows[i] * lanes;
      for (std::size_t j = 0; j < lanes; j += kLanesAtOnce)
        store8(place + j, load8(place + j) + load8(from + j));
    }
}

// left += bin; returns the edge sum_l |R_l - L_l| = sum_l |T_l - 2 L_l| over all lanes but the
// last in use, which counts.
EDGEWISE_CLONES std::int64_t advance_edge(Lane* left, const Lane* bin, const Lane* total,
                                          std::size_t n_classes, std::size_t lanes) {
  Int8 sum{};
  for (std::size_t j = 0; j < lanes; j += kLanesAtOnce) {
    const Int8 l = load8(left + j) + load8(bin + j);
    store8(left + j, l);
    const Int8 difference = load8(total + j) - 2 * l;
    sum += difference < 0 ? -difference : difference;
  }
  std::int64_t edge = 0;
  for (std::size_t j = 0; j < kLanesAtOnce; ++j) edge += sum[j];
  return edge - std::abs(total[n_classes] - 2 * left[n_classes]);
}

class EdgeCriterion {
 public:
  EdgeCriterion(const double* signed_weights, std::size_t n_rows, int n_classes,
                const GrowLimits& limits, const Team& team)
      : signed_(signed_weights),
        n_rows_(n_rows),
        n_classes_(static_cast<std::size_t>(n_classes)),
        lanes_(lanes_for(n_classes)) {
    const std::size_t n = n_rows * n_classes_;
    fine_unit_ = sum_scale(n, largest(signed_, n, team));
    const double sum = total(signed_, n, fine_unit_, team);
    unit_ = lane_units(sum, n);
    values_.resize(n_rows * lanes_);
    std::vector<std::int64_t> mass(n_rows);
    team.range(n_rows, kParallelRows / 8, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) mass[i] = fill(i);
    });
    const double mean = sum * unit_ / static_cast<double>(n_rows);
    const auto least = std::max<std::int64_t>(1, to_integer(limits.negligible * mean));
    for (std::size_t i = 0; i < n_rows; ++i)
      (mass[i] >= least ? rows : skipped).push_back(static_cast<Row>(i));
  }

  std::vector<Row> rows, skipped;  // rows that count in the search for splits, and the others

  std::size_t n_classes() const { return n_classes_; }
  std::size_t lanes() const { return lanes_; }
  Lane count(const Lane* place) const { return place[n_classes_]; }
  bool counts_rows() const { return true; }
  double gain_unit() const { return 1.0 / unit_; }

  void add(Row row, Lane* place) const {
    const Lane* from = &values_[row * lanes_];
    for (std::size_t j = 0; j < lanes_; ++j) add_to(place[j], from[j]);
  }
  void add_dense(const BinnedData& data, FeatureGroup group, const Row* of, std::size_t n,
                 Lane* histogram) const {
    add_rows(data.codes.data(), static_cast<std::size_t>(data.n_features), of, n, values_.data(),
             lanes_, data.offset.data(), static_cast<std::size_t>(group.first),
             static_cast<std::size_t>(group.last), histogram);
  }
  double advance(Lane* left, const Lane* bin, const Lane* total) const {
    return static_cast<double>(advance_edge(left, bin, total, n_classes_, lanes_));
  }
  double unsplit(const Lane* total) const {
    std::int64_t edge = 0;
    for (std::size_t l = 0; l < n_classes_; ++l) edge += std::abs(total[l]);
    return static_cast<double>(edge);
  }

  // For sets of categories: the votes v_l = sign(R_l - L_l) of the classes.
  bool one_direction() const { return false; }
  std::size_t n_climbs() const { return 9; }  // all
  double weight(const Lane* place) const { return count(place); }
  void direction(const Lane* left, const Lane* total, double* votes) const {
    for (std::size_t l = 0; l < n_classes_; ++l) votes[l] = total[l] > 2 * left[l] ? 1.0 : -1.0;
  }

  void finish(Tree& tree, std::size_t n_leaves, const Team& team) const {
    const std::size_t width = 2 * n_classes_;
    std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(team.size()));
    for (auto& part : parts) part.resize(n_leaves * width);
    team.range(n_rows_, kParallelRows / 8, [&](std::size_t begin, std::size_t end, int slot) {
      auto& part = parts[static_cast<std::size_t>(slot)];
      for (std::size_t i = begin; i < end; ++i) {
        std::int64_t* edge = &part[tree.leaf_of_row[i] * width];
        std::int64_t* mass = edge + n_classes_;
        for (std::size_t l = 0; l < n_classes_; ++l) {
          const std::int64_t s = to_integer(signed_[i * n_classes_ + l] * fine_unit_);
          edge[l] += s;
          mass[l] += std::abs(s);
        }
      }
    });
    std::vector<std::int64_t> sums(n_leaves * width);
    for (const auto& part : parts)
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += part[j];
    const auto votes = votes_of_leaves(tree, sums);
    for (std::size_t j = 0; j < n_leaves; ++j) {
      for (std::size_t l = 0; l < width; ++l)
        tree.sums.push_back(static_cast<double>(sums[j * width + l]) / fine_unit_);
      tree.sums.insert(tree.sums.end(), &votes[j * n_classes_],
                       &votes[j * n_classes_] + n_classes_);
    }
  }

 private:
  // Lanes of a row; returns the sum of their sizes.
  std::int64_t fill(std::size_t i) {
    Lane* lane = &values_[i * lanes_];
    std::int64_t mass = 0;
    for (std::size_t l = 0; l < n_classes_; ++l) {
      lane[l] = static_cast<Lane>(to_integer(signed_[i * n_classes_ + l] * unit_));
      mass += std::abs(lane[l]);
    }
    lane[n_classes_] = 1;
    return mass;
  }

  // v_l phi(x) of the last stump above every leaf, (n_leaves, n_classes): votes v_l = sign(R_l -
  // L_l) of eq. (12), phi = -1 on the left, +1 on the right. A root that is a leaf is the constant
  // classifier.
  std::vector<double> votes_of_leaves(const Tree& tree,
                                      const std::vector<std::int64_t>& sums) const {
    const std::size_t n_nodes = tree.feature.size(), width = 2 * n_classes_;
    std::vector<std::int64_t> of_node(n_nodes * width);  // edges, then masses of the classes
    std::vector<double> votes(sums.size() / 2);
    auto left_of = [&](std::size_t node) { return static_cast<std::size_t>(tree.left[node]); };
    auto vote = [](std::int64_t edge, std::int64_t mass) {
      return is_positive(edge, mass) ? 1.0 : -1.0;
    };
    for (std::size_t node = n_nodes; node-- > 0;) {  // children come after their parent
      std::int64_t* own = &of_node[node * width];
      if (tree.feature[node] < 0) {  // a leaf: `left` is its number
        std::copy_n(&sums[left_of(node) * width], width, own);
        continue;
      }
      const std::size_t left = left_of(node), right = left + 1;
      const std::int64_t *low = &of_node[left * width], *high = &of_node[right * width];
      for (std::size_t l = 0; l < width; ++l) own[l] = low[l] + high[l];
      for (std::size_t l = 0; l < n_classes_; ++l) {
        const double v = vote(high[l] - low[l], own[n_classes_ + l]);
        if (tree.feature[left] < 0) votes[left_of(left) * n_classes_ + l] = -v;
        if (tree.feature[right] < 0) votes[left_of(right) * n_classes_ + l] = v;
      }
    }
    if (n_nodes == 1)
      for (std::size_t l = 0; l < n_classes_; ++l)
        votes[l] = vote(of_node[l], of_node[n_classes_ + l]);
    return votes;
  }

  const double* signed_;
  std::size_t n_rows_, n_classes_, lanes_;
  double unit_, fine_unit_;   // units per 1.0 in histograms, and in the sums of leaves
  std::vector<Lane> values_;  // (n_rows, lanes)
};

}  // namespace

Tree grow_hamming_tree(const BinnedData& data, const double* signed_weights, int n_classes,
                       const GrowLimits& limits, const Team& team) {
  EdgeCriterion criterion(signed_weights, data.n_rows, n_classes, limits, team);
  LaneEvaluator<EdgeCriterion> evaluator(data, limits, criterion, team);
  return Grower(data, limits, evaluator, team).grow(criterion.rows, criterion.skipped);
}

}  // namespace edgewise
