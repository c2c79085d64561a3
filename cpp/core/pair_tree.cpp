#include "pair_tree.hpp"

#include <algorithm>
#include <numeric>

#include "grower.hpp"
#include "residuals.hpp"
#include "row_sums.hpp"

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

template <class Bin>
class PairTreeEvaluator {
 public:
  using State = PairState;
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
        search_(data, limits, residuals.scale(), posterior.n_rows(), prior_of(posterior)),
        leaf_rule_(kind, posterior.n_classes(), shrinkage, limits, posterior.n_rows(),
                   residuals.largest(), prior_of(posterior)),
        share_(share_of_parent(data, limits.negligible)) {}

  void root(Node& node, const Row* rows, const Team& team) {
    node.state.sums = class_sums(Pieces(node, rows, team, 0));
    search_.plant(node.state, node.n_rows());
  }

  void inherit(Node& parent, const Row* rows, bool /*search*/, const Team& team, int slot) {
    Node* small = parent.left.get();
    Node* large = parent.right.get();
    if (small->n_rows() > large->n_rows()) std::swap(small, large);
    small->state.active = parent.state.active;
    large->state.active = std::move(parent.state.active);
    small->state.above = large->state.above = search_.sizes_of(parent.state.sums, parent.n_rows());
    small->state.sums = class_sums(Pieces(*small, rows, team, slot));
    large->state.sums = std::move(parent.state.sums);
    large->state.sums -= small->state.sums;
    if (search_.monotone())
      search_.part_box(
          parent, [&](const Node& side) { return steps_of_side(side, parent.state.pair, rows); });
  }

  // The pair, the histogram of its derivatives over the rows that matter, the best split.
  void search(Node& node, const Row* all_rows, const Team& team, int slot) {
    const Pieces pieces(node, all_rows, team, slot, !data_.pays_by_columns(node.n_rows()));
    const Team* helpers = pieces.count == 1 ? &team : nullptr;  // where threads share columns
    const auto& active = node.state.active;
    drop_hopeless(data_, pieces.rows, pieces.n, limits_.min_samples_leaf, node.state.active);
    if (active.empty()) return;
    pick_pair(node, pieces);
    const PairUnits units(node.state.above, node.state.pair, share_);
    const Bin total = pieces.template sum<Bin>([&](std::size_t t, const Row* rows, std::size_t n) {
      clear_histogram(data_, active, histograms_[t]);
      return fill(rows, n, units, workspace_[t], histograms_[t], helpers);
    });
    const std::size_t at = pieces.count == 1 ? static_cast<std::size_t>(slot) : 0;
    for (std::size_t t = 1; t < pieces.count; ++t) {
      each_range(data_, active, [&](std::size_t begin, std::size_t end) {
        for (std::size_t b = begin; b < end; ++b) histograms_[0][b] += histograms_[t][b];
      });
    }
    complete_histogram(data_, active, total, histograms_[at].data());
    search_(node, units.scale, histograms_[at].data(), total);
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row* rows, Tree& tree,
              const Team& team) {
    std::vector<Pair> pairs;
    std::vector<const std::vector<Bounds>*> boxes;
    for (const auto& leaf : leaves) {
      if (kind_ == LeafKind::pair && leaf->state.pair.r < 0)
        pick_pair(*leaf, Pieces(*leaf, rows, team, 0));
      pairs.push_back(leaf->state.pair);
      if (search_.monotone()) boxes.push_back(&leaf->state.box);
    }
    leaf_rule_.set(tree, pairs, leaf_sums(tree, pairs, team), boxes);
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

    // The sum of what f returns.
    template <class T, class F>
    T sum(F f) const {
      if (count == 1) return f(static_cast<std::size_t>(slot), rows, n);
      std::vector<T> part(count);
      each([&](std::size_t t, const Row* of, std::size_t m) { part[t] = f(t, of, m); });
      for (std::size_t t = 1; t < count; ++t) part[0] += part[t];
      return std::move(part[0]);
    }
  };

  ClassSums class_sums(const Pieces& pieces) const {
    return pieces.template sum<ClassSums>(
        [&](std::size_t, const Row* rows, std::size_t n) { return residuals_.sums(rows, n); });
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
    node.state.pair = search_.pair_of(node.state.sums, [&](int r, int k) {
      gather({r, k});
      return static_cast<double>(
          pieces.template sum<std::int64_t>([&](std::size_t t, const Row*, std::size_t n) {
            const Workspace& w = workspace_[t];
            return cross_sum(w.a.data(), w.b.data(), w.c.data(), n);
          }));
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

  // Exact sums for leaf values take all rows that are learned from in order: (n_leaves, width).
  std::vector<PairSums> leaf_sums(const Tree& tree, const std::vector<Pair>& pairs,
                                  const Team& team) const {
    const std::size_t width = leaf_rule_.width(), stride = leaf_rule_.stride();
    std::vector<std::vector<PairSums>> part(static_cast<std::size_t>(team.size()));
    for (auto& p : part) p.resize(pairs.size() * stride);
    team.range(
        posterior_.n_rows(), kParallelRows / 4, [&](std::size_t begin, std::size_t end, int slot) {
          leaf_rule_.add_rows(posterior_, tree.leaf_of_row.data(), limits_.sample.get(), begin, end,
                              pairs, part[static_cast<std::size_t>(slot)].data());
        });
    std::vector<PairSums> sums;
    for (std::size_t j = 0; j < pairs.size() * stride; ++j) {
      if (j % stride >= width) continue;
      PairSums& sum = sums.emplace_back();
      for (const auto& p : part) sum.g += p[j].g, sum.h += p[j].h;
    }
    return sums;
  }

  // What a side of a split would move if it were a leaf: the pair that was split, or all classes.
  std::vector<double> steps_of_side(const Node& side, Pair pair, const Row* rows) const {
    std::vector<PairSums> sums(leaf_rule_.width());
    for (std::size_t i = side.begin; i < side.end; ++i)
      leaf_rule_.add(posterior_, rows[i], pair, sums.data());
    return leaf_rule_.steps(pair, sums.data());
  }

  const BinnedData& data_;
  const Posterior& posterior_;
  const GrowLimits& limits_;
  const Residuals& residuals_;
  std::vector<Workspace>& workspace_;
  std::vector<std::vector<Bin>>& histograms_;
  LeafKind kind_;
  PairSearch search_;
  PairLeaves leaf_rule_;
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
