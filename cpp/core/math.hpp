// exp and log of our own: plain IEEE operations in a fixed order, so that a model does not depend
// on the C library of the machine. exp is within 2, log within 3 ulp of the true value (tested).
#pragma once

#include <bit>
#include <cstdint>

#include "fixed_point.hpp"

namespace edgewise {

inline double exp_portable(double x) {
  x = x < -700.0 ? -700.0 : x;  // exp stays a normal number; scores never need more
  x = x > 700.0 ? 700.0 : x;
  const double shifted = x * 1.4426950408889634 + kRound;
  const double n = shifted - kRound;
  const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double e = 1.0 / 6227020800.0;  // Taylor series to r^13, |r| <= log(2) / 2
  e = e * r + 1.0 / 479001600.0;
  e = e * r + 1.0 / 39916800.0;
  e = e * r + 1.0 / 3628800.0;
  e = e * r + 1.0 / 362880.0;
  e = e * r + 1.0 / 40320.0;
  e = e * r + 1.0 / 5040.0;
  e = e * r + 1.0 / 720.0;
  e = e * r + 1.0 / 120.0;
  e = e * r + 1.0 / 24.0;
  e = e * r + 1.0 / 6.0;
  e = e * r + 0.5;
  e = e * r + 1.0;
  e = e * r + 1.0;
  const std::int64_t exponent = std::bit_cast<std::int64_t>(shifted) - kRoundBits + 1023;
  return e * std::bit_cast<double>(exponent << 52);
}

// Natural logarithm of a positive normal number.
inline double log_portable(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  auto exponent = (bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffLL) | 0x3ff0000000000000LL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    exponent += 1;
  }
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double series = 1.0 / 23.0;  // log m = 2 s (1 + z/3 + z^2/5 + ...), |s| <= 0.172
  for (int k = 21; k >= 1; k -= 2) series = series * z + 1.0 / k;
  const double n = std::bit_cast<double>(exponent + kRoundBits) - kRound;
  return n * 6.93147180369123816490e-01 + (2.0 * s * series + n * 1.90821492927058770002e-10);
}

}  // namespace edgewise
