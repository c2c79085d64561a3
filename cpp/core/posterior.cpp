#include "posterior.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "checks.hpp"
#include "clones.hpp"
#include "fixed_point.hpp"
#include "math.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = 2048;
constexpr std::size_t kRowsAtOnce = 64;  // their probabilities stay in the nearest cache
constexpr double kFloor = 1e-290;  // probabilities stay normal numbers, so that a class can return

// Multiplies n rows, one after the other, by the factors (n_leaves, n_classes) of their leaves.
EDGEWISE_CLONES void multiply_rows(double* __restrict p, const double* __restrict factor,
                                   std::size_t n_classes, const std::uint16_t* leaf,
                                   std::size_t n) {
  for (std::size_t i = 0; i < n; ++i, p += n_classes)
    for (std::size_t k = 0; k < n_classes; ++k) p[k] *= factor[leaf[i] * n_classes + k];
}

// A tree's update in multiplicative form: exp(values), (n_leaves, width).
struct Factors {
  Moves moves;
  std::vector<double> factor;
  bool in_order;  // whether every leaf moves the classes from 0 to width - 1

  explicit Factors(const Moves& m) : moves(m), factor(m.values.size()), in_order(true) {
    std::transform(m.values.begin(), m.values.end(), factor.begin(), exp_portable);
    for (std::size_t i = 0; i < m.classes.size(); ++i)
      in_order &= static_cast<std::size_t>(m.classes[i]) == i % m.width;
  }
  // Of rows [begin, end), the first of which is at p. A tree that moves one class is the common
  // case.
  void apply(std::size_t begin, std::size_t end, Posterior::Stride stride, double* p) const {
    const std::uint16_t* leaf = moves.leaf_of_row;
    if (moves.width == 1) {
      const double* by_leaf = factor.data();
      p += static_cast<std::size_t>(moves.classes[0]) * stride.of_class;
      for (std::size_t i = begin; i < end; ++i, p += stride.row) *p *= by_leaf[leaf[i]];
      return;
    }
    if (in_order && stride.of_class == 1 && stride.row == moves.width)
      return multiply_rows(p, factor.data(), moves.width, leaf + begin, end - begin);
    for (std::size_t i = begin; i < end; ++i, p += stride.row)
      for (std::size_t m = leaf[i] * moves.width; m < (leaf[i] + 1u) * moves.width; ++m)
        p[static_cast<std::size_t>(moves.classes[m]) * stride.of_class] *= factor[m];
  }
};

std::vector<Factors> factors_of(const std::vector<Moves>& trees) {
  return {trees.begin(), trees.end()};
}

// What a sum over the classes adds: all of them, or zero in the place of one.
struct All {
  Double4 four(const double* p, std::size_t k) const { return load4(p + k); }
  double one(const double* p, std::size_t k) const { return p[k]; }
};
struct AllBut {
  Label y;

  Double4 four(const double* p, std::size_t k) const {
    const Long4 to_y = Long4{0, 1, 2, 3} + (static_cast<std::int64_t>(k) - y);
    return to_y == 0 ? Double4{} : load4(p + k);
  }
  double one(const double* p, std::size_t k) const {
    return static_cast<Label>(k) == y ? 0.0 : p[k];
  }
};

// Sum in eight interleaved chains: fast, and in the same order on every machine.
template <class Terms>
[[gnu::always_inline]] inline double sum_of(const double* p, std::size_t n, Terms terms) {
  Double4 even{}, odd{};
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    even += terms.four(p, k);
    odd += terms.four(p, k + 4);
  }
  if (k + 4 <= n) {
    even += terms.four(p, k);
    k += 4;
  }
  double rest = 0.0;
  for (; k < n; ++k) rest += terms.one(p, k);
  even += odd;
  return ((even[0] + even[1]) + (even[2] + even[3])) + rest;
}

// Normalises n rows of probabilities; `others` receives the sums over the classes other than y.
EDGEWISE_CLONES void normalise_rows(double* p, std::size_t n_classes, const Label* y, std::size_t n,
                                    double* others) {
  for (std::size_t i = 0; i < n; ++i, p += n_classes) {
    const double inverse = 1.0 / sum_of(p, n_classes, All{});
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double value = p[k] * inverse;
      p[k] = value > kFloor ? value : kFloor;
    }
    others[i] = sum_of(p, n_classes, AllBut{y[i]});
  }
}

// sum_of(..) of n rows whose classes are `stride` apart: the same additions, four rows abreast.
[[gnu::always_inline]] inline void sums_of_columns(const double* p, std::size_t n_classes,
                                                   std::size_t stride, std::size_t n,
                                                   double* sums) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    Double4 chain[8] = {};
    std::size_t k = 0;
    for (; k + 8 <= n_classes; k += 8)
      for (std::size_t j = 0; j < 8; ++j) chain[j] += load4(p + (k + j) * stride + i);
    if (k + 4 <= n_classes) {
      for (std::size_t j = 0; j < 4; ++j) chain[j] += load4(p + (k + j) * stride + i);
      k += 4;
    }
    Double4 rest{};
    for (; k < n_classes; ++k) rest += load4(p + k * stride + i);
    for (std::size_t j = 0; j < 4; ++j) chain[j] += chain[j + 4];
    const Double4 sum = ((chain[0] + chain[1]) + (chain[2] + chain[3])) + rest;
    std::memcpy(sums + i, &sum, sizeof sum);
  }
  std::vector<double> row(i < n ? n_classes : 0);
  for (; i < n; ++i) {
    for (std::size_t k = 0; k < n_classes; ++k) row[k] = p[k * stride + i];
    sums[i] = sum_of(row.data(), n_classes, All{});
  }
}

// normalise_rows for n <= kRowsAtOnce rows whose classes are `stride` apart.
EDGEWISE_CLONES void normalise_columns(double* p, std::size_t n_classes, std::size_t stride,
                                       const Label* y, std::size_t n, double* others) {
  double inverse[kRowsAtOnce], py[kRowsAtOnce];
  sums_of_columns(p, n_classes, stride, n, inverse);
  for (std::size_t i = 0; i < n; ++i) inverse[i] = 1.0 / inverse[i];
  for (std::size_t k = 0; k < n_classes; ++k)
    for (std::size_t i = 0; i < n; ++i) {
      const double value = p[k * stride + i] * inverse[i];
      p[k * stride + i] = value > kFloor ? value : kFloor;
    }
  for (std::size_t i = 0; i < n; ++i)
    py[i] = std::exchange(p[static_cast<std::size_t>(y[i]) * stride + i], 0.0);
  sums_of_columns(p, n_classes, stride, n, others);
  for (std::size_t i = 0; i < n; ++i) p[static_cast<std::size_t>(y[i]) * stride + i] = py[i];
}

EDGEWISE_CLONES void take_logarithms(double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = log_portable(x[i]);
}

EDGEWISE_CLONES void sum_columns(const double* p, std::size_t n_classes, std::size_t stride,
                                 std::size_t n, double* sums) {
  sums_of_columns(p, n_classes, stride, n, sums);
}

// Probabilities of some rows, class after class, which trees have moved but nobody has normalised.
struct Moved {
  std::size_t n_classes;
  std::vector<double> p;  // (n_classes, kRowsAtOnce)
  double log_p[kRowsAtOnce];

  explicit Moved(std::size_t n) : n_classes(n), p(n * kRowsAtOnce) {}

  // Logarithms of the probabilities of the labels y of n rows.
  void log_of(const Label* y, std::size_t n) {
    double sum[kRowsAtOnce];
    sum_columns(p.data(), n_classes, kRowsAtOnce, n, sum);
    for (std::size_t i = 0; i < n; ++i) {
      const double py = p[static_cast<std::size_t>(y[i]) * kRowsAtOnce + i];
      log_p[i] = std::max(py / sum[i], kFloor);
    }
    take_logarithms(log_p, n);
  }
};

EDGEWISE_CLONES void residuals_of(const double* p, const double* others, const Label* y, int k,
                                  std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = y[i] == k ? others[i] : -p[i];
}

}  // namespace

Posterior::Posterior(std::vector<Label> labels, std::vector<double> weights,
                     std::span<const double> start, Layout layout, bool part)
    : n_classes_(static_cast<int>(start.size())),
      labels_(std::move(labels)),
      weights_(std::move(weights)),
      total_weight_(static_cast<double>(labels_.size())),
      stride_(layout == Layout::by_class ? Stride{1, labels_.size()} : Stride{start.size(), 1}) {
  if (!part || start.empty()) need_rows_and_columns(labels_.size(), start.size());
  need_labels(labels_, start.size());
  need_finite(start, "initial scores");
  if (!weights_.empty()) {
    need_weights(weights_, labels_.size());
    largest_weight_ = *std::max_element(weights_.begin(), weights_.end());
    const double unit = sum_scale(weights_.size(), largest_weight_);
    std::int64_t sum = 0;
    for (const double w : weights_) sum += to_integer(w * unit);
    total_weight_ = static_cast<double>(sum) / unit;
  }
  others_.resize(n_rows());
  if (layout == Layout::lists) {
    lists_.emplace(labels_, start);
    lists_->add({}, 0, n_rows(), labels_, others_.data());
    return;
  }
  std::vector<double> first(start.size());
  std::transform(start.begin(), start.end(), first.begin(), exp_portable);
  p_.resize(labels_.size() * first.size());
  for (std::size_t i = 0; i < n_rows(); ++i)
    for (std::size_t k = 0; k < first.size(); ++k) p_[place(i, k)] = first[k];
  normalise(0, n_rows());
}

void Posterior::normalise(std::size_t begin, std::size_t end) {
  const auto n_classes = static_cast<std::size_t>(n_classes_);
  for (std::size_t b = begin; b < end; b += kRowsAtOnce) {
    const std::size_t n = std::min(end - b, kRowsAtOnce);
    double* p = &p_[place(b, 0)];
    if (stride_.of_class == 1) {
      normalise_rows(p, n_classes, &labels_[b], n, &others_[b]);
    } else {
      normalise_columns(p, n_classes, stride_.of_class, &labels_[b], n, &others_[b]);
    }
  }
}

void Posterior::copy(std::size_t begin, std::size_t n, double* out) const {
  for (std::size_t k = 0; k < static_cast<std::size_t>(n_classes_); ++k, out += kRowsAtOnce)
    for (std::size_t i = 0; i < n; ++i) out[i] = p_[place(begin + i, k)];
}

void Posterior::residuals(int k, std::size_t begin, std::size_t end, double* out) const {
  residuals_of(&p_[place(begin, static_cast<std::size_t>(k))], &others_[begin], &labels_[begin], k,
               end - begin, out);
}

void Posterior::add(const std::vector<Moves>& trees, const Team& team) {
  if (lists_) return add_to_lists(trees, team);
  const auto factors = factors_of(trees);
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t b = begin; b < end; b += kRowsAtOnce) {
      const std::size_t e = std::min(end, b + kRowsAtOnce);
      for (const Factors& f : factors) f.apply(b, e, stride_, &p_[place(b, 0)]);
      normalise(b, e);
    }
  });
}

void Posterior::add_to_lists(const std::vector<Moves>& trees, const Team& team) {
  const std::vector<ListedFactors> factors(trees.begin(), trees.end());
  constexpr std::size_t kRows = ClassLists::kRows;
  team.range((n_rows() + kRows - 1) / kRows, kGrain / kRows,
             [&](std::size_t begin, std::size_t end, int) {
               lists_->add(factors, begin * kRows, std::min(end * kRows, n_rows()), labels_,
                           others_.data());
             });
}

// A row's loss is at most -log(kFloor) < 1024 times its weight.
double Posterior::loss_unit(std::size_t n, double largest) {
  return sum_scale(n, 1024.0 * largest);
}

std::vector<double> Posterior::class_losses(const Team& team) const {
  const double unit = loss_unit();
  std::vector<double> losses;
  for (const std::int64_t sum : class_loss_sums(unit, team))
    losses.push_back(static_cast<double>(sum) / unit / total_weight_);
  return losses;
}

std::vector<std::int64_t> Posterior::class_loss_sums(double unit, const Team& team) const {
  const auto n_classes = static_cast<std::size_t>(n_classes_);
  std::vector<std::vector<std::int64_t>> sums(static_cast<std::size_t>(team.size()));
  for (auto& s : sums) s.resize(n_classes);
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    std::int64_t* sum = sums[static_cast<std::size_t>(slot)].data();
    double log_p[kRowsAtOnce];
    for (std::size_t b = begin; b < end; b += kRowsAtOnce) {
      const std::size_t n = std::min(end - b, kRowsAtOnce);
      for (std::size_t i = 0; i < n; ++i) log_p[i] = of(static_cast<Row>(b + i), labels_[b + i]);
      take_logarithms(log_p, n);
      for (std::size_t i = 0; i < n; ++i)
        sum[labels_[b + i]] += to_integer(-log_p[i] * weight(static_cast<Row>(b + i)) * unit);
    }
  });
  std::vector<std::int64_t> totals(n_classes);
  for (const auto& s : sums)
    for (std::size_t k = 0; k < n_classes; ++k) totals[k] += s[k];
  return totals;
}

double Posterior::loss_of(std::span<const Row> rows) const {
  const double unit = loss_unit(rows.size(), largest_weight_);
  std::int64_t loss = 0, weights = 0;
  double log_p[kRowsAtOnce];
  for (std::size_t b = 0; b < rows.size(); b += kRowsAtOnce) {
    const auto part = rows.subspan(b, std::min(rows.size() - b, kRowsAtOnce));
    for (std::size_t i = 0; i < part.size(); ++i) log_p[i] = of(part[i], labels_[part[i]]);
    take_logarithms(log_p, part.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      loss += to_integer(-log_p[i] * weight(part[i]) * unit);
      weights += to_integer(weight(part[i]) * unit);
    }
  }
  return static_cast<double>(loss) / static_cast<double>(weights);
}

double Posterior::loss_after(const std::vector<Moves>& trees, const Team& team) const {
  const double unit = loss_unit();
  return static_cast<double>(loss_sum_after(trees, unit, team)) / unit / total_weight_;
}

std::int64_t Posterior::loss_sum_after(const std::vector<Moves>& trees, double unit,
                                       const Team& team) const {
  if (lists_) throw std::logic_error("rows with lists of classes are not asked for losses to come");
  const auto factors = factors_of(trees);
  const auto n_classes = static_cast<std::size_t>(n_classes_);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.size()));
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    Moved moved(n_classes);
    std::int64_t sum = 0;
    for (std::size_t b = begin; b < end; b += kRowsAtOnce) {
      const std::size_t n = std::min(end - b, kRowsAtOnce);
      copy(b, n, moved.p.data());
      for (const Factors& f : factors) f.apply(b, b + n, {1, kRowsAtOnce}, moved.p.data());
      moved.log_of(&labels_[b], n);
      for (std::size_t i = 0; i < n; ++i)
        sum += to_integer(-moved.log_p[i] * weight(static_cast<Row>(b + i)) * unit);
    }
    sums[static_cast<std::size_t>(slot)] += sum;
  });
  std::int64_t total = 0;
  for (const std::int64_t s : sums) total += s;
  return total;
}

std::size_t Posterior::room() const {
  return Room::padded(p_.n_bytes()) + Room::padded(others_.n_bytes());
}

void Posterior::settle(Room& room) {
  p_.settle(room);
  others_.settle(room);
}

}  // namespace edgewise
