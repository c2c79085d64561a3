// Statistics are integers: rounded once, then every sum is exact, so it does not matter in which
// order, on which thread or on which machine rows are added.
//
// A row's gradient and Hessian share one 64-bit word, gradient in the upper half, so that one
// addition sums both. The scale follows from the total: sum |g| and sum h stay below 2^31, hence
// no field overflows whatever the rows, and the rounding error of any sum is at most n / 2^32 of
// the total.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace edgewise {

using Packed = std::int64_t;

inline Packed pack(std::int64_t g, std::int64_t h) { return g * (Packed{1} << 32) + h; }
inline std::int32_t gradient(Packed v) { return static_cast<std::int32_t>(v >> 32); }
inline std::int32_t hessian(Packed v) { return static_cast<std::int32_t>(v & 0xffffffff); }

// 1.5 * 2^52: adding it rounds to an integer, which the lowest bits then hold. So integers become
// doubles and doubles integers by an addition; unlike a cast or llrint it vectorises.
inline constexpr double kRound = 6755399441055744.0;
inline constexpr auto kRoundBits = std::bit_cast<std::int64_t>(kRound);

// Nearest integer for |x| < 2^51.
inline std::int64_t to_integer(double x) {
  return std::bit_cast<std::int64_t>(x + kRound) - kRoundBits;
}

// The largest power of two not above x > 0: scaling by it is exact.
inline double power_of_two_below(double x) { return std::ldexp(1.0, std::ilogb(x)); }

// Scale for exact 63-bit sums of n terms of absolute value at most `bound`. It is finite even where
// all terms are zero, so that they stay zero.
inline double sum_scale(std::size_t n, double bound) {
  constexpr double kLeast = 1e-290;
  const int bits = std::min(50, 62 - static_cast<int>(std::bit_width(n)));
  return std::ldexp(0.5, bits) / power_of_two_below(std::max(bound, kLeast));
}

// Whether a sum is positive by more than the rounding of its terms, whose sizes sum to `size`: a
// sum that should be zero does not decide by rounding.
inline bool is_positive(std::int64_t sum, std::int64_t size) {
  constexpr double kRounding = 1e-9;
  return static_cast<double>(sum) > kRounding * static_cast<double>(size);
}

// Units per 1.0 of gradient and Hessian.
struct FixedPoint {
  double g = 0.0;
  double h = 0.0;

  // Units for n terms whose absolute values sum to `total`: at most 2^31 in all, with room for
  // rounding and for the one unit that a row may be given.
  static double units(double total, std::size_t n) {
    return total > 0.0 ? power_of_two_below((0x1p31 - 2.0 * static_cast<double>(n)) / total) : 0.0;
  }

  // A nonzero gradient has at least one unit of Hessian: no gradient without mass.
  Packed operator()(double gradient, double hessian) const {
    const std::int64_t a = to_integer(gradient * g);
    const std::int64_t b = to_integer(hessian * h);
    return pack(a, b > 0 ? b : (a != 0));
  }
};

// Which rows take part in the search for splits: those whose gradient or Hessian is not below a
// share of the mean. Late in boosting most rows are fitted so well that skipping them saves most of
// the time.
struct Threshold {
  std::int32_t g = 1;
  std::int32_t h = 1;

  // From the totals in units.
  Threshold(double share, double sum_g, double sum_h, std::size_t n)
      : g(at_least_one(share * sum_g / static_cast<double>(n))),
        h(at_least_one(share * sum_h / static_cast<double>(n))) {}

  bool operator()(Packed v) const {  // without branches, which would be hard to predict
    return (std::abs(gradient(v)) >= g) | (hessian(v) >= h);
  }

 private:
  static std::int32_t at_least_one(double x) { return x < 1.0 ? 1 : static_cast<std::int32_t>(x); }
};

}  // namespace edgewise
