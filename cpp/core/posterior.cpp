#include "posterior.hpp"

#include <algorithm>
#include <cmath>

#include "clones.hpp"
#include "fixed_point.hpp"
#include "math.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = 2048;
constexpr std::size_t kRowsAtOnce = 64;  // their probabilities stay in the nearest cache
constexpr double kFloor = 1e-290;  // probabilities stay normal numbers, so that a class can return

// A tree's update in multiplicative form: exp(values), (n_leaves, width).
struct Factors {
  Moves moves;
  std::vector<double> factor;

  explicit Factors(const Moves& m) : moves(m), factor(m.values.size()) {
    std::transform(m.values.begin(), m.values.end(), factor.begin(), exp_portable);
  }
  void apply(std::size_t row, double* p) const {
    const std::size_t at = moves.leaf_of_row[row] * moves.width;
    for (std::size_t m = at; m < at + moves.width; ++m) p[moves.classes[m]] *= factor[m];
  }
  // Rows [begin, end) of p (.., n_classes). A tree that moves one class is the common case.
  void apply(std::size_t begin, std::size_t end, double* p, std::size_t n_classes) const {
    if (moves.width == 1) {
      const std::uint16_t* leaf = moves.leaf_of_row;
      const double* by_leaf = factor.data();
      double* column = p + moves.classes[0];
      for (std::size_t i = begin; i < end; ++i) column[i * n_classes] *= by_leaf[leaf[i]];
    } else {
      for (std::size_t i = begin; i < end; ++i) apply(i, p + i * n_classes);
    }
  }
};

std::vector<Factors> factors_of(const std::vector<Moves>& trees) {
  return {trees.begin(), trees.end()};
}

// Sum in eight interleaved chains: fast, and in the same order on every machine.
inline double sum_of(const double* p, std::size_t n) {
  Double4 even{}, odd{};
  std::size_t k = 0;
  for (; k + 8 <= n; k += 8) {
    even += load4(p + k);
    odd += load4(p + k + 4);
  }
  if (k + 4 <= n) {
    even += load4(p + k);
    k += 4;
  }
  double rest = 0.0;
  for (; k < n; ++k) rest += p[k];
  even += odd;
  return ((even[0] + even[1]) + (even[2] + even[3])) + rest;
}

// Normalises n rows of probabilities; `others` receives the sums over the classes other than y.
EDGEWISE_CLONES void normalise(double* p, std::size_t n_classes, const Label* y, std::size_t n,
                               double* others) {
  for (std::size_t i = 0; i < n; ++i, p += n_classes) {
    const double inverse = 1.0 / sum_of(p, n_classes);
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double value = p[k] * inverse;
      p[k] = value > kFloor ? value : kFloor;
    }
    const double py = p[y[i]];
    p[y[i]] = 0.0;
    others[i] = sum_of(p, n_classes);
    p[y[i]] = py;
  }
}

}  // namespace

Posterior::Posterior(std::vector<Label> labels, std::vector<double> weights,
                     std::span<const double> start, bool by_class)
    : n_classes_(static_cast<int>(start.size())),
      labels_(std::move(labels)),
      weights_(std::move(weights)),
      total_weight_(static_cast<double>(labels_.size())) {
  if (!weights_.empty()) {
    largest_weight_ = *std::max_element(weights_.begin(), weights_.end());
    const double unit = sum_scale(weights_.size(), largest_weight_);
    std::int64_t sum = 0;
    for (const double w : weights_) sum += to_integer(w * unit);
    total_weight_ = static_cast<double>(sum) / unit;
  }
  std::vector<double> first(start.size());
  std::transform(start.begin(), start.end(), first.begin(), exp_portable);
  p_.reserve(labels_.size() * first.size());
  for (std::size_t i = 0; i < n_rows(); ++i) p_.insert(p_.end(), first.begin(), first.end());
  others_.resize(n_rows());
  normalise(p_.data(), first.size(), labels_.data(), n_rows(), others_.data());
  if (!by_class) return;
  by_class_.resize(p_.size());
  transpose(0, n_rows());
}

void Posterior::transpose(std::size_t begin, std::size_t end) {
  const auto n_classes = static_cast<std::size_t>(n_classes_);
  for (std::size_t b = begin; b < end; b += 16) {
    const std::size_t e = std::min(end, b + 16);
    for (std::size_t k = 0; k < n_classes; ++k)
      for (std::size_t i = b; i < e; ++i) by_class_[k * n_rows() + i] = -p_[i * n_classes + k];
    for (std::size_t i = b; i < e; ++i)
      by_class_[static_cast<std::size_t>(labels_[i]) * n_rows() + i] = others_[i];
  }
}

void Posterior::add(const std::vector<Moves>& trees, const Team& team) {
  const auto factors = factors_of(trees);
  const auto n_classes = static_cast<std::size_t>(n_classes_);
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t b = begin; b < end; b += kRowsAtOnce) {
      const std::size_t e = std::min(end, b + kRowsAtOnce);
      for (const Factors& f : factors) f.apply(b, e, p_.data(), n_classes);
      normalise(p_.data() + b * n_classes, n_classes, &labels_[b], e - b, &others_[b]);
    }
    if (!by_class_.empty()) transpose(begin, end);
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
    for (std::size_t i = begin; i < end; ++i) {
      const auto y = static_cast<std::size_t>(labels_[i]);
      const double loss = -log_portable(p_[i * n_classes + y]);
      sums[static_cast<std::size_t>(slot)][y] +=
          to_integer(loss * weight(static_cast<Row>(i)) * unit);
    }
  });
  std::vector<std::int64_t> totals(n_classes);
  for (const auto& s : sums)
    for (std::size_t k = 0; k < n_classes; ++k) totals[k] += s[k];
  return totals;
}

double Posterior::loss_after(const std::vector<Moves>& trees, const Team& team) const {
  const double unit = loss_unit();
  return static_cast<double>(loss_sum_after(trees, unit, team)) / unit / total_weight_;
}

std::int64_t Posterior::loss_sum_after(const std::vector<Moves>& trees, double unit,
                                       const Team& team) const {
  const auto factors = factors_of(trees);
  const auto n_classes = static_cast<std::size_t>(n_classes_);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.size()));
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    std::vector<double> p(n_classes);
    std::int64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      std::copy_n(p_.data() + i * n_classes, n_classes, p.data());
      for (const Factors& f : factors) f.apply(i, p.data());
      const double py =
          std::max(p[static_cast<std::size_t>(labels_[i])] / sum_of(p.data(), n_classes), kFloor);
      sum += to_integer(-log_portable(py) * weight(static_cast<Row>(i)) * unit);
    }
    sums[static_cast<std::size_t>(slot)] += sum;
  });
  std::int64_t total = 0;
  for (const std::int64_t s : sums) total += s;
  return total;
}

}  // namespace edgewise
