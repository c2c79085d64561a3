#include "dynamics.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "clones.hpp"
#include "math.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

// A positive weight stays a normal number: arithmetic on it is fast, and it can grow again. Zero
// stays.
constexpr double kFloor = 1e-290;
constexpr double kLargeOdds = 1e140;  // the product of two is still finite
constexpr std::int64_t kRefresh = 4096;
constexpr std::int64_t kNone = -1, kTie = -2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline void store4(double* p, Double4 v) { std::memcpy(p, &v, sizeof v); }
inline Double4 larger(Double4 a, Double4 b) { return a > b ? a : b; }
inline double largest(Double4 v) { return std::max(std::max(v[0], v[1]), std::max(v[2], v[3])); }

double weight_of(const double* d, const std::uint32_t* rows, std::size_t n) {
  double even = 0.0, odd = 0.0;
  std::size_t k = 0;
  for (; k + 2 <= n; k += 2) {
    even += d[rows[k]];
    odd += d[rows[k + 1]];
  }
  return k < n ? even + odd + d[rows[k]] : even + odd;
}

// Edges after a step, and the largest. With B_k the part of edge k that stems from the wrong rows,
// the new edge is p (e_k - B_k) + q B_k: half a product with M, and since p < 1 whatever rounding
// has left in e_k fades.
EDGEWISE_CLONES double move_edges(const double* d, const std::uint32_t* wrong, std::size_t n_wrong,
                                  const double* rows, std::size_t width, double p, double q,
                                  double* e) {
  const double gain = q - p;
  Double4 top = Double4{} - kInfinity;
  std::size_t c = 0;
  for (; c + 16 <= width; c += 16) {
    Double4 b0{}, b1{}, b2{}, b3{};
    for (std::size_t k = 0; k < n_wrong; ++k) {
      const double w = d[wrong[k]];
      const double* row = rows + wrong[k] * width + c;
      b0 += w * load4(row);
      b1 += w * load4(row + 4);
      b2 += w * load4(row + 8);
      b3 += w * load4(row + 12);
    }
    const Double4 e0 = load4(e + c) * p + b0 * gain, e1 = load4(e + c + 4) * p + b1 * gain;
    const Double4 e2 = load4(e + c + 8) * p + b2 * gain, e3 = load4(e + c + 12) * p + b3 * gain;
    store4(e + c, e0), store4(e + c + 4, e1), store4(e + c + 8, e2), store4(e + c + 12, e3);
    top = larger(larger(larger(e0, e1), larger(e2, e3)), top);
  }
  for (; c < width; c += 4) {
    Double4 b{};
    for (std::size_t k = 0; k < n_wrong; ++k) b += d[wrong[k]] * load4(rows + wrong[k] * width + c);
    const Double4 moved = load4(e + c) * p + b * gain;
    store4(e + c, moved);
    top = larger(moved, top);
  }
  return largest(top);
}

EDGEWISE_CLONES void move_weights(double* d, std::size_t m, const std::uint32_t* wrong,
                                  std::size_t n_wrong, double p, double q, double* scratch) {
  for (std::size_t k = 0; k < n_wrong; ++k) scratch[k] = d[wrong[k]] * q;
  for (std::size_t i = 0; i < m; ++i) {
    const double moved = d[i] * p;
    d[i] = moved < kFloor ? std::min(d[i], kFloor) : moved;
  }
  for (std::size_t k = 0; k < n_wrong; ++k) d[wrong[k]] = scratch[k];
}

}  // namespace

MarginMatrix::MarginMatrix(const std::int8_t* entries, std::size_t rows, std::size_t columns)
    : n_rows(rows),
      n_columns(columns),
      width((columns + 3) / 4 * 4),
      rows_(rows * width, -1.0),
      start_{0} {
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(entries + i * columns, columns, rows_.data() + i * width);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < rows; ++i)
      if (entries[i * columns + j] < 0) wrong_.push_back(static_cast<std::uint32_t>(i));
    start_.push_back(wrong_.size());
  }
}

WeightMap::WeightMap(MarginMatrix matrix, std::vector<double> weights, const StepRule& rule)
    : matrix_(std::move(matrix)),
      rule_(rule),
      start_(std::move(weights)),
      weights_(start_),
      edges_(matrix_.width),
      scratch_(matrix_.n_rows),
      votes_(matrix_.n_columns, 0.0),
      odds_(matrix_.n_columns, 1.0),
      scores_(matrix_.n_rows) {
  refresh();
}

std::vector<double> WeightMap::votes() const {
  std::vector<double> all = votes_;
  for (std::size_t j = 0; j < all.size(); ++j) all[j] += 0.5 * log_portable(odds_[j]);
  return all;
}

WeightMap::Done WeightMap::run(std::int64_t n_steps, std::int32_t forced, const Record& record,
                               const Team& team) {
  switch (rule_.vote) {
    case VoteRule::arc_gv: return walk<VoteRule::arc_gv>(n_steps, forced, record, team);
    case VoteRule::ascent: return walk<VoteRule::ascent>(n_steps, forced, record, team);
    case VoteRule::adaboost_star:
      return walk<VoteRule::adaboost_star>(n_steps, forced, record, team);
    default: return walk<VoteRule::adaboost>(n_steps, forced, record, team);
  }
}

template <VoteRule V>
WeightMap::Done WeightMap::walk(std::int64_t n_steps, std::int32_t forced, const Record& record,
                                const Team& team) {
  for (std::int64_t t = 0; t < n_steps; ++t) {
    if (age_++ == kRefresh) {
      team.poll();
      refresh();
      age_ = 1;
    }
    const std::int64_t chosen = t == 0 && forced >= 0 ? forced : choose();
    if (chosen < 0) {
      --age_;
      return {t, chosen == kNone ? Stop::no_edge : Stop::tie};
    }
    const auto j = static_cast<std::size_t>(chosen);
    const std::uint32_t* rows = matrix_.wrong(j);
    const std::size_t n_wrong = matrix_.n_wrong(j);
    const double wrong = weight_of(weights_.data(), rows, n_wrong), right = 1.0 - wrong;
    if (wrong <= 0.0) {
      --age_;
      return {t, Stop::perfect};
    }
    const double odds = odds_of<V>(right, wrong);
    write(record, t, j, right - wrong, odds);
    // For AdaBoost both are known at once; else p (A + B odds) = 1.
    const double p = V == VoteRule::adaboost ? 0.5 / right : 1.0 / (right + wrong * odds);
    const double q = V == VoteRule::adaboost ? 0.5 / wrong : odds * p;
    vote<V>(j, odds, right, wrong);
    top_ = move_edges(weights_.data(), rows, n_wrong, matrix_.rows(), matrix_.width, p, q,
                      edges_.data());
    move_weights(weights_.data(), matrix_.n_rows, rows, n_wrong, p, q, scratch_.data());
  }
  return {n_steps, Stop::none};
}

// exp(2 alpha) with alpha = artanh(r) - artanh(g), at least 1; g is the rule's own.
template <VoteRule V>
double WeightMap::odds_of(double right, double wrong) {
  if constexpr (V == VoteRule::adaboost) return right / wrong;
  double g = 0.0;
  if constexpr (V == VoteRule::arc_gv) {
    if (mass_ > 0.0) g = std::max(0.0, least_score() / mass_);
  } else if constexpr (V == VoteRule::ascent) {
    if (mass_ > 0.0) g = std::max(0.0, -log_sum_ / mass_);
  } else if constexpr (V == VoteRule::adaboost_star) {
    least_edge_ = std::min(least_edge_, right - wrong);
    g = least_edge_ - rule_.nu;
  }
  return std::max(1.0, right / wrong * ((1.0 - g) / (1.0 + g)));
}

template <VoteRule V>
void WeightMap::vote(std::size_t j, double odds, double right, double wrong) {
  if constexpr (V == VoteRule::adaboost) {  // a logarithm once in a while
    if (odds_[j] > kLargeOdds || odds > kLargeOdds)
      votes_[j] += 0.5 * log_portable(std::exchange(odds_[j], 1.0));
    odds_[j] *= odds;
  } else {
    const double alpha = 0.5 * log_portable(odds);
    votes_[j] += alpha;
    mass_ += alpha;
    log_sum_ += log_portable(right + wrong * odds) - alpha;
    if constexpr (V == VoteRule::arc_gv) {
      for (double& score : scores_) score += alpha;
      for (std::size_t k = 0; k < matrix_.n_wrong(j); ++k)
        scores_[matrix_.wrong(j)[k]] -= 2.0 * alpha;
    }
  }
}

// Edges among which the rule is free to choose; empty if no edge is large enough.
WeightMap::Range WeightMap::wanted() const {
  const double least = std::max(rule_.threshold - rule_.tolerance, rule_.tolerance);
  if (top_ < least) return {1.0, -1.0};
  if (rule_.choice == Choice::best) return {std::max(top_ - rule_.tolerance, least), top_};
  if (rule_.choice == Choice::first) return {least, top_};
  double weakest = top_;
  for (std::size_t j = 0; j < matrix_.n_columns; ++j)
    if (edges_[j] >= least) weakest = std::min(weakest, edges_[j]);
  return {weakest, weakest + rule_.tolerance};
}

// The column to take, kNone if no edge is large enough, kTie at a tie that the caller breaks.
std::int64_t WeightMap::choose() const {
  const Range range = wanted();
  if (range.low > range.high) return kNone;
  const auto n = static_cast<std::int64_t>(matrix_.n_columns);
  const double* e = edges_.data();
  std::int64_t j = 0;
  if (rule_.ties == Ties::highest && rule_.choice != Choice::first) {
    for (j = n - 1; j >= 0 && !range.holds(e[j]);) --j;
    return j;
  }
  while (j < n && !range.holds(e[j])) ++j;
  if (j == n) return kNone;
  if (rule_.ties == Ties::stop && rule_.choice != Choice::first)
    for (std::int64_t k = j + 1; k < n; ++k)
      if (range.holds(e[k])) return kTie;
  return j;
}

std::vector<std::int32_t> WeightMap::tied() const {
  std::vector<std::int32_t> columns;
  for (std::size_t j = 0; j < matrix_.n_columns; ++j)
    if (wanted().holds(edges_[j])) columns.push_back(static_cast<std::int32_t>(j));
  return columns;
}

void WeightMap::write(const Record& record, std::int64_t t, std::size_t j, double edge,
                      double odds) const {
  if (record.choices) record.choices[t] = static_cast<std::int32_t>(j);
  if (record.edges) record.edges[t] = edge;
  if (record.alphas) record.alphas[t] = 0.5 * log_portable(odds);
  if (record.weights)
    std::copy(weights_.begin(), weights_.end(),
              record.weights + t * static_cast<std::int64_t>(matrix_.n_rows));
}

// Removes accumulated rounding errors: the sum of the weights, and the edges, from the weights;
// where the votes define the weights, these from the votes.
void WeightMap::refresh() {
  if (rule_.vote != VoteRule::adaboost) weigh_by_votes();
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (double& d : weights_) d = d > 0.0 ? std::max(d / total, kFloor) : 0.0;
  std::fill(edges_.begin(), edges_.end(), 0.0);
  for (std::size_t i = 0; i < matrix_.n_rows; ++i)
    for (std::size_t c = 0; c < matrix_.width; ++c)
      edges_[c] += weights_[i] * matrix_.rows()[i * matrix_.width + c];
  top_ = *std::max_element(edges_.begin(), edges_.end());
}

// d_i proportional to start_i exp(-(M votes)_i).
void WeightMap::weigh_by_votes() {
  double rarest = kInfinity, sum = 0.0;
  for (std::size_t i = 0; i < matrix_.n_rows; ++i) {
    const double* row = matrix_.rows() + i * matrix_.width;
    const bool counts = start_[i] > 0.0;
    scores_[i] = counts ? std::inner_product(votes_.begin(), votes_.end(), row, 0.0) : kInfinity;
    if (counts) rarest = std::min(rarest, start_[i]);
  }
  const double least = least_score();
  for (std::size_t i = 0; i < matrix_.n_rows; ++i) {
    weights_[i] = start_[i] > 0.0 ? start_[i] * exp_portable(least - scores_[i]) : 0.0;
    sum += weights_[i];
  }
  log_sum_ = log_portable(sum / rarest) - least;
}

double WeightMap::least_score() const { return *std::min_element(scores_.begin(), scores_.end()); }

void follow(const std::int8_t* signs, std::size_t n_rows, std::size_t n_columns,
            std::span<const std::int32_t> choices, double* d, double* J) {
  std::vector<double> sums(2 * n_rows);  // of J over the rows of either side
  for (const std::int32_t choice : choices) {
    const std::int8_t* column = signs + choice;
    double total[2] = {0.0, 0.0};
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t i = 0; i < n_rows; ++i) {
      const std::size_t side = column[i * n_columns] > 0;
      total[side] += d[i];
      for (std::size_t k = 0; k < n_rows; ++k) sums[side * n_rows + k] += J[i * n_rows + k];
    }
    for (std::size_t i = 0; i < n_rows; ++i) {
      const std::size_t side = column[i * n_columns] > 0;
      const double share = d[i] / total[side], scale = 0.5 / total[side];
      const double* sum = sums.data() + side * n_rows;
      for (std::size_t k = 0; k < n_rows; ++k)
        J[i * n_rows + k] = (J[i * n_rows + k] - share * sum[k]) * scale;
      d[i] = 0.5 * share;
    }
  }
}

}  // namespace edgewise
