#include "importance.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace edgewise {
namespace {

// Weighted moments of what the leaves below the nodes of one tree move the classes by.
struct Moments {
  std::vector<double> weight;         // (n_nodes)
  std::vector<double> first, second;  // (n_nodes, n_classes): weighted sums of values, of squares

  Moments(const ForestArrays& a, std::span<const double> cover, std::size_t t, std::size_t k) {
    const auto root = static_cast<std::size_t>(a.node_start[t]);
    const auto n = static_cast<std::size_t>(a.node_start[t + 1]) - root;
    weight.assign(n, 0.0), first.assign(n * k, 0.0), second.assign(n * k, 0.0);
    for (std::size_t i = n; i-- > 0;) {  // children come after their parent
      const auto left = static_cast<std::size_t>(a.left[root + i]);
      if (a.feature[root + i] < 0) {
        add_leaf(a, t, i, left, cover[root + i], k);
        continue;
      }
      weight[i] = weight[left] + weight[left + 1];
      for (std::size_t c = 0; c < k; ++c) {
        first[i * k + c] = first[left * k + c] + first[(left + 1) * k + c];
        second[i * k + c] = second[left * k + c] + second[(left + 1) * k + c];
      }
    }
  }

 private:
  void add_leaf(const ForestArrays& a, std::size_t t, std::size_t node, std::size_t leaf,
                double share, std::size_t k) {
    const auto width = static_cast<std::size_t>(a.width[t]);
    const std::size_t begin = static_cast<std::size_t>(a.value_start[t]) + leaf * width;
    weight[node] = share;
    for (std::size_t v = begin; v < begin + width; ++v) {
      const std::size_t at = node * k + static_cast<std::size_t>(a.classes[v]);
      first[at] += share * a.values[v];
      second[at] += share * a.values[v] * a.values[v];
    }
  }
};

// The classes' parts of one.
void part(const double* first, const double* second, double weight, std::vector<double>& parts) {
  constexpr double kRounding = 1e-12;  // of the mean square: no variance
  for (std::size_t c = 0; c < parts.size(); ++c) {
    const double variance = weight > 0.0 ? second[c] - first[c] * first[c] / weight : 0.0;
    parts[c] = variance > kRounding * second[c] ? variance : 0.0;
  }
  auto sum = [&] { return std::accumulate(parts.begin(), parts.end(), 0.0); };
  if (sum() == 0.0) std::copy_n(second, parts.size(), parts.begin());
  if (sum() == 0.0) std::ranges::fill(parts, 1.0);
  const double all = sum();
  for (double& p : parts) p /= all;
}

}  // namespace

void add_gain_by_class(const ForestArrays& a, std::span<const double> cover,
                       std::span<const double> gain, std::size_t n_classes, std::size_t n_features,
                       double* out) {
  std::vector<double> parts(n_classes);
  for (std::size_t t = 0; t + 1 < a.node_start.size(); ++t) {
    const Moments moments(a, cover, t, n_classes);
    const auto root = static_cast<std::size_t>(a.node_start[t]);
    for (std::size_t i = 0; i < moments.weight.size(); ++i) {
      if (a.feature[root + i] < 0) continue;
      const auto feature = static_cast<std::size_t>(a.feature[root + i]);
      part(&moments.first[i * n_classes], &moments.second[i * n_classes], moments.weight[i], parts);
      for (std::size_t c = 0; c < n_classes; ++c)
        out[c * n_features + feature] += gain[root + i] * parts[c];
    }
  }
}

}  // namespace edgewise
