#include "elementwise.hpp"

#include <limits>

#include "clones.hpp"
#include "math.hpp"

namespace edgewise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTwo54 = 18014398509481984.0;
constexpr double kLogTwo54 = 37.429947750237048;

// Halves keep within the range of exp_portable; their product is rounded once, also to subnormals.
inline double exp_any(double x) {
  const double bounded = x < -1400.0 ? -1400.0 : (x > 1400.0 ? 1400.0 : x);
  const double half = exp_portable(0.5 * bounded);
  const double inside = exp_portable(x);
  const double e = x < -700.0 || x > 700.0 ? half * half : inside;
  return x != x ? x : e;
}

inline double log_any(double x) {
  const bool is_small = x < std::numeric_limits<double>::min();
  const double log = log_portable(is_small ? x * kTwo54 : x) - (is_small ? kLogTwo54 : 0.0);
  const double of_positive = x > 0.0 ? (x < kInfinity ? log : x) : -kInfinity;
  return x >= 0.0 ? of_positive : kNaN;
}

}  // namespace

EDGEWISE_CLONES void exp_all(const double* x, double* out, std::size_t n) {
  int outside = 0;
  for (std::size_t i = 0; i < n; ++i) outside |= !(x[i] >= -700.0 && x[i] <= 700.0);
  if (outside)
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_any(x[i]);
  else
    for (std::size_t i = 0; i < n; ++i) out[i] = exp_portable(x[i]);
}

EDGEWISE_CLONES void log_all(const double* x, double* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = log_any(x[i]);
}

}  // namespace edgewise
