#include "label_scores.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "checks.hpp"
#include "clones.hpp"
#include "fixed_point.hpp"
#include "math.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = 256;
constexpr double kMostLoss = 1024.0;  // of one label; exp_portable keeps scores within 700

// q = 1 / (1 + exp(m)) of margins m = y F, and the loss log(1 + exp(-m)).
EDGEWISE_CLONES void logistic(const double* margins, std::size_t n, double* q, double* loss) {
  for (std::size_t l = 0; l < n; ++l) {
    const double m = margins[l], size = m < 0.0 ? -m : m;
    const double e = exp_portable(-size);
    const double likely = 1.0 / (1.0 + e);
    q[l] = m < 0.0 ? likely : e * likely;
    loss[l] = (m < 0.0 ? size : 0.0) + log_portable(1.0 + e);
  }
}

EDGEWISE_CLONES std::int64_t in_units(const double* x, std::size_t n, double unit) {
  std::int64_t sum = 0;
  for (std::size_t l = 0; l < n; ++l) sum += to_integer(x[l] * unit);
  return sum;
}

// Sums of g and h of one row, in units; `unit` holds its weight.
EDGEWISE_CLONES void add_derivatives(const float* r, std::size_t n, double unit, std::int64_t* g,
                                     std::int64_t* h) {
  for (std::size_t l = 0; l < n; ++l) {
    const double x = r[l], size = x < 0.0 ? -x : x;
    g[l] += to_integer(x * unit);
    h[l] += to_integer(size * (1.0 - size) * unit);
  }
}

EDGEWISE_CLONES double mass_of(const float* r, std::size_t n) {
  double sum[4] = {};
  std::size_t l = 0;
  for (; l + 4 <= n; l += 4)
    for (std::size_t j = 0; j < 4; ++j) {
      const double x = r[l + j], size = x < 0.0 ? -x : x;
      sum[j] += size * (1.0 - size);
    }
  for (; l < n; ++l) {
    const double x = r[l], size = x < 0.0 ? -x : x;
    sum[0] += size * (1.0 - size);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

constexpr std::size_t kAtOnce = 8;  // directions whose sums stay in registers

// `directions` (n, stride), stride a multiple of kAtOnce; out (stride).
EDGEWISE_CLONES void project_row(const float* r, const double* directions, std::size_t n,
                                 std::size_t stride, double* out) {
  for (std::size_t k = 0; k < stride; k += kAtOnce) {
    double sum[kAtOnce] = {};
    for (std::size_t l = 0; l < n; ++l) {
      const double x = r[l];
      for (std::size_t j = 0; j < kAtOnce; ++j) sum[j] += x * directions[l * stride + k + j];
    }
    std::copy_n(sum, kAtOnce, out + k);
  }
}

// What one row keeps while its scores change.
struct Scratch {
  std::vector<double> margins, q, loss;
  explicit Scratch(std::size_t n) : margins(n), q(n), loss(n) {}

  std::int64_t evaluate(std::size_t n, double unit) {
    logistic(margins.data(), n, q.data(), loss.data());
    return in_units(loss.data(), n, unit);
  }
};

struct Step {
  double gain, value;
  std::int32_t label;
};

// The step of a label, and half the fall of the loss it brings. Chance alone gives a mean gain of
// one row's weight: the step shrinks by the share of the gain that may be chance.
Step step_of(double g, double h, const LabelSteps& steps, std::int32_t label) {
  const double mass = h + steps.l2;
  if (!(mass > 0.0)) return {0.0, 0.0, label};
  const double raw = g / mass, gain = g * raw;
  const double kept = gain > steps.noise ? 1.0 - steps.noise / gain : 0.0;
  const double clipped = std::clamp(raw, -steps.max_delta, steps.max_delta);
  return {gain * kept, steps.shrinkage * kept * clipped, label};
}

}  // namespace

LabelScores::LabelScores(std::vector<std::int8_t> signs, std::vector<double> weights,
                         std::span<const double> start)
    : n_rows_(start.empty() ? 0 : signs.size() / start.size()),
      n_labels_(start.size()),
      signs_(std::move(signs)),
      weights_(std::move(weights)),
      scores_(signs_.size()),
      residual_(signs_.size()) {
  need_rows_and_columns(n_rows_, n_labels_);
  if (signs_.size() != n_rows_ * n_labels_)
    throw std::invalid_argument("there must be a sign for every row and label");
  for (const std::int8_t sign : signs_)
    if (sign != 1 && sign != -1) throw std::invalid_argument("signs must be +1 or -1");
  need_finite(start, "initial scores");
  if (!weights_.empty()) {
    need_weights(weights_, n_rows_);
    largest_weight_ = *std::max_element(weights_.begin(), weights_.end());
  }
  const double unit = sum_scale(n_rows_, largest_weight_);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n_rows_; ++i) sum += to_integer(weight(i) * unit);
  weight_sum_ = static_cast<double>(sum) / unit;
  loss_unit_ = sum_scale(n_rows_ * n_labels_, largest_weight_ * kMostLoss);
  for (std::size_t i = 0; i < n_rows_; ++i)
    std::copy(start.begin(), start.end(),
              scores_.begin() + static_cast<std::ptrdiff_t>(i * n_labels_));
  set_scores(nullptr, Team(1));
}

void LabelScores::set_scores(const double* scores, const Team& team) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.size()));
  team.range(n_rows_, kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    Scratch s(n_labels_);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t at = i * n_labels_;
      if (scores) std::copy_n(scores + at, n_labels_, &scores_[at]);
      for (std::size_t l = 0; l < n_labels_; ++l) s.margins[l] = signs_[at + l] * scores_[at + l];
      sums[static_cast<std::size_t>(slot)] += s.evaluate(n_labels_, loss_unit_ * weight(i));
      for (std::size_t l = 0; l < n_labels_; ++l)
        residual_[at + l] = static_cast<float>(signs_[at + l] * s.q[l]);
    }
  });
  loss_ = 0;
  for (const std::int64_t sum : sums) loss_ += sum;
}

void LabelScores::add(const std::vector<Moves>& trees, const Team& team) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(team.size()));
  for (const Moves& tree : trees) {
    team.range(n_rows_, kGrain, [&](std::size_t begin, std::size_t end, int slot) {
      Scratch s(tree.width);
      std::int64_t change = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t from = tree.leaf_of_row[i] * tree.width;
        const std::int32_t* labels = &tree.classes[from];
        const double unit = loss_unit_ * weight(i);
        const std::size_t at = i * n_labels_;
        auto place = [&](std::size_t m) { return at + static_cast<std::size_t>(labels[m]); };
        for (std::size_t m = 0; m < tree.width; ++m)
          s.margins[m] = signs_[place(m)] * scores_[place(m)];
        change -= s.evaluate(tree.width, unit);
        for (std::size_t m = 0; m < tree.width; ++m) {
          scores_[place(m)] += tree.values[from + m];
          s.margins[m] = signs_[place(m)] * scores_[place(m)];
        }
        change += s.evaluate(tree.width, unit);
        for (std::size_t m = 0; m < tree.width; ++m)
          residual_[place(m)] = static_cast<float>(signs_[place(m)] * s.q[m]);
      }
      sums[static_cast<std::size_t>(slot)] += change;
    });
  }
  for (const std::int64_t sum : sums) loss_ += sum;
}

void LabelScores::project(const double* directions, std::size_t n_directions, double* g, double* h,
                          const Team& team) const {
  const std::size_t stride = (n_directions + kAtOnce - 1) / kAtOnce * kAtOnce;
  std::vector<double> padded(n_labels_ * stride);
  for (std::size_t l = 0; l < n_labels_; ++l)
    std::copy_n(directions + l * n_directions, n_directions, &padded[l * stride]);
  team.range(n_rows_, kGrain, [&](std::size_t begin, std::size_t end, int) {
    std::vector<double> sums(stride);
    for (std::size_t i = begin; i < end; ++i) {
      const float* r = &residual_[i * n_labels_];
      const double w = weight(i);
      project_row(r, padded.data(), n_labels_, stride, sums.data());
      for (std::size_t k = 0; k < n_directions; ++k) g[i * n_directions + k] = w * sums[k];
      h[i] = w * mass_of(r, n_labels_);
    }
  });
}

void LabelScores::set_steps(Tree& tree, const LabelSteps& steps, const std::uint8_t* drawn,
                            const Team& team) const {
  const std::size_t n_leaves = (tree.feature.size() + 1) / 2, size = 2 * n_leaves * n_labels_;
  const double unit = sum_scale(n_rows_, largest_weight_);
  std::vector<std::vector<std::int64_t>> parts(static_cast<std::size_t>(team.size()));
  team.range(n_rows_, kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    auto& part = parts[static_cast<std::size_t>(slot)];
    if (part.empty()) part.resize(size);
    for (std::size_t i = begin; i < end; ++i) {
      if (drawn && !drawn[i]) continue;
      std::int64_t* g = &part[tree.leaf_of_row[i] * 2 * n_labels_];
      add_derivatives(&residual_[i * n_labels_], n_labels_, unit * weight(i), g, g + n_labels_);
    }
  });
  std::vector<std::int64_t> sums(size);
  for (const auto& part : parts)
    for (std::size_t j = 0; j < part.size(); ++j) sums[j] += part[j];
  const std::size_t width = std::min(steps.width, n_labels_);
  tree.width = static_cast<std::int32_t>(width);
  tree.classes.resize(n_leaves * width);
  tree.values.resize(n_leaves * width);
  team.range(n_leaves, 1, [&](std::size_t begin, std::size_t end, int) {
    std::vector<Step> of_labels(n_labels_);
    for (std::size_t j = begin; j < end; ++j) {
      const std::int64_t* g = &sums[j * 2 * n_labels_];
      for (std::size_t l = 0; l < n_labels_; ++l)
        of_labels[l] =
            step_of(static_cast<double>(g[l]) / unit, static_cast<double>(g[n_labels_ + l]) / unit,
                    steps, static_cast<std::int32_t>(l));
      const auto last = of_labels.begin() + static_cast<std::ptrdiff_t>(width);
      if (width < n_labels_)
        std::nth_element(of_labels.begin(), last, of_labels.end(),
                         [](const Step& a, const Step& b) {
                           return a.gain > b.gain || (a.gain == b.gain && a.label < b.label);
                         });
      std::sort(of_labels.begin(), last,
                [](const Step& a, const Step& b) { return a.label < b.label; });
      for (std::size_t m = 0; m < width; ++m) {
        tree.classes[j * width + m] = of_labels[m].label;
        tree.values[j * width + m] = of_labels[m].value;
      }
    }
  });
}

double LabelScores::loss() const {
  return static_cast<double>(loss_) / loss_unit_ / weight_sum_ / static_cast<double>(n_labels_);
}

void label_losses(const double* scores, const std::int8_t* signs, std::size_t n_rows,
                  std::size_t n_labels, double factor, double* out, const Team& team) {
  team.range(n_rows, kGrain, [&](std::size_t begin, std::size_t end, int) {
    Scratch s(n_labels);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t at = i * n_labels;
      for (std::size_t l = 0; l < n_labels; ++l)
        s.margins[l] = signs[at + l] * factor * scores[at + l];
      logistic(s.margins.data(), n_labels, s.q.data(), s.loss.data());
      double loss = 0.0, slope = 0.0, curvature = 0.0;
      for (std::size_t l = 0; l < n_labels; ++l) {
        loss += s.loss[l];
        slope -= s.q[l] * s.margins[l];
        curvature += s.q[l] * (1.0 - s.q[l]) * s.margins[l] * s.margins[l];
      }
      const auto n = static_cast<double>(n_labels);
      out[i] = loss / n;
      out[n_rows + i] = slope / n;
      out[2 * n_rows + i] = curvature / n;
    }
  });
}

}  // namespace edgewise
