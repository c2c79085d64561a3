#include "coded_forest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "forest.hpp"

namespace edgewise {
namespace {

// The thresholds of every feature, ascending.
std::vector<std::vector<double>> thresholds_of(const ForestArrays& a) {
  std::vector<std::vector<double>> of_feature;
  for (std::size_t i = 0; i < a.feature.size(); ++i) {
    if (a.feature[i] < 0) continue;
    const auto f = static_cast<std::size_t>(a.feature[i]);
    if (f >= of_feature.size()) of_feature.resize(f + 1);
    of_feature[f].push_back(a.threshold[i]);
  }
  for (auto& points : of_feature) {
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }
  return of_feature;
}

bool has_small_trees(const ForestArrays& a) {
  constexpr std::int64_t kMostNodes = 2 * kMostByteLeaves - 1;
  for (std::size_t t = 0; t + 1 < a.node_start.size(); ++t)
    if (a.node_start[t + 1] - a.node_start[t] > kMostNodes) return false;
  return true;
}

}  // namespace

CodedForest::CodedForest(const ForestArrays& a) {
  constexpr std::size_t kMostCuts = 254;  // values get codes up to 254, and missing ones 255
  if (a.set_start.size() > 1 || !has_small_trees(a)) return;
  auto thresholds = thresholds_of(a);
  std::vector<std::uint32_t> column(thresholds.size());
  for (std::size_t f = 0; f < thresholds.size(); ++f) {
    if (thresholds[f].size() > kMostCuts) return;
    if (thresholds[f].empty()) continue;
    column[f] = static_cast<std::uint32_t>(features_.size());
    features_.push_back(f);
    cuts_.of_feature.push_back(std::move(thresholds[f]));
  }
  cuts_.has_missing.assign(features_.size(), 1);
  cuts_.categorical.assign(features_.size(), 0);
  for (std::size_t t = 0; t + 1 < a.node_start.size(); ++t) {
    const auto root = static_cast<std::size_t>(a.node_start[t]);
    const auto n = static_cast<std::size_t>(a.node_start[t + 1]) - root;
    const auto column_of = [&](std::size_t i) {
      return column[static_cast<std::size_t>(a.feature[root + i])];
    };
    const auto codes_of = [&](std::size_t i) {
      const auto& points = cuts_.of_feature[column_of(i)];
      const auto at = std::lower_bound(points.begin(), points.end(), a.threshold[root + i]);
      const auto bin = static_cast<Code>(at - points.begin());
      const auto missing = static_cast<Code>(cuts_.n_value_bins(column_of(i)));
      return std::pair(bin, a.missing_left[root + i] ? missing : bin);
    };
    const auto choices =
        choices_of(a.feature.subspan(root, n), a.left.subspan(root, n), column_of, codes_of);
    choices_.insert(choices_.end(), choices.begin(), choices.end());
    start_.push_back(choices_.size());
  }
  fits_ = true;
}

void CodedForest::encode(const Matrix& x, std::size_t begin, std::size_t end, Block& block) const {
  constexpr std::size_t kColumns = 16;  // read together: neighbours are, in a row
  const std::size_t n = end - begin;
  block.n = (n + kRowsAbreast - 1) / kRowsAbreast * kRowsAbreast;
  block.values.resize(n * kColumns);
  block.codes.resize(block.n * features_.size());
  block.columns.resize(features_.size());
  for (std::size_t c = 0; c < features_.size();) {
    const std::size_t first = features_[c], last = std::min(first + kColumns, x.cols);
    x.columns(begin, end, first, last, block.values.data(), n);
    for (; c < features_.size() && features_[c] < last; ++c) {
      Code* codes = &block.codes[c * block.n];
      encode_column(cuts_, c, &block.values[(features_[c] - first) * n], n, codes, 1);
      std::fill(codes + n, codes + block.n, Code{0});
      block.columns[c] = codes;
    }
  }
}

}  // namespace edgewise
