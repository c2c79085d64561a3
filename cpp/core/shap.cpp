#include "shap.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "clones.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kBatch = 16;               // trees that are made ready together
constexpr std::size_t kMaxTable = 512;           // columns of a table
constexpr std::size_t kTablesOfTree = 1 << 20;   // bytes
constexpr std::size_t kBytesAtOnce = 64u << 20;  // of Shapley values before they are handed out

using Byte = std::uint8_t;

// --- integrals --------------------------------------------------------------------------------

// Points and weights of Gauss and Legendre on [0, 1].
struct Quadrature {
  std::vector<double> at, weight;

  explicit Quadrature(std::size_t n) : at(n), weight(n) {
    const auto size = static_cast<double>(n);
    for (std::size_t q = 0; q < n; ++q) {
      double x = std::cos(std::numbers::pi * (static_cast<double>(q) + 0.75) / (size + 0.5));
      double slope = 0.0;
      for (int step = 0; step < 8; ++step) {  // Newton's; five are enough
        double p = 1.0, before = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
          const auto d = static_cast<double>(j);
          const double after = ((2.0 * d + 1.0) * x * p - d * before) / (d + 1.0);
          before = p, p = after;
        }
        slope = size * (x * p - before) / (x * x - 1.0);
        x -= p / slope;
      }
      at[q] = 0.5 * (1.0 - x);
      weight[q] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
  }
};

// Rules of sizes that grow by a quarter: a larger one than needed is exact too.
class Quadratures {
 public:
  explicit Quadratures(std::size_t most_factors) {
    for (std::size_t n = 1;; n += std::max<std::size_t>(1, n / 4)) {
      rules_.emplace_back(n);
      if (2 * n >= most_factors) return;
    }
  }

  const Quadrature& of(std::size_t n_factors) const {
    return *std::ranges::find_if(
        rules_, [&](const Quadrature& rule) { return 2 * rule.at.size() >= n_factors; });
  }

 private:
  std::vector<Quadrature> rules_;
};

// (o_j - z_j) int prod_{i != j} (t o_i + (1-t) z_i) dt for N rows, out (m, N), from on (m, N): the
// o, 0 or 1. `factor` and `before` are room for as many numbers.
template <std::size_t N>
EDGEWISE_CLONES void coefficients(const double* z, std::size_t m, const Quadrature& rule,
                                  const double* on, double* factor, double* before, double* out) {
  std::fill_n(out, m * N, 0.0);
  for (std::size_t q = 0; q < rule.at.size(); ++q) {
    const double t = rule.at[q];
    double product[N];
    std::fill_n(product, N, rule.weight[q]);
    for (std::size_t j = 0; j < m; ++j) {
      const double off = (1.0 - t) * z[j];
      for (std::size_t c = 0; c < N; ++c) {
        factor[j * N + c] = off + t * on[j * N + c];
        before[j * N + c] = product[c];
        product[c] *= factor[j * N + c];
      }
    }
    std::fill_n(product, N, 1.0);
    for (std::size_t j = m; j-- > 0;) {
      for (std::size_t c = 0; c < N; ++c) {
        out[j * N + c] += before[j * N + c] * product[c];
        product[c] *= factor[j * N + c];
      }
    }
  }
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t c = 0; c < N; ++c) out[j * N + c] *= on[j * N + c] - z[j];
}

// The same numbers, bit for bit, for all 2^m columns of zeros and ones; o_j is bit j of a column.
// The product of the factors before j depends on the bits below j only, that of the factors after j
// on those above. `before` (2^m) and `after` (2^m) are room.
EDGEWISE_CLONES void tabulate(const double* z, std::size_t m, const Quadrature& rule,
                              double* before, double* after, double* out) {
  const std::size_t n = std::size_t{1} << m;
  std::fill_n(out, m * n, 0.0);
  for (std::size_t q = 0; q < rule.at.size(); ++q) {
    const double t = rule.at[q];
    // Of the bits above j, at after[high..2 high): the last factor first.
    after[1] = 1.0;
    for (std::size_t j = m; --j > 0;) {
      const double off = (1.0 - t) * z[j], both = off + t;
      const std::size_t high = n >> (j + 1);
      for (std::size_t c = 0; c < high; ++c) {
        after[2 * high + 2 * c] = after[high + c] * off;
        after[2 * high + 2 * c + 1] = after[high + c] * both;
      }
    }
    before[0] = rule.weight[q];
    for (std::size_t j = 0; j < m; ++j) {
      const double off = (1.0 - t) * z[j], both = off + t;
      const std::size_t low = std::size_t{1} << j, high = n >> (j + 1);
      double* to = out + j * n;  // at first for o_j = 0 only: o_j is not in the integral
      for (std::size_t c = 0; c < high; ++c)
        for (std::size_t b = 0; b < low; ++b) to[2 * c * low + b] += before[b] * after[high + c];
      for (std::size_t b = 0; b < low; ++b) {
        before[low + b] = before[b] * both;
        before[b] *= off;
      }
    }
  }
  for (std::size_t j = 0; j < m; ++j) {
    const std::size_t low = std::size_t{1} << j;
    for (double* to = out + j * n; to < out + (j + 1) * n; to += 2 * low)
      for (std::size_t b = 0; b < low; ++b) {
        to[low + b] = to[b] * (1.0 - z[j]);
        to[b] *= 0.0 - z[j];
      }
  }
}

// --- trees made ready -------------------------------------------------------------------------

struct Step {
  std::uint32_t node;  // in its tree
  bool left;           // the side on which the path goes on
};

// One feature of a path.
struct Factor {
  std::size_t feature;
  std::size_t first, last;  // steps
};

struct Path {
  std::size_t first, last;      // factors
  std::size_t value, n_values;  // entries of the forest's classes and values
  std::size_t table;            // place of its coefficients for all columns, or kNone
};

constexpr std::size_t kNone = ~std::size_t{0};

// The share of the rows that go left at an inner node.
double share_left(std::span<const double> cover, std::size_t root, std::size_t left) {
  const double l = cover[root + left], r = cover[root + left + 1];
  return l + r > 0.0 ? l / (l + r) : 0.5;
}

struct ReadyTree {
  std::size_t root = 0, n_nodes = 0;
  std::vector<Step> way, steps;  // way: room
  std::vector<Factor> factors;
  std::vector<double> z;  // of the factors
  std::vector<Path> paths;
  std::vector<double> tables;
};

class Reader {
 public:
  Reader(const ForestArrays& forest, std::span<const double> cover, const Quadratures& rules)
      : forest_(forest), cover_(cover), rules_(rules) {}

  // The paths to all leaves that move something, with tables where there are more rows than ways
  // to be on or off the path.
  ReadyTree read(std::size_t t, std::size_t n_rows) const {
    ReadyTree tree;
    tree.root = static_cast<std::size_t>(forest_.node_start[t]);
    tree.n_nodes = static_cast<std::size_t>(forest_.node_start[t + 1]) - tree.root;
    const std::vector<std::size_t> parent = parents(tree);
    for (std::size_t i = 0; i < tree.n_nodes; ++i)
      if (forest_.feature[tree.root + i] < 0) add_path(t, i, parent, tree);
    for (Path& path : tree.paths) add_table(tree, path, n_rows);
    return tree;
  }

 private:
  std::size_t left_of(const ReadyTree& tree, std::size_t i) const {
    return static_cast<std::size_t>(forest_.left[tree.root + i]);
  }

  std::vector<std::size_t> parents(const ReadyTree& tree) const {
    std::vector<std::size_t> parent(tree.n_nodes, kNone);
    for (std::size_t i = 0; i < tree.n_nodes; ++i)
      if (forest_.feature[tree.root + i] >= 0)
        parent[left_of(tree, i)] = parent[left_of(tree, i) + 1] = i;
    return parent;
  }

  void add_path(std::size_t t, std::size_t leaf, const std::vector<std::size_t>& parent,
                ReadyTree& tree) const {
    const auto width = static_cast<std::size_t>(forest_.width[t]);
    const std::size_t value =
        static_cast<std::size_t>(forest_.value_start[t]) + left_of(tree, leaf) * width;
    const auto moves = forest_.values.subspan(value, width);
    if (std::ranges::all_of(moves, [](double v) { return v == 0.0; })) return;
    const std::size_t first = tree.factors.size();
    std::vector<Step>& steps = tree.way;
    steps.clear();
    for (std::size_t i = leaf; parent[i] != kNone; i = parent[i])
      steps.push_back({static_cast<std::uint32_t>(parent[i]), i == left_of(tree, parent[i])});
    auto feature = [&](Step s) {
      return static_cast<std::size_t>(forest_.feature[tree.root + s.node]);
    };
    std::ranges::sort(steps, {}, [&](Step s) { return std::pair(feature(s), s.node); });
    for (const Step step : steps) {
      if (tree.factors.size() == first || tree.factors.back().feature != feature(step)) {
        tree.factors.push_back({feature(step), tree.steps.size(), 0});
        tree.z.push_back(1.0);
      }
      tree.steps.push_back(step);
      tree.factors.back().last = tree.steps.size();
      const double left = share_left(cover_, tree.root, left_of(tree, step.node));
      tree.z.back() *= step.left ? left : 1.0 - left;
    }
    if (tree.factors.size() > first)
      tree.paths.push_back({first, tree.factors.size(), value, width, kNone});
  }

  void add_table(ReadyTree& tree, Path& path, std::size_t n_rows) const {
    const std::size_t m = path.last - path.first, begin = tree.tables.size();
    const std::size_t most = std::min(n_rows, kMaxTable);
    if (m >= static_cast<std::size_t>(std::bit_width(most))) return;
    if ((begin + (m << m)) * sizeof(double) > kTablesOfTree) return;
    path.table = begin;
    tree.tables.resize(begin + (m << m));
    std::vector<double> room(std::size_t{2} << m);
    tabulate(&tree.z[path.first], m, rules_.of(m), room.data(), &room[std::size_t{1} << m],
             &tree.tables[begin]);
  }

  const ForestArrays& forest_;
  std::span<const double> cover_;
  const Quadratures& rules_;
};

// --- rows -------------------------------------------------------------------------------------

// Which rows go left at a node that compares.
template <std::size_t N>
EDGEWISE_CLONES void below(const double* x, double threshold, Byte missing_left, Byte* goes_left) {
  for (std::size_t r = 0; r < N; ++r)
    goes_left[r] =  // NOLINTNEXTLINE(misc-redundant-expression): NaN differs from itself
        static_cast<Byte>((x[r] <= threshold) | ((x[r] != x[r]) & missing_left));
}

// Which rows take all steps of each of m factors: on (m, N), and as bits of a number: column (N).
template <std::size_t N>
EDGEWISE_CLONES void take_steps(const Factor* factors, std::size_t m, const Step* steps,
                                const Byte* goes_left, Byte* on, std::uint16_t* column) {
  std::fill_n(column, N, std::uint16_t{0});
  for (std::size_t j = 0; j < m; ++j) {
    Byte* of_factor = on + j * N;
    std::fill_n(of_factor, N, Byte{1});
    for (std::size_t s = factors[j].first; s < factors[j].last; ++s) {
      const Byte* left = goes_left + steps[s].node * N;
      const Byte turn = steps[s].left ? 0 : 1;
      for (std::size_t r = 0; r < N; ++r) of_factor[r] &= left[r] ^ turn;
    }
    for (std::size_t r = 0; r < N; ++r)
      column[r] |= static_cast<std::uint16_t>(of_factor[r] << (j & 15));
  }
}

template <std::size_t N>
EDGEWISE_CLONES void add_of_columns(const double* table, const std::uint16_t* column, double value,
                                    double* out) {
  for (std::size_t r = 0; r < N; ++r) out[r] += table[column[r]] * value;
}

template <std::size_t N>
EDGEWISE_CLONES void add_times(const double* c, double value, double* out) {
  for (std::size_t r = 0; r < N; ++r) out[r] += c[r] * value;
}

// Blocks of N rows side by side. Values of X: (block, feature, N); Shapley values: (block, class,
// feature, N), so that every step of the work is on N numbers in a row.
template <std::size_t N>
class Blocks {
 public:
  Blocks(const ForestArrays& forest, const Quadratures& rules, const std::vector<std::size_t>& sets,
         std::size_t n_features, std::size_t n_classes)
      : forest_(forest), rules_(rules), set_(sets), d_(n_features), k_(n_classes) {}

  // Rows [begin, end) of x, all values still zero.
  void load(const Matrix& x, std::size_t begin, std::size_t end, const Team& team) {
    begin_ = begin, end_ = end;
    x_.assign(n_blocks() * d_ * N, 0.0);
    phi_.assign(n_blocks() * k_ * d_ * N, 0.0);
    team.range(n_blocks(), 1, [&](std::size_t first, std::size_t last, int) {
      std::vector<double> rows(d_ * N);
      for (std::size_t b = first; b < last; ++b) {
        const std::size_t n = rows_of(b);
        x.rows_of(begin_ + b * N, begin_ + b * N + n, rows.data());
        for (std::size_t r = 0; r < n; ++r)
          for (std::size_t f = 0; f < d_; ++f) x_[(b * d_ + f) * N + r] = rows[r * d_ + f];
      }
    });
  }

  std::size_t n_blocks() const { return (end_ - begin_ + N - 1) / N; }

  // Adds what a tree gives to the rows of blocks [first, last).
  void add(const ReadyTree& tree, std::size_t first, std::size_t last) {
    Room room(tree);
    for (std::size_t b = first; b < last; ++b) {
      go(tree, b, room.goes_left.data());
      for (const Path& path : tree.paths) add_path(tree, path, b, room);
    }
  }

  // Adds the Shapley values of all rows to out (rows of x, features, classes).
  void hand_out(double* out, const Team& team) const {
    team.range(n_blocks(), 1, [&](std::size_t first, std::size_t last, int) {
      for (std::size_t b = first; b < last; ++b)
        for (std::size_t r = 0; r < rows_of(b); ++r) {
          double* row = out + (begin_ + b * N + r) * d_ * k_;
          const double* from = &phi_[b * k_ * d_ * N + r];
          for (std::size_t f = 0; f < d_; ++f)
            for (std::size_t k = 0; k < k_; ++k) row[f * k_ + k] += from[(k * d_ + f) * N];
        }
    });
  }

 private:
  struct Room {
    std::vector<Byte> goes_left;  // (n_nodes, N)
    std::vector<Byte> on;         // (m, N)
    std::vector<double> numbers;  // (4, m, N)
    std::array<std::uint16_t, N> column;

    explicit Room(const ReadyTree& tree) : goes_left(tree.n_nodes * N) {
      std::size_t longest = 0;
      for (const Path& path : tree.paths) longest = std::max(longest, path.last - path.first);
      on.resize(longest * N);
      numbers.resize(4 * longest * N);
    }
  };

  std::size_t rows_of(std::size_t block) const { return std::min(N, end_ - begin_ - block * N); }

  void go(const ReadyTree& tree, std::size_t block, Byte* goes_left) const {
    for (std::size_t i = 0; i < tree.n_nodes; ++i) {
      const std::size_t node = tree.root + i;
      if (forest_.feature[node] < 0) continue;
      const double* x = &x_[(block * d_ + static_cast<std::size_t>(forest_.feature[node])) * N];
      if (std::isnan(forest_.threshold[node])) {
        in_set(x, set_[node], goes_left + i * N);
      } else {
        below<N>(x, forest_.threshold[node], forest_.missing_left[node] ? 1 : 0, goes_left + i * N);
      }
    }
  }

  void in_set(const double* x, std::size_t set, Byte* goes_left) const {
    const double* first = forest_.set_values.data() + forest_.set_start[set];
    const double* last = forest_.set_values.data() + forest_.set_start[set + 1];
    for (std::size_t r = 0; r < N; ++r) {
      const double* at = std::lower_bound(first, last, x[r]);
      goes_left[r] = at != last && *at == x[r];  // NaN is in no set
    }
  }

  void add_path(const ReadyTree& tree, const Path& path, std::size_t block, Room& room) {
    const std::size_t m = path.last - path.first;
    take_steps<N>(&tree.factors[path.first], m, tree.steps.data(), room.goes_left.data(),
                  room.on.data(), room.column.data());
    const bool tabled = path.table != kNone;
    double* c = room.numbers.data();
    if (!tabled) {
      std::copy_n(room.on.begin(), m * N, c + m * N);
      coefficients<N>(&tree.z[path.first], m, rules_.of(m), c + m * N, c + 2 * m * N, c + 3 * m * N,
                      c);
    }
    for (std::size_t j = 0; j < m; ++j) {
      const std::size_t feature = tree.factors[path.first + j].feature;
      for (std::size_t v = path.value; v < path.value + path.n_values; ++v) {
        const auto k = static_cast<std::size_t>(forest_.classes[v]);
        double* out = &phi_[((block * k_ + k) * d_ + feature) * N];
        if (tabled) {
          const double* table = &tree.tables[path.table + (j << m)];
          add_of_columns<N>(table, room.column.data(), forest_.values[v], out);
        } else {
          add_times<N>(c + j * N, forest_.values[v], out);
        }
      }
    }
  }

  const ForestArrays& forest_;
  const Quadratures& rules_;
  const std::vector<std::size_t>& set_;  // (n_nodes): number of the node's set
  std::size_t d_, k_;
  std::size_t begin_ = 0, end_ = 0;
  std::vector<double> x_, phi_;
};

// Features on a path are at most as many as there are, or as the path has nodes.
std::size_t most_factors(const ForestArrays& a, std::size_t n_features) {
  std::size_t deepest = 1;
  std::vector<std::size_t> depth;
  for (std::size_t t = 0; t + 1 < a.node_start.size(); ++t) {
    const auto root = static_cast<std::size_t>(a.node_start[t]);
    depth.assign(static_cast<std::size_t>(a.node_start[t + 1]) - root, 0);
    for (std::size_t i = 0; i < depth.size(); ++i) {  // children come after their parent
      deepest = std::max(deepest, depth[i]);
      if (a.feature[root + i] < 0) continue;
      const auto left = static_cast<std::size_t>(a.left[root + i]);
      depth[left] = depth[left + 1] = depth[i] + 1;
    }
  }
  return std::min(deepest, std::max<std::size_t>(n_features, 1));
}

std::vector<std::size_t> set_numbers(const ForestArrays& a) {
  std::vector<std::size_t> numbers;
  std::size_t next = 0;
  for (const double threshold : a.threshold)
    numbers.push_back(std::isnan(threshold) ? next++ : kNone);
  if (next + 1 != a.set_start.size())
    throw std::invalid_argument("there must be a set for every node of threshold NaN");
  return numbers;
}

template <std::size_t N>
void add_in_blocks(const ForestArrays& forest, std::span<const double> cover, const Matrix& x,
                   std::size_t n_classes, double* out, const Team& team) {
  const Quadratures rules(most_factors(forest, x.cols));
  const Reader reader(forest, cover, rules);
  const std::vector<std::size_t> sets = set_numbers(forest);
  Blocks<N> blocks(forest, rules, sets, x.cols, n_classes);
  const std::size_t bytes = std::max<std::size_t>(1, x.cols * n_classes * sizeof(double));
  const std::size_t at_once = std::max<std::size_t>(1, kBytesAtOnce / bytes / N) * N;
  const std::size_t n_trees = forest.node_start.size() - 1;
  const std::size_t batch = std::max(kBatch, 2 * static_cast<std::size_t>(team.size()));
  for (std::size_t begin = 0; begin < x.rows; begin += at_once) {
    const std::size_t end = std::min(x.rows, begin + at_once);
    blocks.load(x, begin, end, team);
    for (std::size_t first = 0; first < n_trees; first += batch) {
      team.poll();
      std::vector<ReadyTree> trees(std::min(batch, n_trees - first));
      team.each(trees.size(),
                [&](std::size_t t, int) { trees[t] = reader.read(first + t, end - begin); });
      team.range(blocks.n_blocks(), 1, [&](std::size_t from, std::size_t to, int) {
        for (const ReadyTree& tree : trees) blocks.add(tree, from, to);
      });
    }
    blocks.hand_out(out, team);
  }
}

}  // namespace

void add_shapley_values(const ForestArrays& forest, std::span<const double> cover, const Matrix& x,
                        std::size_t n_classes, double* out, const Team& team) {
  if (cover.size() != forest.feature.size())
    throw std::invalid_argument("every node needs its cover");
  if (x.rows > 8) {
    add_in_blocks<64>(forest, cover, x, n_classes, out, team);
  } else {
    add_in_blocks<4>(forest, cover, x, n_classes, out, team);
  }
}

void add_expected_scores(const ForestArrays& a, std::span<const double> cover, double* out) {
  std::vector<double> share;
  for (std::size_t t = 0; t + 1 < a.node_start.size(); ++t) {
    const auto root = static_cast<std::size_t>(a.node_start[t]);
    const auto width = static_cast<std::size_t>(a.width[t]);
    share.assign(static_cast<std::size_t>(a.node_start[t + 1]) - root, 1.0);
    for (std::size_t i = 0; i < share.size(); ++i) {
      const auto left = static_cast<std::size_t>(a.left[root + i]);
      if (a.feature[root + i] >= 0) {
        share[left] = share[i] * share_left(cover, root, left);
        share[left + 1] = share[i] * (1.0 - share_left(cover, root, left));
        continue;
      }
      const std::size_t value = static_cast<std::size_t>(a.value_start[t]) + left * width;
      for (std::size_t v = value; v < value + width; ++v)
        out[a.classes[v]] += share[i] * a.values[v];
    }
  }
}

}  // namespace edgewise
