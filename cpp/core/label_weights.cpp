#include "label_weights.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "checks.hpp"
#include "clones.hpp"
#include "fixed_point.hpp"
#include "math.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = 1024;

// log w of a row's labels; returns the largest.
EDGEWISE_CLONES double log_weights(const double* margins, const std::int8_t* signs, std::size_t k,
                                   double log_positive, double log_negative, double* out) {
  double most = -1e300;
  for (std::size_t l = 0; l < k; ++l) {
    const double v = (signs[l] > 0 ? log_positive : log_negative) - margins[l];
    out[l] = v;
    most = v > most ? v : most;
  }
  return most;
}

EDGEWISE_CLONES void exponentiate(double* x, std::size_t n, double shift) {
  for (std::size_t i = 0; i < n; ++i) x[i] = exp_portable(x[i] - shift);
}

std::vector<double> logs(std::span<const double> x) {
  std::vector<double> out(x.size());
  std::transform(x.begin(), x.end(), out.begin(),
                 [](double v) { return v > 0.0 ? log_portable(v) : 0.0; });
  return out;
}

std::int64_t combined(const std::vector<std::int64_t>& parts) {
  std::int64_t sum = 0;
  for (const std::int64_t part : parts) sum += part;
  return sum;
}

std::size_t n_columns(std::size_t n_signs, std::size_t n_rows) {
  need_rows_and_columns(n_rows, n_signs);
  return n_signs / n_rows;
}

// Signs are +1 and -1, and no label has the weight zero, whose logarithm is no number.
void check(std::span<const std::int8_t> signs, std::span<const double> positive,
           std::span<const double> negative, std::size_t n_classes) {
  const std::size_t n = positive.size();
  if (negative.size() != n || signs.size() != n * n_classes)
    throw std::invalid_argument("there must be two weights per row, and a sign for every label");
  need_finite(positive, "initial weights");
  need_finite(negative, "initial weights");
  bool fine = true;
  for (std::size_t i = 0; i < n; ++i) {
    const bool plus = positive[i] > 0.0, minus = negative[i] > 0.0;
    for (std::size_t at = i * n_classes; at < (i + 1) * n_classes; ++at)
      fine &= signs[at] == 1 ? plus : signs[at] == -1 && minus;
  }
  if (!fine) throw std::invalid_argument("signs must be +1 or -1, and their weights positive");
}

}  // namespace

LabelWeights::LabelWeights(const std::vector<std::int8_t>& signs, std::span<const double> positive,
                           std::span<const double> negative, const Team& team)
    : LabelWeights(signs, positive, negative, n_columns(signs.size(), positive.size())) {
  refresh(team);
}

LabelWeights::LabelWeights(std::vector<std::int8_t> signs, std::span<const double> positive,
                           std::span<const double> negative, std::size_t n_classes)
    : n_classes_(n_classes),
      signs_(std::move(signs)),
      positive_(positive.begin(), positive.end()),
      negative_(negative.begin(), negative.end()),
      margins_(signs_.size()),
      signed_(signs_.size()),
      log_positive_(logs(positive)),
      log_negative_(logs(negative)) {
  check(signs_, positive, negative, n_classes);
}

void LabelWeights::add(const std::vector<Moves>& trees, const Team& team) {
  add_to_margins(trees, team);
  refresh(team);
}

void LabelWeights::add_to_margins(const std::vector<Moves>& trees, const Team& team) {
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (const Moves& tree : trees)
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t at = tree.leaf_of_row[i] * tree.width;
        for (std::size_t m = at; m < at + tree.width; ++m) {
          const std::size_t place = i * n_classes_ + static_cast<std::size_t>(tree.classes[m]);
          margins_[place] += signs_[place] * tree.values[m];
        }
      }
  });
}

void LabelWeights::add_outputs(const double* outputs, const Team& team) {
  team.range(margins_.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) margins_[i] += signs_[i] * outputs[i];
  });
  refresh(team);
}

void LabelWeights::refresh(const Team& team) {
  const double shift = largest_log(team);
  const double unit = sum_scale(signed_.size(), 1.0);
  settle(shift, static_cast<double>(exponentials(shift, unit, team)) / unit, team);
}

double LabelWeights::largest_log(const Team& team) {
  std::vector<double> most(static_cast<std::size_t>(team.size()), -1e300);
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    double& largest = most[static_cast<std::size_t>(slot)];
    for (std::size_t i = begin; i < end; ++i)
      largest = std::max(largest,
                         log_weights(&margins_[i * n_classes_], &signs_[i * n_classes_], n_classes_,
                                     log_positive_[i], log_negative_[i], &signed_[i * n_classes_]));
  });
  return *std::max_element(most.begin(), most.end());
}

std::int64_t LabelWeights::exponentials(double shift, double unit, const Team& team) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.size()));
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    double* w = &signed_[begin * n_classes_];
    const std::size_t n = (end - begin) * n_classes_;
    exponentiate(w, n, shift);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += to_integer(w[i] * unit);
    sums[static_cast<std::size_t>(slot)] += sum;
  });
  return combined(sums);
}

void LabelWeights::settle(double shift, double sum, const Team& team) {
  log_risk_ = shift + log_portable(sum);
  const double scale = 1.0 / sum;
  team.range(signed_.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) signed_[i] *= signs_[i] * scale;
  });
}

double LabelWeights::hamming_loss(const Team& team) const {
  const double most = std::max(*std::max_element(positive_.begin(), positive_.end()),
                               *std::max_element(negative_.begin(), negative_.end()));
  const double unit = sum_scale(signed_.size(), most);
  return static_cast<double>(hamming_sum(unit, team)) / unit;
}

std::int64_t LabelWeights::hamming_sum(double unit, const Team& team) const {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.size()));
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    std::int64_t sum = 0;
    for (std::size_t at = begin * n_classes_; at < end * n_classes_; ++at)
      if (margins_[at] <= 0.0) sum += to_integer(initial(at) * unit);
    sums[static_cast<std::size_t>(slot)] += sum;
  });
  return combined(sums);
}

double LabelWeights::vote_mass(std::span<const double> votes, const Team& team) const {
  const double unit = sum_scale(n_rows(), 1.0);
  return static_cast<double>(vote_mass_sum(votes, unit, team)) / unit;
}

std::int64_t LabelWeights::vote_mass_sum(std::span<const double> votes, double unit,
                                         const Team& team) const {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.size()));
  team.range(n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    std::int64_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      double mass = 0.0;
      for (std::size_t l = 0; l < n_classes_; ++l) mass += votes[l] * signed_[i * n_classes_ + l];
      sum += to_integer(std::abs(mass) * unit);
    }
    sums[static_cast<std::size_t>(slot)] += sum;
  });
  return combined(sums);
}

}  // namespace edgewise
