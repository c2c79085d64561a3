#include "soft_max.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "clones.hpp"
#include "math.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = 1024;  // rows that a thread takes at a time

EDGEWISE_CLONES void softmax_row(double* s, std::size_t n) {
  double largest = s[0];
  for (std::size_t k = 1; k < n; ++k) largest = s[k] > largest ? s[k] : largest;
  for (std::size_t k = 0; k < n; ++k) s[k] = exp_portable(s[k] - largest);
  double sum = 0.0;
  for (std::size_t k = 0; k < n; ++k) sum += s[k];
  for (std::size_t k = 0; k < n; ++k) s[k] /= sum;
}

// log sum_k exp(s_k - s_label), with the largest score taken out.
EDGEWISE_CLONES double row_loss(const double* s, std::size_t n, std::size_t label, double* space) {
  double largest = s[0];
  for (std::size_t k = 1; k < n; ++k) largest = s[k] > largest ? s[k] : largest;
  for (std::size_t k = 0; k < n; ++k) space[k] = exp_portable(s[k] - largest);
  double sum = 0.0;
  for (std::size_t k = 0; k < n; ++k) sum += space[k];
  return log_portable(sum) + (largest - s[label]);
}

// The same of kAbreast rows side by side: the same operations of every row, in the same order.
constexpr std::size_t kAbreast = 8;

// Rows of n scores to `by_class` (n, kAbreast), the largest score of each row to `largest`.
[[gnu::always_inline]] inline void turn_rows(const double* s, std::size_t n,
                                             double* __restrict by_class,
                                             double* __restrict largest) {
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < kAbreast; ++i) by_class[k * kAbreast + i] = s[i * n + k];
  std::copy_n(by_class, kAbreast, largest);
  for (std::size_t k = 1; k < n; ++k)
    for (std::size_t i = 0; i < kAbreast; ++i) {
      const double x = by_class[k * kAbreast + i];
      largest[i] = x > largest[i] ? x : largest[i];
    }
}

// Exponentials of the scores less the largest, in place, and their sums.
[[gnu::always_inline]] inline void take_exponentials(double* __restrict by_class, std::size_t n,
                                                     const double* largest,
                                                     double* __restrict sum) {
  std::fill_n(sum, kAbreast, 0.0);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < kAbreast; ++i) {
      double& x = by_class[k * kAbreast + i];
      x = exp_portable(x - largest[i]);
      sum[i] += x;
    }
}

EDGEWISE_CLONES void softmax_rows(double* s, std::size_t n, double* space) {
  double largest[kAbreast], sum[kAbreast];
  turn_rows(s, n, space, largest);
  take_exponentials(space, n, largest, sum);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < kAbreast; ++i) space[k * kAbreast + i] /= sum[i];
  for (std::size_t i = 0; i < kAbreast; ++i)
    for (std::size_t k = 0; k < n; ++k) s[i * n + k] = space[k * kAbreast + i];
}

EDGEWISE_CLONES void row_losses(const double* s, std::size_t n, const Label* labels, double* space,
                                double* losses) {
  double largest[kAbreast], sum[kAbreast];
  turn_rows(s, n, space, largest);
  take_exponentials(space, n, largest, sum);
  for (std::size_t i = 0; i < kAbreast; ++i) losses[i] = log_portable(sum[i]);
  for (std::size_t i = 0; i < kAbreast; ++i)
    losses[i] += largest[i] - s[i * n + static_cast<std::size_t>(labels[i])];
}

using Found = std::pair<double, std::int32_t>;  // a value and its column

bool before(const Found& a, const Found& b) {
  return a.first > b.first || (a.first == b.first && a.second < b.second);
}

// Leaves the k = best.size() first of n values in `best`: a heap whose top is the last of them.
void select(const double* values, std::size_t n, std::vector<Found>& best) {
  for (std::size_t j = 0; j < best.size(); ++j) best[j] = {values[j], static_cast<std::int32_t>(j)};
  std::make_heap(best.begin(), best.end(), before);
  for (std::size_t j = best.size(); j < n; ++j) {
    if (!(values[j] > best.front().first)) continue;  // an equal one of a lower column is there
    std::pop_heap(best.begin(), best.end(), before);
    best.back() = {values[j], static_cast<std::int32_t>(j)};
    std::push_heap(best.begin(), best.end(), before);
  }
  std::sort_heap(best.begin(), best.end(), before);
}

}  // namespace

void top_k(const double* values, std::size_t n_rows, int n_columns, std::size_t k,
           std::int32_t* columns, double* largest, const Team& team) {
  const auto n = static_cast<std::size_t>(n_columns);
  team.range(n_rows, 16, [&](std::size_t begin, std::size_t end, int) {
    std::vector<Found> best(k);
    for (std::size_t i = begin; i < end; ++i) {
      select(values + i * n, n, best);
      for (std::size_t j = 0; j < k; ++j) {
        largest[i * k + j] = best[j].first;
        columns[i * k + j] = best[j].second;
      }
    }
  });
}

void softmax(double* scores, std::size_t n_rows, int n_classes, const Team& team) {
  const auto n = static_cast<std::size_t>(n_classes);
  team.range(n_rows, kGrain, [&](std::size_t begin, std::size_t end, int) {
    std::vector<double> space(end - begin < kAbreast ? 0 : n * kAbreast);
    std::size_t i = begin;
    for (; i + kAbreast <= end; i += kAbreast) softmax_rows(scores + i * n, n, space.data());
    for (; i < end; ++i) softmax_row(scores + i * n, n);
  });
}

void log_losses(const double* scores, int n_classes, std::span<const Label> labels, double* losses,
                const Team& team) {
  const auto n = static_cast<std::size_t>(n_classes);
  team.range(labels.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    std::vector<double> space(n * kAbreast);
    std::size_t i = begin;
    for (; i + kAbreast <= end; i += kAbreast)
      row_losses(scores + i * n, n, &labels[i], space.data(), losses + i);
    for (; i < end; ++i)
      losses[i] = row_loss(scores + i * n, n, static_cast<std::size_t>(labels[i]), space.data());
  });
}

}  // namespace edgewise
