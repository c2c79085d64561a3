#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clones.hpp"
#include "math.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kRowsAtOnce = 64;
constexpr std::size_t kAbreast = 8;  // rows that walk a tree side by side

EDGEWISE_CLONES void softmax_row(double* s, std::size_t n) {
  double largest = s[0];
  for (std::size_t k = 1; k < n; ++k) largest = s[k] > largest ? s[k] : largest;
  for (std::size_t k = 0; k < n; ++k) s[k] = exp_portable(s[k] - largest);
  double sum = 0.0;
  for (std::size_t k = 0; k < n; ++k) sum += s[k];
  for (std::size_t k = 0; k < n; ++k) s[k] /= sum;
}

}  // namespace

// A block of rows as doubles, padded to whole groups of kAbreast.
struct Forest::Rows {
  std::vector<double> values;
  std::size_t n = 0, width = 0;
  bool missing = false;

  void load(const Matrix& x, std::size_t begin, std::size_t end) {
    n = end - begin;
    width = x.cols;
    const std::size_t padded = (n + kAbreast - 1) / kAbreast * kAbreast;
    values.assign(padded * width, 0.0);
    x.rows_of(begin, end, values.data());
    missing = std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
  }
};

void ForestStore::append(const Tree& tree) {
  auto extend = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  extend(feature, tree.feature);
  extend(left, tree.left);
  extend(threshold, tree.threshold);
  extend(missing_left, tree.missing_left);
  extend(gain, tree.gain);
  extend(classes, tree.classes);
  extend(values, tree.values);
  width.push_back(tree.width);
  node_start.push_back(static_cast<std::int64_t>(feature.size()));
  value_start.push_back(static_cast<std::int64_t>(values.size()));
}

ForestArrays ForestStore::view() const {
  return {node_start, value_start, width, feature, left, threshold, missing_left, classes, values};
}

Forest::Forest(const ForestArrays& a)
    : missing_left_(a.missing_left.begin(), a.missing_left.end()),
      classes_(a.classes.begin(), a.classes.end()),
      values_(a.values.begin(), a.values.end()) {
  nodes_.resize(a.feature.size());
  leaf_.resize(a.feature.size());
  for (std::size_t t = 0; t + 1 < a.node_start.size(); ++t) {
    const auto root = static_cast<std::size_t>(a.node_start[t]);
    for (auto i = root; i < static_cast<std::size_t>(a.node_start[t + 1]); ++i) {
      const bool is_leaf = a.feature[i] < 0;
      leaf_[i] = is_leaf ? a.left[i] : -1;
      if (is_leaf) missing_left_[i] = 1;
      nodes_[i] = {
          is_leaf ? std::numeric_limits<double>::infinity() : a.threshold[i],
          is_leaf ? 0 : a.feature[i],
          static_cast<std::int32_t>(is_leaf ? i : root + static_cast<std::size_t>(a.left[i]))};
    }
    trees_.push_back(
        {static_cast<std::uint32_t>(root), depth_from(a, t), a.width[t], a.value_start[t]});
  }
}

int Forest::depth_from(const ForestArrays& a, std::size_t t) const {
  const auto root = static_cast<std::size_t>(a.node_start[t]);
  const auto n = static_cast<std::size_t>(a.node_start[t + 1]) - root;
  std::vector<int> depth(n);
  int deepest = 0;
  for (std::size_t i = 0; i < n; ++i) {  // children come after their parent
    if (a.feature[root + i] < 0) continue;
    const auto left = static_cast<std::size_t>(a.left[root + i]);
    depth[left] = depth[left + 1] = depth[i] + 1;
    deepest = std::max(deepest, depth[i] + 1);
  }
  return deepest;
}

template <bool kMissing>
void Forest::descend(const TreeAt& tree, const double* x, std::size_t width,
                     std::uint32_t* at) const {
  const Node* nodes = nodes_.data();
  std::fill(at, at + kAbreast, tree.root);
  for (int step = 0; step < tree.depth; ++step) {
    for (std::size_t i = 0; i < kAbreast; ++i) {
      const Node& node = nodes[at[i]];
      const double value = x[i * width + static_cast<std::size_t>(node.feature)];
      bool right = value > node.threshold;
      if constexpr (kMissing) right = std::isnan(value) ? !missing_left_[at[i]] : right;
      at[i] = static_cast<std::uint32_t>(node.left) + right;
    }
  }
}

template <class Visit>
void Forest::walk(const Rows& rows, std::size_t first, std::size_t last, Visit visit) const {
  for (std::size_t t = first; t < last; ++t) {
    const TreeAt& tree = trees_[t];
    for (std::size_t b = 0; b < rows.n; b += kAbreast) {
      const double* x = rows.values.data() + b * rows.width;
      std::uint32_t at[kAbreast];
      if (rows.missing) {
        descend<true>(tree, x, rows.width, at);
      } else {
        descend<false>(tree, x, rows.width, at);
      }
      for (std::size_t i = 0; i < std::min(kAbreast, rows.n - b); ++i)
        visit(t, tree, b + i, leaf_[at[i]]);
    }
  }
}

void Forest::add_scores(const Matrix& x, std::size_t first, std::size_t last, int n_classes,
                        double* scores, const Team& team) const {
  team.range(x.rows, kRowsAtOnce, [&](std::size_t begin, std::size_t end, int) {
    Rows rows;
    for (std::size_t b = begin; b < end; b += kRowsAtOnce) {
      rows.load(x, b, std::min(end, b + kRowsAtOnce));
      double* out = scores + b * static_cast<std::size_t>(n_classes);
      walk(rows, first, last,
           [&](std::size_t, const TreeAt& tree, std::size_t i, std::int32_t leaf) {
             double* row = out + i * static_cast<std::size_t>(n_classes);
             const auto at =
                 static_cast<std::size_t>(tree.values + std::int64_t{leaf} * tree.width);
             for (std::size_t m = at; m < at + static_cast<std::size_t>(tree.width); ++m)
               row[classes_[m]] += values_[m];
           });
    }
  });
}

void Forest::apply(const Matrix& x, std::size_t first, std::size_t last, std::int32_t* leaves,
                   const Team& team) const {
  team.range(x.rows, kRowsAtOnce, [&](std::size_t begin, std::size_t end, int) {
    Rows rows;
    for (std::size_t b = begin; b < end; b += kRowsAtOnce) {
      rows.load(x, b, std::min(end, b + kRowsAtOnce));
      walk(rows, first, last, [&](std::size_t t, const TreeAt&, std::size_t i, std::int32_t leaf) {
        leaves[(b + i) * (last - first) + (t - first)] = leaf;
      });
    }
  });
}

void Forest::replay(const Matrix& x, std::size_t first, std::size_t last, Posterior& posterior,
                    const Team& team) const {
  std::vector<std::vector<std::uint16_t>> leaf_of_row(last - first);
  std::vector<Moves> moves;
  std::vector<std::int32_t> leaves(x.rows);
  for (std::size_t t = first; t < last; ++t) {
    apply(x, t, t + 1, leaves.data(), team);
    auto& of_row = leaf_of_row[t - first];
    of_row.assign(leaves.begin(), leaves.end());
    const auto begin = static_cast<std::size_t>(trees_[t].values);
    const auto end =
        t + 1 < trees_.size() ? static_cast<std::size_t>(trees_[t + 1].values) : values_.size();
    moves.emplace_back(of_row.data(), static_cast<std::size_t>(trees_[t].width),
                       std::span(classes_).subspan(begin, end - begin),
                       std::span(values_).subspan(begin, end - begin));
  }
  posterior.add(moves, team);
}

void softmax(double* scores, std::size_t n_rows, int n_classes, const Team& team) {
  const auto n = static_cast<std::size_t>(n_classes);
  team.range(n_rows, 1024, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) softmax_row(scores + i * n, n);
  });
}

}  // namespace edgewise
