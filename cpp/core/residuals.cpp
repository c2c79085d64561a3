#include "residuals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "clones.hpp"
#include "fixed_point.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kGrain = 2048;
constexpr std::size_t kLanes = 8;
constexpr std::size_t kFlush = 256;  // rows summed in 32 bits before widening
constexpr std::size_t kAhead = 16;   // rows fetched before they are needed

// Residuals of n rows of probabilities in units, each row with its own; `others` are the residuals
// of the labels y.
EDGEWISE_CLONES void round_rows(const double* p, std::size_t n_classes, const Label* y,
                                const double* others, const double* units, std::size_t n,
                                std::size_t stride, std::int32_t* __restrict q) {
  for (std::size_t i = 0; i < n; ++i, p += n_classes, q += stride) {
    for (std::size_t k = 0; k < n_classes; ++k)
      q[k] = static_cast<std::int32_t>(to_integer(-p[k] * units[i]));
    q[y[i]] = static_cast<std::int32_t>(to_integer(others[i] * units[i]));
  }
}

inline std::int32_t size_of(std::int32_t x) { return x < 0 ? -x : x; }

// p_r p_s, and the second derivative along e_r - e_s, from the residuals a of r and b of s.
inline std::int64_t cross_of(std::int32_t a, std::int32_t b, float c) {
  const double x = a, y = b;
  const double ones = (x > 0.0 ? y : 0.0) + (y > 0.0 ? x : 0.0);
  return to_integer(x * y * static_cast<double>(c) - ones);
}
inline std::int32_t hessian_of(std::int32_t a, std::int32_t b, float c) {
  const std::int32_t gap = a - b;
  const std::int32_t ones = (a > 0) | (b > 0) ? 2 * size_of(gap) : 0;
  const float square = static_cast<float>(gap) * static_cast<float>(gap);
  return ones - a - b - static_cast<std::int32_t>(square * c);
}

// Sums n rows of residuals q and of their Hessians |q| - q^2 c, over kVectors times eight classes
// at a time so that the sums stay in registers.
template <std::size_t kVectors>
inline void sum_lanes(const std::int32_t* q, std::size_t stride, const Row* rows,
                      const float* curvature, std::size_t n, std::int32_t* g, std::int32_t* h) {
  Int8 sum_g[kVectors] = {}, sum_h[kVectors] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t* row = q + rows[i] * stride;
    const float c = curvature[rows[i]];
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Int8 value = load8(row + kLanes * v);
      const Float8 size = to_float(value < 0 ? -value : value);
      sum_g[v] += value;
      sum_h[v] += to_int(size - size * size * c);
    }
  }
  std::memcpy(g, sum_g, sizeof sum_g);
  std::memcpy(h, sum_h, sizeof sum_h);
}

EDGEWISE_CLONES void sum_rows(const std::int32_t* q, std::size_t stride, const Row* rows,
                              const float* curvature, std::size_t n, std::int32_t* g,
                              std::int32_t* h) {
  std::size_t k = 0;
  for (; k + 32 <= stride; k += 32) sum_lanes<4>(q + k, stride, rows, curvature, n, g + k, h + k);
  if (k + 16 <= stride) {
    sum_lanes<2>(q + k, stride, rows, curvature, n, g + k, h + k);
    k += 16;
  }
  if (k < stride) sum_lanes<1>(q + k, stride, rows, curvature, n, g + k, h + k);
}

}  // namespace

void Residuals::round(const Posterior& posterior, const Team& team) {
  round(posterior, posterior.n_rows(), largest_of(posterior, team), team);
}

double Residuals::largest_of(const Posterior& posterior, const Team& team) {
  std::vector<double> most(static_cast<std::size_t>(team.size()), 1e-30);
  team.range(posterior.n_rows(), kGrain, [&](std::size_t begin, std::size_t end, int slot) {
    double& m = most[static_cast<std::size_t>(slot)];
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = static_cast<Row>(i);
      m = std::max(m, posterior.weight(row) * posterior.residual(row, posterior.label(row)));
    }
  });
  return *std::max_element(most.begin(), most.end());
}

// Sums of kFlush rows stay below 2^31.
double Residuals::scale_for(std::size_t n, double largest) {
  const int bits = 31 - static_cast<int>(std::bit_width(std::min(n, kFlush)));
  return std::ldexp(0.5, bits) / power_of_two_below(largest);
}

void Residuals::round(const Posterior& posterior, std::size_t n_total, double largest,
                      const Team& team) {
  const std::size_t n = posterior.n_rows();
  posterior_ = &posterior;
  n_classes_ = static_cast<std::size_t>(posterior.n_classes());
  n_total_ = n_total;
  stride_ = posterior.lists() ? 0 : (n_classes_ + kLanes - 1) / kLanes * kLanes;
  q_.resize(n * stride_);
  curvature_.resize(n);
  largest_ = largest;
  scale_ = scale_for(n_total, largest_);
  team.range(n, kGrain, [&](std::size_t begin, std::size_t end, int) {
    double units[kFlush];
    for (std::size_t b = begin; b < end; b += kFlush) {
      const std::size_t n_now = std::min(kFlush, end - b);
      for (std::size_t i = 0; i < n_now; ++i) {
        units[i] = scale_ * posterior.weight(static_cast<Row>(b + i));
        curvature_[b + i] = static_cast<float>(1.0 / units[i]);
      }
      if (posterior.lists()) continue;
      round_rows(posterior.of_row(static_cast<Row>(b)), n_classes_, posterior.labels() + b,
                 posterior.others() + b, units, n_now, stride_, q_.data() + b * stride_);
    }
  });
}

// What a listed class has, less what it would have off the list.
ClassSums Residuals::sums_of_lists(const Row* rows, std::size_t n) const {
  const ClassLists& lists = *posterior_->lists();
  const double* share = lists.prior().share.data();
  const RestUnits rest = rest_units();
  ClassSums sums(n_classes_);
  for (std::size_t i = 0; i < n; ++i) {
    lists.fetch_place(rows[std::min(i + kAhead, n - 1)]);
    lists.fetch(rows[std::min(i + kAhead / 2, n - 1)]);
    const ListedRow list = lists.row(rows[i]);
    const double weight = posterior_->weight(rows[i]), unit = scale_ * weight;
    const float c = curvature_[rows[i]];
    const int y = posterior_->label(rows[i]);
    const double others = posterior_->residual(rows[i], y);
    auto hessian = [&](std::int64_t size) {
      const auto x = static_cast<float>(size);
      return static_cast<std::int64_t>(x - x * x * c);
    };
    auto add = [&](std::size_t k, double p, std::int64_t sign) {
      const std::int64_t size = to_integer(p * unit);
      const std::int64_t off = to_integer(list.rest * share[k] * unit);
      sums.g[k] += off + sign * size;
      sums.h[k] += hessian(size) - hessian(off);
      return size;
    };
    std::size_t j = 0;
    for (; list.classes[j] != y; ++j) add(static_cast<std::size_t>(list.classes[j]), list.p[j], -1);
    sums.size[static_cast<std::size_t>(y)] += 2 * add(static_cast<std::size_t>(y), others, 1);
    for (++j; j < list.n; ++j) add(static_cast<std::size_t>(list.classes[j]), list.p[j], -1);
    sums.rest += rest.first(list.rest, weight);
    sums.rest_squared += rest.second(list.rest, weight);
  }
  // As with all classes: only residuals of true classes are positive.
  for (std::size_t k = 0; k < n_classes_; ++k) sums.size[k] -= sums.g[k];
  return sums;
}

std::int32_t Residuals::of_list(Row row, int k) const {
  const double unit = scale_ * posterior_->weight(row);
  return static_cast<std::int32_t>(to_integer(posterior_->residual(row, k) * unit));
}

ClassSums Residuals::sums(const Row* rows, std::size_t n) const {
  if (posterior_->lists()) return sums_of_lists(rows, n);
  ClassSums sums(n_classes_);
  constexpr std::size_t kFew = 64;
  std::int32_t few[2 * kFew];
  std::vector<std::int32_t> many(stride_ > kFew ? 2 * stride_ : 0);
  std::int32_t* g = many.empty() ? few : many.data();
  std::int32_t* h = g + stride_;
  for (std::size_t b = 0; b < n; b += kFlush) {
    const std::size_t size = std::min(kFlush, n - b);
    sum_rows(q_.data(), stride_, rows + b, curvature_.data(), size, g, h);
    for (std::size_t k = 0; k < n_classes_; ++k) {
      sums.g[k] += g[k];
      sums.h[k] += h[k];
    }
    for (const Row* row = rows + b; row < rows + b + size; ++row) {
      const auto y = static_cast<std::size_t>(posterior_->label(*row));
      sums.size[y] += 2 * q_[*row * stride_ + y];
    }
  }
  // Only residuals of true classes are positive: |q| = 2 max(q, 0) - q.
  for (std::size_t k = 0; k < n_classes_; ++k) sums.size[k] -= sums.g[k];
  return sums;
}

void Residuals::gather(const Row* rows, std::size_t n, int k, std::int32_t* out) const {
  if (posterior_->lists()) {
    for (std::size_t i = 0; i < n; ++i) out[i] = of_list(rows[i], k);
    return;
  }
  const std::int32_t* q = q_.data() + k;
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(q + rows[std::min(i + kAhead, n - 1)] * stride_);
    out[i] = q[rows[i] * stride_];
  }
}

void Residuals::gather_pair(const Row* rows, std::size_t n, Pair pair, std::int32_t* a,
                            std::int32_t* b, float* c) const {
  if (posterior_->lists()) {
    const ClassLists& lists = *posterior_->lists();
    for (std::size_t i = 0; i < n; ++i) {
      lists.fetch_place(rows[std::min(i + kAhead, n - 1)]);
      lists.fetch(rows[std::min(i + kAhead / 2, n - 1)]);
      a[i] = of_list(rows[i], pair.r);
      b[i] = of_list(rows[i], pair.s);
      c[i] = curvature_[rows[i]];
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(q_.data() + rows[std::min(i + kAhead, n - 1)] * stride_);
    const std::int32_t* q = q_.data() + rows[i] * stride_;
    a[i] = q[pair.r];
    b[i] = q[pair.s];
    c[i] = curvature_[rows[i]];
  }
}

void Residuals::gather_all(const Row* rows, std::size_t n, std::int32_t* out, float* c) const {
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(q_.data() + rows[std::min(i + kAhead, n - 1)] * stride_);
    const std::int32_t* q = q_.data() + rows[i] * stride_;
    for (std::size_t k = 0; k < n_classes_; ++k) out[k * n + i] = q[k];
    c[i] = curvature_[rows[i]];
  }
}

EDGEWISE_CLONES std::int64_t cross_sum(const std::int32_t* a, const std::int32_t* b, const float* c,
                                       std::size_t n) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += cross_of(a[i], b[i], c[i]);
  return sum;
}

EDGEWISE_CLONES void derive_pair(const std::int32_t* a, const std::int32_t* b, const float* c,
                                 std::size_t n, FixedPoint scale, Packed* stats) {
  for (std::size_t i = 0; i < n; ++i) stats[i] = scale(a[i] - b[i], hessian_of(a[i], b[i], c[i]));
}

}  // namespace edgewise
