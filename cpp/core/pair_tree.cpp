#include "pair_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "class_trees.hpp"
#include "clones.hpp"
#include "criteria/pair.hpp"
#include "fixed_point.hpp"
#include "grower.hpp"
#include "histogram.hpp"
#include "residuals.hpp"
#include "row_sums.hpp"
#include "split.hpp"

namespace edgewise {
namespace {

// One thread's space for a node's rows, or for a piece of them.
struct Workspace {
  std::vector<std::int32_t> a, b;  // residuals of the two classes
  std::vector<float> c;            // curvatures
  std::vector<std::int32_t> g, h;  // derivatives of the pair
  std::vector<Row> rows;           // rows that take part in the search
  std::vector<Packed> stats;

  void make_room(std::size_t n) {
    if (a.size() >= n) return;
    for (auto* v : {&a, &b, &g, &h}) v->resize(n);
    c.resize(n), rows.resize(n), stats.resize(n);
  }
};

void add_to(ClassSums& sums, const ClassSums& other) {
  for (std::size_t k = 0; k < sums.g.size(); ++k) {
    sums.g[k] += other.g[k];
    sums.h[k] += other.h[k];
  }
}

double newton_step(std::int64_t g, std::int64_t h, double factor) {
  if (g == 0) return 0.0;
  const double step = static_cast<double>(g) / static_cast<double>(std::max<std::int64_t>(h, 1));
  return std::clamp(factor * step, -kLeafClip, kLeafClip);
}

}  // namespace

EDGEWISE_CLONES void pack_rows(const std::int32_t* g, const std::int32_t* h, std::size_t n,
                               FixedPoint scale, Packed* stats) {
  for (std::size_t i = 0; i < n; ++i) stats[i] = scale(g[i], h[i]);
}

void move_pairs(Tree& tree, const std::vector<Pair>& pairs, const std::vector<PairSums>& sums,
                double shrinkage) {
  tree.width = 2;
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    const double value = shrinkage * newton_step(sums[j].g, sums[j].h, 1.0);
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
      values[k] = shrinkage * newton_step(sum.g, sum.h, factor);
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
    Pair pair;
    std::vector<int> active;  // features that may be worth a look
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
        shrinkage_(shrinkage) {}

  void root(Node& node, const Row* rows, const Team& team) {
    node.state.sums = class_sums(Pieces(node, rows, team, 0));
    node.state.active = limits_.allowed(data_.feature_of);
  }

  void inherit(Node& parent, const Row* rows, bool /*search*/, const Team& team, int slot) {
    Node* small = parent.left.get();
    Node* large = parent.right.get();
    if (small->n_rows() > large->n_rows()) std::swap(small, large);
    small->state.active = parent.state.active;
    large->state.active = std::move(parent.state.active);
    small->state.sums = class_sums(Pieces(*small, rows, team, slot));
    large->state.sums = std::move(parent.state.sums);
    for (std::size_t k = 0; k < small->state.sums.g.size(); ++k) {
      large->state.sums.g[k] -= small->state.sums.g[k];
      large->state.sums.h[k] -= small->state.sums.h[k];
    }
  }

  // Derivatives of the pair, their scale, the histogram of the rows that matter, the best split.
  void search(Node& node, const Row* all_rows, const Team& team, int slot) {
    const Pieces pieces(node, all_rows, team, slot);
    const auto& active = node.state.active;
    drop_hopeless(data_, pieces.rows, pieces.n, limits_.min_samples_leaf, node.state.active);
    if (active.empty()) return;
    pick_pair(node, pieces);
    const PairSums sums = derive(pieces);
    const auto sum_g = static_cast<double>(sums.g), sum_h = static_cast<double>(sums.h);
    // Units of the node's packed statistics per unit of the residuals.
    const FixedPoint scale{std::min(1.0, FixedPoint::units(sum_g, pieces.n)),
                           std::min(1.0, FixedPoint::units(sum_h, pieces.n))};
    const Threshold counts(limits_.negligible, sum_g * scale.g, sum_h * scale.h, pieces.n);
    std::vector<Bin> total(workspace_.size());
    pieces.each([&](std::size_t t, const Row* rows, std::size_t n) {
      clear_histogram(data_, active, histograms_[t]);
      total[t] = fill(rows, n, scale, counts, workspace_[t], histograms_[t]);
    });
    const std::size_t at = pieces.count == 1 ? static_cast<std::size_t>(slot) : 0;
    for (std::size_t t = 1; t < pieces.count; ++t) {
      total[0] += total[t];
      each_range(data_, active, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b) histograms_[0][b] += histograms_[t][b];
      });
    }
    complete_histogram(data_, active, total[at], histograms_[at].data());
    std::vector<int> features = active;
    const double unit = scale.h / (scale.g * scale.g) / residuals_.scale();
    node.split = find_split(data_, histograms_[at].data(), total[at], limits_.min_samples_leaf,
                            unit, features);
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row* rows, Tree& tree,
              const Team& team) {
    if (kind_ == LeafKind::pair) {
      for (auto& leaf : leaves)
        if (leaf->state.pair.r < 0) pick_pair(*leaf, Pieces(*leaf, rows, team, 0));
      pair_leaves(leaves, tree, team);
    } else {
      vector_leaves(leaves.size(), tree, team);
    }
  }

 private:
  // A node's rows, cut into one piece per thread if they are many.
  struct Pieces {
    const Row* rows;
    std::size_t n, count, size;
    const Team& team;
    int slot;  // of the only piece

    Pieces(const Node& node, const Row* all_rows, const Team& t, int s)
        : rows(all_rows + node.begin),
          n(node.n_rows()),
          count(n < kParallelRows ? 1 : static_cast<std::size_t>(t.size())),
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
    for (std::size_t t = 1; t < pieces.count; ++t) add_to(part[0], part[t]);
    return part[0];
  }

  // Leaves the residuals of the pair in the workspace.
  void pick_pair(Node& node, const Pieces& pieces) const {
    pieces.each([&](std::size_t t, const Row* rows, std::size_t n) {
      workspace_[t].make_room(n);
      residuals_.gather_curvature(rows, n, workspace_[t].c.data());
    });
    Pair seen;
    auto gather = [&](Pair pair) {
      pieces.each([&](std::size_t t, const Row* rows, std::size_t n) {
        if (pair.r != seen.r) residuals_.gather(rows, n, pair.r, workspace_[t].a.data());
        if (pair.s != seen.s) residuals_.gather(rows, n, pair.s, workspace_[t].b.data());
      });
      seen = pair;
    };
    node.state.pair = choose_pair(node.state.sums, [&](int r, int k) {
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

  // Fills in g and h of the pair; returns sum |g| and sum h.
  PairSums derive(const Pieces& pieces) const {
    std::vector<PairSums> part(workspace_.size());
    pieces.each([&](std::size_t t, const Row*, std::size_t n) {
      Workspace& w = workspace_[t];
      part[t] = derive_pair(w.a.data(), w.b.data(), w.c.data(), n, w.g.data(), w.h.data());
    });
    PairSums sums;
    for (const PairSums& s : part) sums.g += s.g, sums.h += s.h;
    return sums;
  }

  // Sums the rows that take part in the search; returns their total.
  Bin fill(const Row* rows, std::size_t n, FixedPoint scale, Threshold counts, Workspace& w,
           std::vector<Bin>& histogram) const {
    pack_rows(w.g.data(), w.h.data(), n, scale, w.stats.data());
    std::size_t kept = 0;
    Bin total{};
    for (std::size_t i = 0; i < n; ++i) {
      const Packed packed = w.stats[i];
      w.rows[kept] = rows[i];
      w.stats[kept] = packed;
      kept += counts(packed);
    }
    for (std::size_t i = 0; i < kept; ++i) {
      total += Bin::row(w.stats[i]);
    }
    add_to_histogram(data_, w.rows.data(), w.stats.data(), kept, histogram.data());
    return total;
  }

  // Exact sums for leaf values take all rows in order, in a finer fixed point than the residuals'.
  double leaf_unit() const { return pair_leaf_unit(posterior_.n_rows(), residuals_.largest()); }

  // Adds f(row, sums of its leaf, unit of the row) over all rows; returns (n_leaves, width) sums.
  template <class F>
  std::vector<PairSums> leaf_sums(const Tree& tree, std::size_t n_leaves, std::size_t width,
                                  const Team& team, F f) const {
    std::vector<std::vector<PairSums>> part(static_cast<std::size_t>(team.size()));
    for (auto& p : part) p.resize(n_leaves * width);
    const double unit = leaf_unit();
    team.range(posterior_.n_rows(), kParallelRows / 4,
               [&](std::size_t begin, std::size_t end, int slot) {
                 PairSums* sums = part[static_cast<std::size_t>(slot)].data();
                 for (std::size_t i = begin; i < end; ++i) {
                   const auto row = static_cast<Row>(i);
                   f(row, tree.leaf_of_row[i], sums + tree.leaf_of_row[i] * width,
                     posterior_.weight(row) * unit);
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
    move_pairs(tree, pair, sums, shrinkage_);
  }

  void vector_leaves(std::size_t n_leaves, Tree& tree, const Team& team) const {
    const int n_classes = posterior_.n_classes();
    const auto width = static_cast<std::size_t>(n_classes);
    const auto sums = leaf_sums(tree, n_leaves, width, team,
                                [&](Row row, std::uint16_t, PairSums* sum, double unit) {
                                  add_all(posterior_, row, unit, sum);
                                });
    move_all(tree, n_classes, sums, shrinkage_);
  }

  const BinnedData& data_;
  const Posterior& posterior_;
  const GrowLimits& limits_;
  const Residuals& residuals_;
  std::vector<Workspace>& workspace_;
  std::vector<std::vector<Bin>>& histograms_;
  LeafKind kind_;
  double shrinkage_;
};

}  // namespace

struct PairTreeGrower::Buffers {
  Residuals residuals;
  std::vector<Workspace> workspace;          // per thread
  std::vector<std::vector<PlainBin>> plain;  // histograms, per thread
  std::vector<std::vector<CountedBin>> counted;
  std::vector<Row> rows;
};

PairTreeGrower::PairTreeGrower(const BinnedData& data, const Posterior& posterior,
                               const GrowLimits& limits)
    : data_(data), posterior_(posterior), limits_(limits), buffers_(std::make_unique<Buffers>()) {}

PairTreeGrower::~PairTreeGrower() = default;

Tree PairTreeGrower::grow(LeafKind leaf, double shrinkage, const Team& team) {
  Buffers& b = *buffers_;
  const auto threads = static_cast<std::size_t>(team.size());
  b.workspace.resize(threads), b.plain.resize(threads), b.counted.resize(threads);
  b.rows.resize(data_.n_rows);
  std::iota(b.rows.begin(), b.rows.end(), Row{0});
  b.residuals.round(posterior_, team);
  auto grow = [&](auto& histograms) {
    PairTreeEvaluator evaluator(data_, posterior_, limits_, b.residuals, b.workspace, histograms,
                                leaf, shrinkage);
    return Grower(data_, limits_, evaluator, team).grow(b.rows, {});
  };
  return limits_.min_samples_leaf > 1 ? grow(b.counted) : grow(b.plain);
}

}  // namespace edgewise
