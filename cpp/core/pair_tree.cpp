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
#include "split.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kParallelRows = 1 << 14;
constexpr std::size_t kLanes = 8;     // classes are padded to whole vectors
constexpr std::size_t kFlush = 256;   // rows summed in 32 bits before widening

// A residual is at most 2^bits units, so that sums of kFlush rows stay below 2^31.
int residual_bits(std::size_t n) {
  return 31 - static_cast<int>(std::bit_width(std::min(n, kFlush)));
}

// Residuals r_ik - p_ik of all rows and classes in fixed point, laid out row after row.
struct Residuals {
  std::size_t stride = 0;          // n_classes, padded
  std::vector<std::int32_t> q;     // (n_rows, stride), units of 1 / scale, weighted
  std::vector<float> curvature;    // (n_rows): 1 / (scale * weight), or one entry for all
  double scale = 1.0;

  float curvature_of(Row row) const { return curvature[curvature.size() == 1 ? 0 : row]; }
};

// One thread's space for a node's rows.
struct Workspace {
  std::vector<std::int32_t> g, h;  // of all the node's rows
  std::vector<Row> rows;           // rows that count
  std::vector<Packed> stats;
};

// Adds n rows of residuals and their Hessians |q| - q^2 c to 32-bit sums, kWide classes at a time so
// that the sums stay in registers.
template <std::size_t kWide>
inline void add_lanes(const std::int32_t* q, std::size_t stride, const Row* rows,
                      const float* curvature, std::size_t per_row, std::size_t n,
                      std::int32_t* g, std::int32_t* h) {
  std::int32_t sum_g[kWide] = {}, sum_h[kWide] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t* row = q + rows[i] * stride;
    const float c = curvature[per_row * rows[i]];
    for (std::size_t k = 0; k < kWide; ++k) {
      const float size = std::abs(static_cast<float>(row[k]));
      sum_g[k] += row[k];
      sum_h[k] += static_cast<std::int32_t>(size - size * size * c);
    }
  }
  std::copy_n(sum_g, kWide, g);
  std::copy_n(sum_h, kWide, h);
}

EDGEWISE_CLONES void sum_rows(const std::int32_t* q, std::size_t stride, const Row* rows,
                              const float* curvature, std::size_t per_row, std::size_t n,
                              std::int32_t* g, std::int32_t* h) {
  std::size_t k = 0;
  for (; k + 32 <= stride; k += 32)
    add_lanes<32>(q + k, stride, rows, curvature, per_row, n, g + k, h + k);
  for (; k + 16 <= stride; k += 16)
    add_lanes<16>(q + k, stride, rows, curvature, per_row, n, g + k, h + k);
  for (; k < stride; k += 8)
    add_lanes<8>(q + k, stride, rows, curvature, per_row, n, g + k, h + k);
}

EDGEWISE_CLONES void negate_to_units(const double* p, std::size_t n, double scale,
                                     std::int32_t* q) {
  constexpr double kRound = 6755399441055744.0;
  for (std::size_t k = 0; k < n; ++k)
    q[k] = static_cast<std::int32_t>(
        std::bit_cast<std::int64_t>(kRound - p[k] * scale) - std::bit_cast<std::int64_t>(kRound));
}

// (p_r + p_s) - (p_r - p_s)^2 from the residuals a of r and b of s, without cancellation where r or
// s is the true class; c is 1 over the unit.
inline double pair_hessian(double a, double b, bool r_is_true, bool s_is_true, double c) {
  if (r_is_true) return a - 3.0 * b - (a - b) * (a - b) * c;
  if (s_is_true) return b - 3.0 * a - (b - a) * (b - a) * c;
  return -a - b - (a - b) * (a - b) * c;
}

void add_to(ClassSums& sums, const ClassSums& other) {
  for (std::size_t k = 0; k < sums.g.size(); ++k) {
    sums.g[k] += other.g[k];
    sums.h[k] += other.h[k];
  }
}

}  // namespace

struct PairTreeGrower::Buffers {
  Residuals residuals;
  std::vector<Workspace> workspace;                     // per thread
  std::vector<std::vector<PlainBin>> plain;             // histograms, per thread
  std::vector<std::vector<CountedBin>> counted;
  std::vector<Row> rows;
};

namespace {

// Rounds the residuals of all rows, the largest to at least half the units there are.
void round_residuals(const Posterior& posterior, Residuals& residuals, const Team& team) {
  const std::size_t n = posterior.n_rows();
  const auto n_classes = static_cast<std::size_t>(posterior.n_classes());
  std::vector<double> most(static_cast<std::size_t>(team.size()), 1e-30);
  team.range(n, kParallelRows, [&](std::size_t begin, std::size_t end, int slot) {
    double largest = 1e-30;  // finer than that nothing is left to learn
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = static_cast<Row>(i);
      largest = std::max(largest, posterior.residual(row, posterior.label(row)));
    }
    auto& m = most[static_cast<std::size_t>(slot)];
    m = std::max(m, largest);
  });
  const double largest =
      *std::max_element(most.begin(), most.end()) * posterior.largest_weight();
  const double scale = std::ldexp(0.5, residual_bits(n)) / power_of_two_below(largest);
  residuals.scale = scale;
  residuals.stride = (n_classes + kLanes - 1) / kLanes * kLanes;
  residuals.q.resize(n * residuals.stride);
  residuals.curvature.resize(posterior.weighted() ? n : 1);
  residuals.curvature[0] = static_cast<float>(1.0 / scale);
  team.range(n, kParallelRows / 8, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = static_cast<Row>(i);
      const double* p = posterior.of_row(row);
      const double unit = scale * posterior.weight(row);
      std::int32_t* q = residuals.q.data() + i * residuals.stride;
      negate_to_units(p, n_classes, unit, q);
      const int y = posterior.label(row);
      q[y] = static_cast<std::int32_t>(to_integer(posterior.residual(row, y) * unit));
      if (posterior.weighted()) residuals.curvature[i] = static_cast<float>(1.0 / unit);
    }
  });
}

template <class Bin>
class PairTreeEvaluator {
 public:
  struct State {
    ClassSums sums;
    Pair pair;
  };
  using Node = Leaf<State>;

  PairTreeEvaluator(const BinnedData& data, const Posterior& posterior, const GrowLimits& limits,
                    const Residuals& residuals, std::vector<Workspace>& workspace,
                    std::vector<std::vector<Bin>>& histograms, LeafKind kind, double shrinkage)
      : data_(data), posterior_(posterior), limits_(limits), residuals_(residuals),
        workspace_(workspace), histograms_(histograms), kind_(kind),
        shrinkage_(shrinkage) {}

  void root(Node& node, const Row* rows, bool search, const Team& team) {
    node.state.sums = class_sums(rows, node.end, team);
    if (search) find(node, rows, team, 0);
  }

  void children(Node& parent, const Row* rows, bool search_left, bool search_right,
                const Team& team, int slot) {
    Node* small = parent.left.get();
    Node* large = parent.right.get();
    if (small->n_rows() > large->n_rows()) std::swap(small, large);
    small->state.sums = class_sums(rows + small->begin, small->n_rows(), team);
    large->state.sums = std::move(parent.state.sums);
    for (std::size_t k = 0; k < small->state.sums.g.size(); ++k) {
      large->state.sums.g[k] -= small->state.sums.g[k];
      large->state.sums.h[k] -= small->state.sums.h[k];
    }
    if (search_left) find(*parent.left, rows, team, slot);
    if (search_right) find(*parent.right, rows, team, slot);
  }

  void finish(std::vector<std::unique_ptr<Node>>& leaves, const Row* rows, Tree& tree,
              const Team& team) {
    tree.width = kind_ == LeafKind::pair ? 2 : posterior_.n_classes();
    const auto width = static_cast<std::size_t>(tree.width);
    tree.classes.resize(leaves.size() * width);
    tree.values.resize(tree.classes.size());
    team.each(leaves.size(), [&](std::size_t j, int) {
      if (kind_ == LeafKind::pair) {
        pair_leaf(*leaves[j], rows, &tree.classes[j * width], &tree.values[j * width]);
      } else {
        vector_leaf(*leaves[j], rows, &tree.classes[j * width], &tree.values[j * width]);
      }
    });
  }

 private:
  ClassSums empty_sums() const {
    const auto n = static_cast<std::size_t>(posterior_.n_classes());
    return {std::vector<std::int64_t>(n), std::vector<std::int64_t>(n)};
  }

  ClassSums class_sums(const Row* rows, std::size_t n, const Team& team) const {
    if (team.size() == 1 || n < kParallelRows) return class_sums(rows, n);
    std::vector<ClassSums> part(static_cast<std::size_t>(team.size()), empty_sums());
    team.range(n, kParallelRows / 4, [&](std::size_t begin, std::size_t end, int slot) {
      add_to(part[static_cast<std::size_t>(slot)], class_sums(rows + begin, end - begin));
    });
    for (std::size_t t = 1; t < part.size(); ++t) add_to(part[0], part[t]);
    return part[0];
  }

  ClassSums class_sums(const Row* rows, std::size_t n) const {
    ClassSums sums = empty_sums();
    std::vector<std::int32_t> g(residuals_.stride), h(residuals_.stride);
    const std::size_t per_row = residuals_.curvature.size() == 1 ? 0 : 1;
    for (std::size_t b = 0; b < n; b += kFlush) {
      sum_rows(residuals_.q.data(), residuals_.stride, rows + b, residuals_.curvature.data(),
               per_row, std::min(kFlush, n - b), g.data(), h.data());
      for (std::size_t k = 0; k < sums.g.size(); ++k) {
        sums.g[k] += g[k];
        sums.h[k] += h[k];
      }
    }
    return sums;
  }

  // Sum of p_r p_k in units. Where one of them is the true class its probability is 1 - residual.
  double cross(const Row* rows, std::size_t n, int r, int k) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t* q = residuals_.q.data() + rows[i] * residuals_.stride;
      const double c = residuals_.curvature_of(rows[i]);
      const int y = posterior_.label(rows[i]);
      const double product = static_cast<double>(q[r]) * q[k] * c;
      sum += to_integer(product - (y == r ? q[k] : y == k ? q[r] : 0));
    }
    return static_cast<double>(sum);
  }

  void pick_pair(Node& node, const Row* rows) const {
    const double noise = kPairTie * std::ldexp(1.0, residual_bits(posterior_.n_rows())) *
                         static_cast<double>(node.n_rows());
    node.state.pair =
        choose_pair(node.state.sums, noise, [&](int r, int k) {
          return cross(rows + node.begin, node.n_rows(), r, k);
        });
  }

  // g and h of the pair for n rows, in units; adds |g| and h to the sums.
  void derive(Pair pair, const Row* rows, std::size_t n, Workspace& w, std::int64_t& sum_g,
              std::int64_t& sum_h) const {
    w.g.resize(n), w.h.resize(n);
    std::int64_t g_total = 0, h_total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t* q = residuals_.q.data() + rows[i] * residuals_.stride;
      const double c = residuals_.curvature_of(rows[i]);
      const int y = posterior_.label(rows[i]);
      w.g[i] = q[pair.r] - q[pair.s];
      w.h[i] = static_cast<std::int32_t>(
          pair_hessian(q[pair.r], q[pair.s], y == pair.r, y == pair.s, c));
      g_total += std::abs(w.g[i]);
      h_total += w.h[i];
    }
    sum_g += g_total;
    sum_h += h_total;
  }

  // Units of the node's packed statistics per unit of the residuals: powers of two, at most 1.
  FixedPoint node_scale(std::int64_t sum_g, std::int64_t sum_h, std::size_t n) const {
    const auto count = static_cast<double>(n);
    auto scale = [&](std::int64_t sum) {
      const auto total = static_cast<double>(std::max<std::int64_t>(sum, 1));
      const double unit = std::max({1.0, total / (0x1p31 - 3.0 * count),
                                    2.0 * limits_.negligible * total / count});
      return power_of_two_below(1.0 / unit);
    };
    return {scale(sum_g), scale(sum_h)};
  }

  // Packs the rows that count: those that do not round to nothing, or all if rows are counted.
  Bin keep(const Row* rows, std::size_t n, FixedPoint scale, Workspace& w) const {
    w.rows.resize(n), w.stats.resize(n);
    std::size_t kept = 0;
    Bin total{};
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t g = to_integer(w.g[i] * scale.g);
      const std::int64_t h = to_integer(w.h[i] * scale.h);
      const Packed packed = pack(g, h > 0 ? h : (g != 0));
      w.rows[kept] = rows[i];
      w.stats[kept] = packed;
      const bool counts = std::is_same_v<Bin, CountedBin> || packed != 0;
      kept += counts;
      if (counts) total += Bin::row(packed);
    }
    w.rows.resize(kept), w.stats.resize(kept);
    return total;
  }

  void find(Node& node, const Row* all_rows, const Team& team, int slot) {
    pick_pair(node, all_rows);
    const Row* rows = all_rows + node.begin;
    auto& histogram = histograms_[static_cast<std::size_t>(slot)];
    histogram.assign(data_.n_places(), Bin{});
    FixedPoint scale;
    Bin total;
    if (team.size() == 1 || node.n_rows() < kParallelRows) {
      Workspace& w = workspace_[static_cast<std::size_t>(slot)];
      std::int64_t sum_g = 0, sum_h = 0;
      derive(node.state.pair, rows, node.n_rows(), w, sum_g, sum_h);
      scale = node_scale(sum_g, sum_h, node.n_rows());
      total = keep(rows, node.n_rows(), scale, w);
      add_to_histogram(data_, w.rows.data(), w.stats.data(), w.rows.size(), histogram.data());
    } else {
      total = build_together(node, rows, team, scale);
    }
    complete_histogram(data_, total, histogram.data());
    std::vector<int> features(static_cast<std::size_t>(data_.n_features));
    std::iota(features.begin(), features.end(), 0);
    const double unit = scale.h / (scale.g * scale.g) / residuals_.scale;
    node.split = find_split(data_, histogram.data(), total, limits_.min_samples_leaf, unit,
                            features);
  }

  // As `find` does alone, every thread taking a piece of the rows. histograms_[0] receives the sum.
  Bin build_together(const Node& node, const Row* rows, const Team& team, FixedPoint& scale) {
    const auto threads = static_cast<std::size_t>(team.size());
    const std::size_t size = (node.n_rows() + threads - 1) / threads;
    auto piece = [&](std::size_t t) {
      const std::size_t begin = std::min(node.n_rows(), t * size);
      return std::pair{rows + begin, std::min(node.n_rows(), begin + size) - begin};
    };
    std::vector<std::int64_t> sum_g(threads), sum_h(threads);
    team.each(threads, [&](std::size_t t, int) {
      const auto [first, n] = piece(t);
      derive(node.state.pair, first, n, workspace_[t], sum_g[t], sum_h[t]);
    });
    scale = node_scale(std::accumulate(sum_g.begin(), sum_g.end(), std::int64_t{0}),
                       std::accumulate(sum_h.begin(), sum_h.end(), std::int64_t{0}),
                       node.n_rows());
    std::vector<Bin> total(threads);
    team.each(threads, [&](std::size_t t, int) {
      const auto [first, n] = piece(t);
      Workspace& w = workspace_[t];
      total[t] = keep(first, n, scale, w);
      histograms_[t].assign(data_.n_places(), Bin{});
      add_to_histogram(data_, w.rows.data(), w.stats.data(), w.rows.size(), histograms_[t].data());
    });
    for (std::size_t t = 1; t < threads; ++t) {
      total[0] += total[t];
      for (std::size_t b = 0; b < histograms_[t].size(); ++b) histograms_[0][b] += histograms_[t][b];
    }
    return total[0];
  }

  static double newton_step(double g, double h, double factor) {
    return g == 0.0 ? 0.0 : std::clamp(factor * g / h, -kLeafClip, kLeafClip);
  }

  // Units for exact sums over a leaf, finer than those of the residuals: relative to the largest
  // residual of its rows.
  double leaf_unit(const Node& leaf, const Row* rows) const {
    double largest = 1e-300;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
      largest = std::max(largest, posterior_.weight(rows[i]) *
                                      posterior_.residual(rows[i], posterior_.label(rows[i])));
    return sum_scale(leaf.n_rows(), 4.0 * largest);
  }

  void pair_leaf(Node& leaf, const Row* rows, std::int32_t* classes, double* values) const {
    if (leaf.state.pair.r < 0) pick_pair(leaf, rows);
    const auto [r, s] = leaf.state.pair;
    const double unit = leaf_unit(leaf, rows);
    std::int64_t g = 0, h = 0;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      const Row row = rows[i];
      const int y = posterior_.label(row);
      const double a = posterior_.residual(row, r), b = posterior_.residual(row, s);
      const double w = posterior_.weight(row) * unit;
      g += to_integer((a - b) * w);
      h += to_integer(pair_hessian(a, b, y == r, y == s, 1.0) * w);
    }
    const double value =
        shrinkage_ * newton_step(static_cast<double>(g), static_cast<double>(std::max<std::int64_t>(h, 1)), 1.0);
    classes[0] = r, values[0] = value;
    classes[1] = s, values[1] = -value;
  }

  void vector_leaf(const Node& leaf, const Row* rows, std::int32_t* classes, double* values) const {
    const int n_classes = posterior_.n_classes();
    const double unit = leaf_unit(leaf, rows);
    ClassSums sums = empty_sums();
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      const double w = posterior_.weight(rows[i]) * unit;
      for (int k = 0; k < n_classes; ++k) {
        const double residual = posterior_.residual(rows[i], k);
        const double size = std::abs(residual);
        sums.g[static_cast<std::size_t>(k)] += to_integer(residual * w);
        sums.h[static_cast<std::size_t>(k)] += to_integer(size * (1.0 - size) * w);
      }
    }
    const double factor = static_cast<double>(n_classes - 1) / n_classes;
    double mean = 0.0;
    for (int k = 0; k < n_classes; ++k) {
      const auto u = static_cast<std::size_t>(k);
      classes[k] = k;
      values[k] = shrinkage_ *
                  newton_step(static_cast<double>(sums.g[u]),
                              static_cast<double>(std::max<std::int64_t>(sums.h[u], 1)), factor);
      mean += values[k] / n_classes;
    }
    for (int k = 0; k < n_classes; ++k) values[k] -= mean;
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

PairTreeGrower::PairTreeGrower(const BinnedData& data, const Posterior& posterior,
                               const GrowLimits& limits)
    : data_(data), posterior_(posterior), limits_(limits),
      buffers_(std::make_unique<Buffers>()) {}

PairTreeGrower::~PairTreeGrower() = default;

Tree PairTreeGrower::grow(LeafKind leaf, double shrinkage, const Team& team) {
  Buffers& b = *buffers_;
  const auto threads = static_cast<std::size_t>(team.size());
  b.workspace.resize(threads), b.plain.resize(threads), b.counted.resize(threads);
  b.rows.resize(data_.n_rows);
  std::iota(b.rows.begin(), b.rows.end(), Row{0});
  round_residuals(posterior_, b.residuals, team);
  auto grow = [&](auto& histograms) {
    PairTreeEvaluator evaluator(data_, posterior_, limits_, b.residuals, b.workspace, histograms,
                                leaf, shrinkage);
    return Grower(data_, limits_, evaluator, team).grow(b.rows);
  };
  return limits_.min_samples_leaf > 1 ? grow(b.counted) : grow(b.plain);
}

}  // namespace edgewise
