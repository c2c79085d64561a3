#include "pair_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "criteria/pair.hpp"
#include "grower.hpp"
#include "residuals.hpp"
#include "row_sums.hpp"
#include "split.hpp"

namespace edgewise {
namespace {

// One thread's space for a node's rows, or for its share of them.
struct Workspace {
  std::vector<std::int32_t> a, b;  // residuals of the two classes
  std::vector<float> c;            // curvatures
  PairPiece piece;

  void make_room(std::size_t n) {
    if (a.size() >= n) return;
    a.resize(n), b.resize(n), c.resize(n);
  }
};

double step_of(PairSums sum, double factor, double l2 = 0.0, double max_delta = kLeafClip) {
  if (sum.g == 0) return 0.0;
  const double h = static_cast<double>(std::max<std::int64_t>(sum.h, 1)) + l2;
  return std::clamp(factor * (static_cast<double>(sum.g) / h), -max_delta, max_delta);
}

}  // namespace

void move_pairs(Tree& tree, const std::vector<Pair>& pairs, const std::vector<PairSums>& sums,
                double shrinkage) {
  tree.width = 2;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    const double value = shrinkage * step_of(sums[j], 1.0);
    tree.classes.insert(tree.classes.end(), {pairs[j].r, pairs[j].s});
    tree.values.insert(tree.values.end(), {value, -value});
  }
}

void move_all(Tree& tree, int n_classes, const std::vector<PairSums>& sums, double shrinkage) {
  const auto width = static_cast<std::size_t>(n_classes);
  const double factor = static_cast<double>(n_classes - 1) / n_classes;
  tree.width = n_classes;
  tree.values.resize(sums.size());
  for (std::size_t j = 0; j < sums.size(); j += width) {
    double* values = &tree.values[j];
    double mean = 0.0;
    for (int k = 0; k < n_classes; ++k) {
      const PairSums& sum = sums[j + static_cast<std::size_t>(k)];
      tree.classes.push_back(k);
      values[k] = shrinkage * step_of(sum, factor);
      mean += values[k] / n_classes;
    }
    for (int k = 0; k < n_classes; ++k) values[k] -= mean;
  }
}

namespace {

template <class Bin>
class PairTreeEvaluator {
 public:
  struct State {
    ClassSums sums;
    Sizes above;  // what its units follow from
    Pair pair;
    std::vector<int> active;  // features that may be worth a look
    std::vector<Bounds> box;  // monotone trees: of the steps of every class (n_classes)
  };
  using Node = Leaf<State>;

  PairTreeEvaluator(const BinnedData& data, const Posterior& posterior, const GrowLimits& limits,
                    const Residuals& residuals, std::vector<Workspace>& workspace,
                    std::vector<std::vector<Bin>>& histograms, LeafKind kind, double shrinkage)
      : data_(data),
        posterior_(posterior),
        limits_(limits),
        residuals_(residuals),
        workspace_(workspace),
        histograms_(histograms),
        kind_(kind),
        shrinkage_(shrinkage),
        share_(share_of_parent(data, limits.negligible)) {}

  void root(Node& node, const Row* rows, const Team& team) {
    node.state.sums = class_sums(Pieces(node, rows, team, 0));
    node.state.above = {node.state.sums.size, node.n_rows()};
    node.state.active = limits_.allowed(data_.feature_of);
    if (limits_.monotone.any()) node.state.box.resize(limits_.monotone.n_classes);
  }

  void inherit(Node& parent, const Row* rows, bool /*search*/, const Team& team, int slot) {
    Node* small = parent.left.get();
    Node* large = parent.right.get();
    if (small->n_rows() > large->n_rows()) std::swap(small, large);
    small->state.active = parent.state.active;
    large->state.active = std::move(parent.state.active);
    small->state.above = large->state.above = {parent.state.sums.size, parent.n_rows()};
    small->state.sums = class_sums(Pieces(*small, rows, team, slot));
    large->state.sums = std::move(parent.state.sums);
    large->state.sums -= small->state.sums;
    if (limits_.monotone.any()) part_box(parent, rows);
  }

  // The pair, the histogram of its derivatives over the rows that matter, the best split.
  void search(Node& node, const Row* all_rows, const Team& team, int slot) {
    const Pieces pieces(node, all_rows, team, slot, !data_.pays_by_columns(node.n_rows()));
    const Team* helpers = pieces.count == 1 ? &team : nullptr;  // where threads share columns
    const auto& active = node.state.active;
    limits_.interactions.restrict_to(node.path, data_.feature_of, node.state.active);
    drop_hopeless(data_, pieces.rows, pieces.n, limits_.min_samples_leaf, node.state.active);
    if (active.empty()) return;
    pick_pair(node, pieces);
    const PairUnits units(node.state.above, node.state.pair, share_);
    const FixedPoint scale = units.scale;  // per unit of the residuals
    std::vector<Bin> total(workspace_.size());
    pieces.each([&](std::size_t t, const Row* rows, std::size_t n) {
      clear_histogram(data_, active, histograms_[t]);
      total[t] = fill(rows, n, units, workspace_[t], histograms_[t], helpers);
    });
    const std::size_t at = pieces.count == 1 ? static_cast<std::size_t>(slot) : 0;
    for (std::size_t t = 1; t < pieces.count; ++t) {
      total[0] += total[t];
      each_range(data_, active, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b) histograms_[0][b] += histograms_[t][b];
      });
    }
    complete_histogram(data_, active, total[at], histograms_[at].data());
    std::vector<int> columns = active;
    SplitRules rules{l2(residuals_.scale()) * scale.h};
    rules.cut_key = node.key;
    std::vector<std::int8_t> directions;
    if (limits_.monotone.any()) {
      directions = keep_to_directions(node, columns);
      rules.directions = directions.data();
      rules.bounds = bounds_of_pair(node, scale.g / scale.h);
      if (rules.bounds.low > rules.bounds.high) return;  // the pair cannot move against itself
    }
    const double unit = scale.h / (scale.g * scale.g) / residuals_.scale();
    node.split = find_split(data_, histograms_[at].data(), total[at], limits_.min_samples_leaf,
                            unit, rules, columns);
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row* rows, Tree& tree,
              const Team& team) {
    if (kind_ == LeafKind::pair) {
      for (auto& leaf : leaves)
        if (leaf->state.pair.r < 0) pick_pair(*leaf, Pieces(*leaf, rows, team, 0));
      pair_leaves(leaves, tree, team);
    } else {
      vector_leaves(leaves, tree, team);
    }
  }

 private:
  // A node's rows, cut into one piece per thread if they are many.
  struct Pieces {
    const Row* rows;
    std::size_t n, count, size;
    const Team& team;
    int slot;  // of the only piece

    Pieces(const Node& node, const Row* all_rows, const Team& t, int s, bool by_rows = true)
        : rows(all_rows + node.begin),
          n(node.n_rows()),
          count(by_rows && n >= kParallelRows / 4 ? static_cast<std::size_t>(t.size()) : 1),
          size((n + count - 1) / count),
          team(t),
          slot(s) {}

    // Calls f(thread's slot, rows, number of rows) for every piece.
    template <class F>
    void each(F f) const {
      if (count == 1) return f(static_cast<std::size_t>(slot), rows, n);
      team.each(count, [&](std::size_t t, int) {
        const std::size_t begin = std::min(n, t * size);
        f(t, rows + begin, std::min(n, begin + size) - begin);
      });
    }
  };

  ClassSums class_sums(const Pieces& pieces) const {
    std::vector<ClassSums> part(workspace_.size());
    pieces.each(
        [&](std::size_t t, const Row* rows, std::size_t n) { part[t] = residuals_.sums(rows, n); });
    if (pieces.count == 1) return part[static_cast<std::size_t>(pieces.slot)];
    for (std::size_t t = 1; t < pieces.count; ++t) part[0] += part[t];
    return part[0];
  }

  // Leaves the residuals of the pair in the workspace.
  void pick_pair(Node& node, const Pieces& pieces) const {
    Pair seen;
    auto gather = [&](Pair pair) {
      pieces.each([&](std::size_t t, const Row* rows, std::size_t n) {
        Workspace& w = workspace_[t];
        w.make_room(n);
        if (seen.r != pair.r) {
          residuals_.gather_pair(rows, n, pair, w.a.data(), w.b.data(), w.c.data());
        } else if (seen.s != pair.s) {
          residuals_.gather(rows, n, pair.s, w.b.data());
        }
      });
      seen = pair;
    };
    node.state.pair = choose_pair(node.state.sums, l2(residuals_.scale()), [&](int r, int k) {
      gather({r, k});
      std::vector<std::int64_t> sum(workspace_.size());
      pieces.each([&](std::size_t t, const Row*, std::size_t n) {
        const Workspace& w = workspace_[t];
        sum[t] = cross_sum(w.a.data(), w.b.data(), w.c.data(), n);
      });
      return static_cast<double>(std::accumulate(sum.begin(), sum.end(), std::int64_t{0}));
    });
    gather(node.state.pair);
  }

  // Sums the rows that take part in the search, piece by piece, or all at once where helpers share
  // columns; returns their total.
  Bin fill(const Row* rows, std::size_t n, const PairUnits& units, Workspace& w,
           std::vector<Bin>& histogram, const Team* helpers) const {
    const std::size_t size = helpers && helpers->size() > 1 ? n : PairPiece::kRows;
    Bin total{};
    for (std::size_t at = 0; at < n; at += size)
      total += w.piece.add(data_, rows + at, std::min(size, n - at), &w.a[at], &w.b[at], &w.c[at],
                           units, histogram.data(), helpers);
    return total;
  }

  // Exact sums for leaf values take all rows in order, in a finer fixed point than the residuals'.
  double leaf_unit() const { return pair_leaf_unit(posterior_.n_rows(), residuals_.largest()); }

  // In units of sums.
  double l2(double unit) const { return limits_.core_l2() * unit; }

  double newton_step(PairSums sum, double factor) const {
    return step_of(sum, factor, l2(leaf_unit()), limits_.max_delta);
  }

  // Adds f(row, its leaf, sums of the leaf, unit of the row) over all rows that are learned from;
  // returns (n_leaves, width) sums.
  template <class F>
  std::vector<PairSums> leaf_sums(const Tree& tree, std::size_t n_leaves, std::size_t width,
                                  const Team& team, F f) const {
    std::vector<std::vector<PairSums>> part(static_cast<std::size_t>(team.size()));
    for (auto& p : part) p.resize(n_leaves * width);
    const double unit = leaf_unit();
    team.range(posterior_.n_rows(), kParallelRows / 4,
               [&](std::size_t begin, std::size_t end, int slot) {
                 PairSums* sums = part[static_cast<std::size_t>(slot)].data();
                 auto add = [&](std::size_t i) {
                   const auto row = static_cast<Row>(i);
                   f(row, tree.leaf_of_row[i], sums + tree.leaf_of_row[i] * width,
                     posterior_.weight(row) * unit);
                 };
                 if (!limits_.sample) {
                   for (std::size_t i = begin; i < end; ++i) add(i);
                 } else {
                   for (std::size_t i = begin; i < end; ++i)
                     if (limits_.sample->drawn[i]) add(i);
                 }
               });
    for (std::size_t t = 1; t < part.size(); ++t)
      for (std::size_t j = 0; j < part[0].size(); ++j)
        part[0][j].g += part[t][j].g, part[0][j].h += part[t][j].h;
    return part[0];
  }

  void pair_leaves(const std::vector<std::unique_ptr<Node>>& leaves, Tree& tree,
                   const Team& team) const {
    std::vector<Pair> pair;
    for (const auto& leaf : leaves) pair.push_back(leaf->state.pair);
    const auto sums = leaf_sums(tree, leaves.size(), 1, team,
                                [&](Row row, std::uint16_t leaf, PairSums* sum, double unit) {
                                  add_pair(posterior_, row, pair[leaf], unit, *sum);
                                });
    tree.width = limits_.monotone.any() ? posterior_.n_classes() : 2;
    for (std::size_t j = 0; j < leaves.size(); ++j) {
      const double step = newton_step(sums[j], 1.0);
      if (limits_.monotone.any()) {
        put_boxed(steps_of_pair(pair[j], step), leaves[j]->state.box, tree);
        continue;
      }
      const double value = shrinkage_ * step;
      tree.classes.insert(tree.classes.end(), {pair[j].r, pair[j].s});
      tree.values.insert(tree.values.end(), {value, -value});
    }
  }

  void vector_leaves(const std::vector<std::unique_ptr<Node>>& leaves, Tree& tree,
                     const Team& team) const {
    const int n_classes = posterior_.n_classes();
    const auto width = static_cast<std::size_t>(n_classes);
    const auto sums = leaf_sums(tree, leaves.size(), width, team,
                                [&](Row row, std::uint16_t, PairSums* sum, double unit) {
                                  add_all(posterior_, row, unit, sum);
                                });
    tree.width = n_classes;
    for (std::size_t j = 0; j < leaves.size(); ++j) {
      if (limits_.monotone.any()) {
        put_boxed(centred_steps(&sums[j * width]), leaves[j]->state.box, tree);
        continue;
      }
      std::vector<double> values(width);
      double mean = 0.0;
      for (std::size_t k = 0; k < width; ++k) {
        values[k] = shrinkage_ * newton_step(sums[j * width + k], class_factor());
        mean += values[k] / n_classes;
      }
      for (int k = 0; k < n_classes; ++k) {
        tree.classes.push_back(k);
        tree.values.push_back(values[static_cast<std::size_t>(k)] - mean);
      }
    }
  }

  double class_factor() const {
    const int n_classes = posterior_.n_classes();
    return static_cast<double>(n_classes - 1) / n_classes;
  }

  // --- monotone trees: steps of all classes, each within the bounds of its node's box ---------

  void put_boxed(const std::vector<double>& steps, const std::vector<Bounds>& box,
                 Tree& tree) const {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      tree.classes.push_back(static_cast<std::int32_t>(k));
      tree.values.push_back(shrinkage_ * box[k].clamp(steps[k]));
    }
  }

  std::vector<double> steps_of_pair(Pair pair, double step) const {
    std::vector<double> steps(static_cast<std::size_t>(posterior_.n_classes()));
    steps[static_cast<std::size_t>(pair.r)] = step;
    steps[static_cast<std::size_t>(pair.s)] = -step;
    return steps;
  }

  std::vector<double> centred_steps(const PairSums* sums) const {
    std::vector<double> steps(static_cast<std::size_t>(posterior_.n_classes()));
    double mean = 0.0;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      steps[k] = newton_step(sums[k], class_factor());
      mean += steps[k] / posterior_.n_classes();
    }
    for (double& step : steps) step -= mean;
    return steps;
  }

  // What a side of a split would move if it were a leaf: the pair that was split, or all classes.
  std::vector<double> steps_of_side(const Node& side, Pair pair, const Row* rows) const {
    std::vector<PairSums> sums(static_cast<std::size_t>(posterior_.n_classes()));
    for (std::size_t i = side.begin; i < side.end; ++i) {
      const double unit = posterior_.weight(rows[i]) * leaf_unit();
      if (kind_ == LeafKind::pair) {
        add_pair(posterior_, rows[i], pair, unit, sums[0]);
      } else {
        add_all(posterior_, rows[i], unit, sums.data());
      }
    }
    return kind_ == LeafKind::pair ? steps_of_pair(pair, newton_step(sums[0], 1.0))
                                   : centred_steps(sums.data());
  }

  void part_box(Node& parent, const Row* rows) const {
    const auto& box = parent.state.box;
    const int feature = data_.feature_of[static_cast<std::size_t>(parent.split.feature)];
    parent.left->state.box = parent.right->state.box = box;
    if (!parts_values(data_, parent.split)) return;
    std::vector<double> left, right;
    for (std::size_t k = 0; k < box.size(); ++k) {
      const int d = limits_.monotone.of(feature, static_cast<int>(k));
      if (d == direction::kFree) continue;
      if (left.empty()) {
        left = steps_of_side(*parent.left, parent.state.pair, rows);
        right = steps_of_side(*parent.right, parent.state.pair, rows);
      }
      std::tie(parent.left->state.box[k], parent.right->state.box[k]) =
          direction::part(box[k], d, (box[k].clamp(left[k]) + box[k].clamp(right[k])) / 2.0);
    }
  }

  // Which way the node's pair may move with each column; takes out those with which it may not.
  std::vector<std::int8_t> keep_to_directions(const Node& node, std::vector<int>& columns) const {
    std::vector<std::int8_t> directions(static_cast<std::size_t>(data_.n_features));
    const auto [r, s] = node.state.pair;
    std::erase_if(columns, [&](int column) {
      const auto c = static_cast<std::size_t>(column);
      const int d = limits_.monotone.of_move(data_.feature_of[c], r, s);
      directions[c] = static_cast<std::int8_t>(d);
      return d == direction::kConstant;
    });
    return directions;
  }

  // Of the step of a pair that both its classes allow, in units of A / B.
  Bounds bounds_of_pair(const Node& node, double unit) const {
    const Bounds& up = node.state.box[static_cast<std::size_t>(node.state.pair.r)];
    const Bounds& down = node.state.box[static_cast<std::size_t>(node.state.pair.s)];
    return {std::max(up.low, -down.high) * unit, std::min(up.high, -down.low) * unit};
  }

  const BinnedData& data_;
  const Posterior& posterior_;
  const GrowLimits& limits_;
  const Residuals& residuals_;
  std::vector<Workspace>& workspace_;
  std::vector<std::vector<Bin>>& histograms_;
  LeafKind kind_;
  double shrinkage_;
  double share_;  // of the mean, below which rows take no part in a search
};

}  // namespace

struct PairTreeGrower::Buffers {
  Residuals residuals;
  std::vector<Workspace> workspace;          // per thread
  std::vector<std::vector<PlainBin>> plain;  // histograms, per thread
  std::vector<std::vector<CountedBin>> counted;
  std::vector<Row> rows;  // to learn from

  void draw(std::size_t n_rows, const RowSample* sample) {
    rows.resize(n_rows);
    std::iota(rows.begin(), rows.end(), Row{0});
    if (sample) std::erase_if(rows, [&](Row row) { return !sample->drawn[row]; });
  }
};

PairTreeGrower::PairTreeGrower(const BinnedData& data, const Posterior& posterior,
                               const GrowLimits& limits)
    : data_(data), posterior_(posterior), limits_(limits), buffers_(std::make_unique<Buffers>()) {}

PairTreeGrower::~PairTreeGrower() = default;

Tree PairTreeGrower::grow(LeafKind leaf, double shrinkage, const Team& team,
                          const GrowLimits* of_tree) {
  Buffers& b = *buffers_;
  const GrowLimits& limits = of_tree ? *of_tree : limits_;
  const auto threads = static_cast<std::size_t>(team.size());
  b.workspace.resize(threads), b.plain.resize(threads), b.counted.resize(threads);
  b.draw(data_.n_rows, limits.sample.get());
  b.residuals.round(posterior_, team);
  auto grow = [&](auto& histograms) {
    PairTreeEvaluator evaluator(data_, posterior_, limits, b.residuals, b.workspace, histograms,
                                leaf, shrinkage);
    return Grower(data_, limits, evaluator, team).grow(b.rows);
  };
  return limits.min_samples_leaf > 1 ? grow(b.counted) : grow(b.plain);
}

}  // namespace edgewise
