#include "edge.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clones.hpp"
#include "fixed_point.hpp"
#include "row_sums.hpp"
#include "vectors.hpp"

namespace edgewise {

namespace {

inline void store8(Lane* p, Int8 v) { std::memcpy(p, &v, sizeof v); }

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

// v_l phi(x) of the last stump above every leaf, (n_leaves, n_classes): votes v_l = sign(R_l -
// L_l) of eq. (12), phi = -1 on the left, +1 on the right. A root that is a leaf is the constant
// classifier.
std::vector<double> votes_of_leaves(const Tree& tree, const std::vector<std::int64_t>& sums,
                                    std::size_t n_classes) {
  const std::size_t n_nodes = tree.feature.size(), width = 2 * n_classes;
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
    for (std::size_t l = 0; l < n_classes; ++l) {
      const double v = vote(high[l] - low[l], own[n_classes + l]);
      if (tree.feature[left] < 0) votes[left_of(left) * n_classes + l] = -v;
      if (tree.feature[right] < 0) votes[left_of(right) * n_classes + l] = v;
    }
  }
  if (n_nodes == 1)
    for (std::size_t l = 0; l < n_classes; ++l) votes[l] = vote(of_node[l], of_node[n_classes + l]);
  return votes;
}

}  // namespace

double edge_fine_unit(std::size_t n_rows, int n_classes, double largest) {
  return sum_scale(n_rows * static_cast<std::size_t>(n_classes), largest);
}

EdgeScale edge_scale(std::size_t n_rows, int n_classes, double fine, double sum,
                     double negligible) {
  const double unit = lane_units(sum, n_rows * static_cast<std::size_t>(n_classes));
  const double mean = sum * unit / static_cast<double>(n_rows);
  return {fine, unit, std::max<std::int64_t>(1, to_integer(negligible * mean))};
}

double EdgeScore::advance(Lane* left, const Lane* bin, const Lane* total) const {
  return static_cast<double>(advance_edge(left, bin, total, n_classes_, lanes_));
}

double EdgeScore::unsplit(const Lane* total) const {
  std::int64_t edge = 0;
  for (std::size_t l = 0; l < n_classes_; ++l) edge += std::abs(total[l]);
  return static_cast<double>(edge);
}

EdgeRows::EdgeRows(const double* signed_weights, std::size_t n_rows, int n_classes, EdgeScale scale,
                   const Team& team)
    : EdgeScore(n_classes, scale.unit), values_(n_rows * lanes_) {
  std::vector<std::int64_t> mass(n_rows);
  team.range(n_rows, kParallelRows / 8, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      Lane* lane = &values_[i * lanes_];
      for (std::size_t l = 0; l < n_classes_; ++l) {
        lane[l] = static_cast<Lane>(to_integer(signed_weights[i * n_classes_ + l] * unit_));
        mass[i] += std::abs(lane[l]);
      }
      lane[n_classes_] = 1;
    }
  });
  for (std::size_t i = 0; i < n_rows; ++i)
    if (mass[i] >= scale.least) rows.push_back(static_cast<Row>(i));
}

void EdgeRows::add_dense(const BinnedData& data, FeatureGroup group, const Row* of, std::size_t n,
                         Lane* histogram) const {
  add_lanes(data, group, of, n, values_.data(), lanes_, histogram);
}

std::vector<std::int64_t> edge_leaf_sums(const double* signed_weights, std::size_t n_rows,
                                         std::size_t n_classes, double fine, const Tree& tree,
                                         std::size_t n_leaves, const Team& team) {
  const std::size_t width = 2 * n_classes;
  std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(team.size()));
  for (auto& part : parts) part.resize(n_leaves * width);
  team.range(n_rows, kParallelRows / 8, [&](std::size_t begin, std::size_t end, int slot) {
    auto& part = parts[static_cast<std::size_t>(slot)];
    for (std::size_t i = begin; i < end; ++i) {
      std::int64_t* edge = &part[tree.leaf_of_row[i] * width];
      std::int64_t* mass = edge + n_classes;
      for (std::size_t l = 0; l < n_classes; ++l) {
        const std::int64_t s = to_integer(signed_weights[i * n_classes + l] * fine);
        edge[l] += s;
        mass[l] += std::abs(s);
      }
    }
  });
  std::vector<std::int64_t> sums(n_leaves * width);
  for (const auto& part : parts)
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += part[j];
  return sums;
}

void set_edge_sums(Tree& tree, std::size_t n_classes, double fine,
                   const std::vector<std::int64_t>& sums) {
  const std::size_t width = 2 * n_classes;
  const auto votes = votes_of_leaves(tree, sums, n_classes);
  for (std::size_t j = 0; j < sums.size() / width; ++j) {
    for (std::size_t l = 0; l < width; ++l)
      tree.sums.push_back(static_cast<double>(sums[j * width + l]) / fine);
    tree.sums.insert(tree.sums.end(), &votes[j * n_classes], &votes[j * n_classes] + n_classes);
  }
}

}  // namespace edgewise
