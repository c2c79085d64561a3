// Pair: the criterion of AOSO-LogitBoost (Sun, Reid, Zhou 2012/2014). At a node with class sums
//   G_k = sum (r_ik - p_ik),  H_k = sum p_ik (1 - p_ik),  H_rk = sum p_ir p_ik
// the pair is r = argmax G_k and s = argmax (G_r - G_k)^2 / (H_r + H_k + 2 H_rk); splits and leaf
// values of the node are Newton's along e_r - e_s.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace edgewise {

struct ClassSums {
  std::vector<std::int64_t> g, h, size;     // (n_classes), fixed point: G, H, sum |r_ik - p_ik|
  std::int64_t rest = 0, rest_squared = 0;  // of rows with lists of classes; see class_lists.hpp

  explicit ClassSums(std::size_t n_classes = 0) : g(n_classes), h(n_classes), size(n_classes) {}

  void operator+=(const ClassSums& other) { combine(other, std::plus{}); }
  void operator-=(const ClassSums& other) { combine(other, std::minus{}); }

 private:
  template <class F>
  void combine(const ClassSums& other, F f) {
    std::transform(g.begin(), g.end(), other.g.begin(), g.begin(), f);
    std::transform(h.begin(), h.end(), other.h.begin(), h.begin(), f);
    std::transform(size.begin(), size.end(), other.size.begin(), size.begin(), f);
    rest = f(rest, other.rest);
    rest_squared = f(rest_squared, other.rest_squared);
  }
};

struct Pair {
  int r = -1, s = -1;
};

// Sums nearer than rounding are ties; ties go to the lowest class.
inline constexpr double kPairTie = 1e-6;

// Upper bounds of the gains of pairs with r and their other classes: the `most` largest, of equal
// ones those of the lowest classes.
inline std::vector<std::pair<double, int>> seconds_by_bound(const ClassSums& sums, double l2,
                                                            std::size_t most, int r) {
  auto g = [&](int k) { return static_cast<double>(sums.g[static_cast<std::size_t>(k)]); };
  auto h = [&](int k) { return static_cast<double>(sums.h[static_cast<std::size_t>(k)]); };
  std::vector<std::pair<double, int>> bound;
  bound.reserve(sums.g.size());
  for (int k = 0; k < static_cast<int>(sums.g.size()); ++k)
    if (k != r)
      bound.emplace_back((g(r) - g(k)) * (g(r) - g(k)) / std::max(h(r) + h(k) + l2, 1.0), k);
  if (bound.size() <= most) return bound;
  std::nth_element(bound.begin(), bound.begin() + static_cast<std::ptrdiff_t>(most), bound.end(),
                   [](const auto& a, const auto& b) {
                     return a.first > b.first || (a.first == b.first && a.second < b.second);
                   });
  bound.resize(most);
  return bound;
}

// `cross(r, k)` gives H_rk. Since H_rk is not negative, (G_r - G_k)^2 / (H_r + H_k) bounds the
// gain, so few classes need their H_rk. `l2` is added to the Hessians of pairs. Only the
// first `most` classes by the bound are looked at.
template <class Cross>
Pair choose_pair(const ClassSums& sums, double l2, std::size_t most, Cross cross) {
  const auto n = static_cast<int>(sums.g.size());
  auto g = [&](int k) { return static_cast<double>(sums.g[static_cast<std::size_t>(k)]); };
  auto h = [&](int k) { return static_cast<double>(sums.h[static_cast<std::size_t>(k)]); };
  double noise = 0.0;  // differences of G that are rounding
  for (int k = 0; k < n; ++k) noise += kPairTie * h(k);
  const auto [low, high] = std::minmax_element(sums.g.begin(), sums.g.end());
  if (static_cast<double>(*high - *low) <= noise) {
    // No class stands out (as at the root of a first tree that starts at the class priors): take
    // the two classes that are least certain.
    Pair pair;
    for (int k = 0; k < n; ++k)
      if (pair.r < 0 || h(k) > h(pair.r) * (1.0 + kPairTie)) pair.r = k;
    for (int k = 0; k < n; ++k)
      if (k != pair.r && (pair.s < 0 || h(k) > h(pair.s) * (1.0 + kPairTie))) pair.s = k;
    return pair;
  }
  int r = 0;
  while (g(r) < static_cast<double>(*high) - noise) ++r;
  auto bound = seconds_by_bound(sums, l2, most, r);
  std::make_heap(bound.begin(), bound.end());
  int s = -1;
  double best = 0.0;
  while (!bound.empty() && (s < 0 || bound.front().first >= best * (1.0 - kPairTie))) {
    const int k = bound.front().second;
    std::pop_heap(bound.begin(), bound.end());
    bound.pop_back();
    const double difference = g(r) - g(k);
    const double hessian = h(r) + h(k) + 2.0 * cross(r, k) + l2;
    const double gain = difference * difference / std::max(hessian, 1.0);
    if (s < 0 || gain > best * (1.0 + kPairTie) || (gain >= best * (1.0 - kPairTie) && k < s)) {
      best = std::max(best, gain);
      s = k;
    }
  }
  return {r, s};
}

}  // namespace edgewise
