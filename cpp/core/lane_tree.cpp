#include "lane_tree.hpp"

#include <algorithm>

namespace edgewise {

// Groups are cut so that a group's histogram stays in the cache, and so that threads have work.
std::vector<FeatureGroup> feature_groups(const BinnedData& data, std::size_t lanes,
                                         std::size_t at_least) {
  constexpr std::size_t kBytes = 1 << 17;
  const std::size_t places = kBytes / (lanes * sizeof(Lane));
  const std::size_t share = data.n_places() / at_least + 1;
  const std::size_t most = std::min(places, share);
  std::vector<FeatureGroup> groups;
  std::size_t filled = 0;
  for (int f = 0; f < data.n_features; ++f) {
    const auto u = static_cast<std::size_t>(f);
    const std::size_t n = data.offset[u + 1] - data.offset[u];
    if (groups.empty() || filled + n > most) {
      groups.push_back({f, f});
      filled = 0;
    }
    groups.back().last = f + 1;
    filled += n;
  }
  return groups;
}

std::size_t rows_worth_a_histogram(const BinnedData& data, std::size_t lanes) {
  constexpr std::size_t kWork = 4;  // for a row, in lanes that are cleared and subtracted; measured
  if (data.has_lists()) return 0;   // the bins of some rows must be looked for
  return data.n_places() * lanes / (kWork * static_cast<std::size_t>(data.n_features));
}

}  // namespace edgewise
