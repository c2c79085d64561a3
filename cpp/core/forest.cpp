#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <stdexcept>

namespace edgewise {
namespace {

constexpr std::uint32_t kAbreast = 8;     // rows that walk a tree side by side
constexpr std::size_t kNarrow = 1 << 12;  // features up to which each has a place in a row

// Makes `all` the union of two ascending sets.
void add_all(std::span<const double> some, std::vector<double>& all) {
  if (std::includes(all.begin(), all.end(), some.begin(), some.end())) return;
  std::vector<double> both;
  std::set_union(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(both));
  all.swap(both);
}

}  // namespace

// A block of rows as doubles in groups of kAbreast: (group, feature, row of the group). A walk then
// finds a value at a fixed distance from its feature's place, whatever its row. Numbers of
// categories stand before the features.
struct Forest::Rows {
  explicit Rows(const Forest& forest) : forest(forest), coded(forest.coded_) {}

  const Forest& forest;
  const std::vector<Coded>& coded;
  std::vector<double> values{}, by_row{};
  std::size_t n = 0, width = 0;
  bool missing = false;

  void load(const Matrix& x, std::size_t begin, std::size_t end) {
    n = end - begin;
    width = forest.n_places_ + coded.size();
    x.is_sparse() ? load_sparse(x, begin, end) : load_dense(x, begin, end);
  }

 private:
  std::size_t n_values() const { return (n + kAbreast - 1) / kAbreast * kAbreast * width; }
  // Of the first feature of a row.
  double* place(std::size_t i) {
    return values.data() + i / kAbreast * kAbreast * width + coded.size() * kAbreast + i % kAbreast;
  }

  void load_dense(const Matrix& x, std::size_t begin, std::size_t end) {
    const std::size_t d = x.cols, n_places = forest.n_places_;
    const std::vector<std::int32_t>& used = forest.used_;
    by_row.resize(n * d);
    x.rows_of(begin, end, by_row.data());
    missing = std::any_of(by_row.begin(), by_row.end(), [](double v) { return std::isnan(v); });
    values.assign(n_values(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      double* row = place(i);
      const double* from = &by_row[i * d];
      if (used.empty())
        for (std::size_t p = 0; p < n_places; ++p) row[p * kAbreast] = from[p];
      else
        for (std::size_t p = 0; p < n_places; ++p)
          row[p * kAbreast] = from[static_cast<std::size_t>(used[p])];
    }
    number_categories();
  }

  // Writes only nonzero values of features that occur in nodes, and clears them before the next
  // rows.
  void load_sparse(const Matrix& x, std::size_t begin, std::size_t end) {
    if (values.size() < n_values()) values.resize(n_values());
    for (double* value : written) *value = 0.0;
    written.clear();
    missing = false;
    x.entries(begin, end, [&](std::size_t i, std::size_t f, double value) {
      const std::size_t at = forest.place_of(f);
      if (at >= forest.n_places_) return;
      written.push_back(place(i - begin) + at * kAbreast);
      *written.back() = value;
      missing |= std::isnan(value);
    });
    number_categories();
  }

  void number_categories() {
    for (std::size_t i = 0; i < n; ++i) {
      const double* row = place(i);
      double* number = values.data() + i / kAbreast * kAbreast * width + i % kAbreast;
      for (std::size_t c = 0; c < coded.size(); ++c)
        number[c * kAbreast] =
            static_cast<double>(coded[c].number(row[coded[c].feature * kAbreast]));
    }
  }

  std::vector<double*> written{};  // places of a sparse block's values
};

std::size_t Forest::Coded::number(double value) const {
  const auto at = std::lower_bound(categories.begin(), categories.end(), value);
  const bool found = at != categories.end() && *at == value;  // NaN is not
  return found ? static_cast<std::size_t>(at - categories.begin()) : categories.size();
}

void ForestStore::append(const Tree& tree) {
  const auto extend = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const auto extend_own = [&](const char*, auto array) { extend(array(*this), array(tree)); };
  each_of_nodes(extend_own);
  each_of_values(extend_own);
  for (const CategorySet& set : tree.sets) {
    extend(set_values, set.values);
    set_start.push_back(static_cast<std::int64_t>(set_values.size()));
  }
  width.push_back(tree.width);
  node_start.push_back(static_cast<std::int64_t>(feature.size()));
  value_start.push_back(static_cast<std::int64_t>(values.size()));
}

ForestArrays ForestStore::view() const {
  ForestArrays views;
  each_of_trees([&](const char*, auto array) { array(views) = array(*this); });
  return views;
}

Forest::Forest(const ForestArrays& a)
    : missing_left_(a.missing_left.begin(), a.missing_left.end()),
      classes_(a.classes.begin(), a.classes.end()),
      values_(a.values.begin(), a.values.end()) {
  find_places(a);
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
          is_leaf ? 0u
                  : static_cast<std::uint32_t>(place_of(static_cast<std::size_t>(a.feature[i]))) *
                        kAbreast,
          static_cast<std::uint32_t>(is_leaf ? i : root + static_cast<std::size_t>(a.left[i]))};
    }
    const auto classes =
        a.classes.subspan(static_cast<std::size_t>(a.value_start[t]),
                          static_cast<std::size_t>(a.value_start[t + 1] - a.value_start[t]));
    const bool one_class = a.width[t] == 1 && std::ranges::adjacent_find(
                                                  classes, std::not_equal_to{}) == classes.end();
    bool in_order = true;
    for (std::size_t i = 0; i < classes.size(); ++i)
      in_order &= static_cast<std::size_t>(classes[i]) == i % static_cast<std::size_t>(a.width[t]);
    trees_.push_back({static_cast<std::uint32_t>(root), depth_from(a, t), a.width[t], one_class,
                      in_order, a.value_start[t]});
  }
  take_sets(a);
}

// Rows walked together through tree after tree: their values stay in a near cache while the trees,
// which may be many megabytes, pass by once. Rows of a sparse matrix may be very wide.
std::size_t Forest::rows_at_once(const Matrix& x) const {
  constexpr std::size_t kBytes = 1 << 16, kSparseBytes = 1 << 24;
  if (x.cols < n_columns_) throw std::invalid_argument("the matrix lacks columns of the forest");
  const std::size_t width = sizeof(double) * n_places_;
  if (x.is_sparse()) return std::clamp<std::size_t>(kSparseBytes / width, 8, 1024) / 8 * 8;
  return std::clamp<std::size_t>(kBytes / width, 64, 1024);
}

// Features have places in a row as they are numbered, up to the last that a node looks at; where
// they are many, only those that occur have one, so that a row takes no more than the model.
void Forest::find_places(const ForestArrays& a) {
  const auto last = std::ranges::max_element(a.feature);
  n_columns_ = last == a.feature.end() ? 0 : static_cast<std::size_t>(*last + 1);
  n_places_ = std::max<std::size_t>(n_columns_, 1);
  if (n_places_ <= kNarrow) return;
  std::ranges::copy_if(a.feature, std::back_inserter(used_), [](auto f) { return f >= 0; });
  std::ranges::sort(used_);
  used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
  n_places_ = used_.size();
}

std::size_t Forest::place_of(std::size_t feature) const {
  if (used_.empty()) return feature;
  const auto at = std::ranges::lower_bound(used_, static_cast<std::int32_t>(feature));
  const bool found = at != used_.end() && static_cast<std::size_t>(*at) == feature;
  return found ? static_cast<std::size_t>(at - used_.begin()) : n_places_;
}

void Forest::take_sets(const ForestArrays& a) {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < a.threshold.size(); ++i)
    if (std::isnan(a.threshold[i])) nodes.push_back(i);
  if (nodes.size() + 1 != a.set_start.size())
    throw std::invalid_argument("there must be a set for every node of threshold NaN");
  if (nodes.empty()) return;
  auto set = [&](std::size_t s) {
    return a.set_values.subspan(static_cast<std::size_t>(a.set_start[s]),
                                static_cast<std::size_t>(a.set_start[s + 1] - a.set_start[s]));
  };
  std::map<std::int32_t, std::vector<double>> categories;  // by feature, ascending
  for (std::size_t s = 0; s < nodes.size(); ++s) add_all(set(s), categories[a.feature[nodes[s]]]);
  std::map<std::int32_t, std::size_t> column;
  for (const auto& [feature, values] : categories) {
    column[feature] = coded_.size();
    coded_.push_back({place_of(static_cast<std::size_t>(feature)), values});
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (a.feature[i] >= 0) nodes_[i].place += static_cast<std::uint32_t>(coded_.size()) * kAbreast;
  set_.assign(nodes_.size(), kNoSet);
  for (std::size_t s = 0; s < nodes.size(); ++s) {
    const std::size_t c = column[a.feature[nodes[s]]];
    nodes_[nodes[s]].place = static_cast<std::uint32_t>(c) * kAbreast;
    set_[nodes[s]] = words_.size();
    std::uint64_t* words = &*words_.insert(words_.end(), coded_[c].n_words(), 0);
    for (const double value : set(s)) {
      const std::size_t bit = coded_[c].number(value);
      words[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
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

template <bool kMissing, bool kSets>
inline std::uint32_t Forest::next(std::uint32_t at, double value) const {
  const Node& node = nodes_[at];
  bool right = value > node.threshold;
  if constexpr (kMissing) right = std::isnan(value) ? !missing_left_[at] : right;
  if constexpr (kSets) right = set_[at] == kNoSet ? right : !in_set(at, value);
  return node.left + right;
}

// Several walks side by side keep the processor busy while each waits for its next node. Their
// places are kept in registers, hence the copy at the end.
template <bool kMissing, bool kSets>
void Forest::descend(const TreeAt& tree, const double* group, std::uint32_t* out) const {
  const Node* nodes = nodes_.data();
  std::uint32_t at[kAbreast];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kAbreast; ++i) at[i] = tree.root;
  for (int step = 0; step < tree.depth; ++step) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kAbreast; ++i) {
      at[i] = next<kMissing, kSets>(at[i], group[nodes[at[i]].place + i]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kAbreast; ++i) out[i] = at[i];
}

void Forest::descend(const TreeAt& tree, const Rows& rows, std::size_t first,
                     std::uint32_t* at) const {
  const double* group = rows.values.data() + first * rows.width;
  if (coded_.empty()) {
    rows.missing ? descend<true, false>(tree, group, at) : descend<false, false>(tree, group, at);
  } else {
    rows.missing ? descend<true, true>(tree, group, at) : descend<false, true>(tree, group, at);
  }
}

template <bool kMissing, bool kSets>
void Forest::descend_trees(const TreeAt* trees, std::size_t n, const double* row,
                           std::uint32_t* out) const {
  const Node* nodes = nodes_.data();
  std::uint32_t at[kAbreast];
  int depth = 0;
  for (std::size_t i = 0; i < kAbreast; ++i) {
    at[i] = trees[std::min(i, n - 1)].root;
    depth = std::max(depth, trees[std::min(i, n - 1)].depth);
  }
  for (int step = 0; step < depth; ++step) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kAbreast; ++i)
      at[i] = next<kMissing, kSets>(at[i], row[nodes[at[i]].place]);
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = at[i];
}

void Forest::descend_trees(const TreeAt* trees, std::size_t n, const Rows& rows, std::size_t i,
                           std::uint32_t* at) const {
  const double* row = rows.values.data() + i / kAbreast * kAbreast * rows.width + i % kAbreast;
  if (coded_.empty()) {
    rows.missing ? descend_trees<true, false>(trees, n, row, at)
                 : descend_trees<false, false>(trees, n, row, at);
  } else {
    rows.missing ? descend_trees<true, true>(trees, n, row, at)
                 : descend_trees<false, true>(trees, n, row, at);
  }
}

template <class Visit>
void Forest::walk(const Rows& rows, std::size_t first, std::size_t last, Visit visit) const {
  if (rows.n < kAbreast / 2) {
    for (std::size_t i = 0; i < rows.n; ++i) {
      for (std::size_t t = first; t < last; t += kAbreast) {
        const std::size_t n = std::min<std::size_t>(kAbreast, last - t);
        std::uint32_t at[kAbreast];
        descend_trees(&trees_[t], n, rows, i, at);
        for (std::size_t j = 0; j < n; ++j) visit(t + j, i, std::size_t{1}, &at[j]);
      }
    }
    return;
  }
  for (std::size_t t = first; t < last; ++t) {
    for (std::size_t b = 0; b < rows.n; b += kAbreast) {
      std::uint32_t at[kAbreast];
      descend(trees_[t], rows, b, at);
      visit(t, b, std::min<std::size_t>(kAbreast, rows.n - b), at);
    }
  }
}

template <class LeafOf>
void Forest::add_leaves(const TreeAt& tree, LeafOf leaf, std::size_t n, std::size_t n_classes,
                        double* scores) const {
  const auto width = static_cast<std::size_t>(tree.width);
  const auto first = static_cast<std::size_t>(tree.values);
  if (tree.one_class) {
    double* column = scores + classes_[first];
    const double* values = values_.data() + first;
    for (std::size_t i = 0; i < n; ++i) column[i * n_classes] += values[leaf(i)];
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t begin = first + leaf(i) * width;
    if (tree.in_order) {
      double* __restrict row = scores + i * n_classes;
      const double* values = values_.data() + begin;
      for (std::size_t k = 0; k < width; ++k) row[k] += values[k];
      continue;
    }
    for (std::size_t m = begin; m < begin + width; ++m)
      scores[i * n_classes + static_cast<std::size_t>(classes_[m])] += values_[m];
  }
}

const CodedForest* Forest::coded(const Matrix& x, std::size_t n_trees) const {
  if (x.rows < kRowsAbreast || x.is_sparse() || !coded_.empty()) return nullptr;
  std::call_once(once_, [&] { coded_forest_ = std::make_unique<CodedForest>(make_coded()); });
  return coded_forest_->pays(x, n_trees) ? coded_forest_.get() : nullptr;
}

// From the nodes, back to the arrays they were made of.
CodedForest Forest::make_coded() const {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> feature, left;
  std::vector<double> threshold;
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    start.push_back(trees_[t].root);
    const std::size_t end = t + 1 < trees_.size() ? trees_[t + 1].root : nodes_.size();
    for (std::size_t i = trees_[t].root; i < end; ++i) {
      const bool is_leaf = leaf_[i] >= 0;
      const auto place = static_cast<std::int32_t>(nodes_[i].place / kAbreast);
      feature.push_back(is_leaf         ? -1
                        : used_.empty() ? place
                                        : used_[static_cast<std::size_t>(place)]);
      left.push_back(is_leaf ? leaf_[i]
                             : static_cast<std::int32_t>(nodes_[i].left - trees_[t].root));
      threshold.push_back(nodes_[i].threshold);
    }
  }
  start.push_back(static_cast<std::int64_t>(nodes_.size()));
  ForestArrays arrays{};
  arrays.node_start = start, arrays.feature = feature, arrays.left = left;
  arrays.threshold = threshold, arrays.missing_left = missing_left_;
  return CodedForest(arrays);
}

void Forest::add_scores(const Matrix& x, std::size_t first, std::size_t last, int n_classes,
                        double* scores, const Team& team) const {
  const std::size_t size = rows_at_once(x);
  const auto k = static_cast<std::size_t>(n_classes);
  const CodedForest* by_code = coded(x, last - first);
  team.range(x.rows, 64, [&](std::size_t begin, std::size_t end, int) {
    if (by_code)
      return by_code->each(
          x, begin, end, first, last,
          [&](std::size_t t, std::size_t row, std::size_t n, const std::uint8_t* leaves) {
            const auto leaf = [&](std::size_t i) { return std::size_t{leaves[i]}; };
            add_leaves(trees_[t], leaf, n, k, scores + row * k);
          });
    Rows rows{*this};
    for (std::size_t b = begin; b < end; b += size) {
      rows.load(x, b, std::min(end, b + size));
      walk(rows, first, last,
           [&](std::size_t t, std::size_t i, std::size_t n, const std::uint32_t* at) {
             const auto leaf = [&](std::size_t j) {
               return static_cast<std::size_t>(leaf_[at[j]]);
             };
             add_leaves(trees_[t], leaf, n, k, scores + (b + i) * k);
           });
    }
  });
}

void Forest::apply(const Matrix& x, std::size_t first, std::size_t last, std::int32_t* leaves,
                   const Team& team) const {
  const std::size_t size = rows_at_once(x);
  team.range(x.rows, 64, [&](std::size_t begin, std::size_t end, int) {
    Rows rows{*this};
    for (std::size_t b = begin; b < end; b += size) {
      rows.load(x, b, std::min(end, b + size));
      walk(rows, first, last,
           [&](std::size_t t, std::size_t i, std::size_t n, const std::uint32_t* at) {
             for (std::size_t j = 0; j < n; ++j)
               leaves[(b + i + j) * (last - first) + (t - first)] = leaf_[at[j]];
           });
    }
  });
}

void Forest::branch(const Matrix& x, std::span<const std::uint8_t> frozen,
                    std::span<const double> right, std::size_t n_layers, double* out,
                    const Team& team) const {
  const std::size_t size = rows_at_once(x);
  team.range(x.rows, 64, [&](std::size_t begin, std::size_t end, int) {
    Rows rows{*this};
    std::vector<double> mass((n_layers + 2) * kAbreast);  // (nodes, rows of a group)
    for (std::size_t b = begin; b < end; b += size) {
      team.poll();
      rows.load(x, b, std::min(end, b + size));
      for (std::size_t g = 0; g < rows.n; g += kAbreast) {
        double settled[kAbreast] = {};
        std::fill(mass.begin(), mass.end(), 0.0);
        std::fill_n(mass.begin(), kAbreast, 1.0);
        for (std::size_t t = 0; t < n_layers; ++t)
          for (std::size_t i = t + 1; i-- > 0;)  // from the right: node i + 1 is done with
            branch_at(rows, g, t * (t + 1) / 2 + i, frozen, right, &mass[i * kAbreast], settled);
        for (std::size_t i = 0; i <= n_layers; ++i) {
          const double vote = 2 * i > n_layers ? 1.0 : 2 * i == n_layers ? 0.5 : 0.0;
          for (std::size_t j = 0; j < kAbreast; ++j) settled[j] += vote * mass[i * kAbreast + j];
        }
        const std::size_t n = std::min<std::size_t>(kAbreast, rows.n - g);
        for (std::size_t j = 0; j < n; ++j) out[b + g + j] += settled[j];
      }
    }
  });
}

// Parts the masses at a node between the nodes i and i + 1 of the next layer.
void Forest::branch_at(const Rows& rows, std::size_t g, std::size_t t,
                       std::span<const std::uint8_t> frozen, std::span<const double> right,
                       double* mass, double* settled) const {
  double* next = mass + kAbreast;
  if (frozen[t]) {
    for (std::size_t j = 0; j < kAbreast; ++j) {
      settled[j] += mass[j] * right[2 * t];
      mass[j] = 0.0;
    }
    return;
  }
  std::uint32_t at[kAbreast];
  descend(trees_[t], rows, g, at);
  for (std::size_t j = 0; j < kAbreast; ++j) {
    const auto value = static_cast<std::size_t>(trees_[t].values + leaf_[at[j]]);
    const double q = right[2 * t + (values_[value] > 0.0)];
    next[j] += mass[j] * q;
    mass[j] *= 1.0 - q;
  }
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

}  // namespace edgewise
