#include "lane_tree.hpp"

#include <algorithm>
#include <cstring>

#include "clones.hpp"
#include "vectors.hpp"

namespace edgewise {
namespace {

inline void store8(Lane* p, Int8 v) { std::memcpy(p, &v, sizeof v); }

// Adds rows to the histograms of one group of features; kVectors * 8 lanes a place.
template <std::size_t kVectors>
[[gnu::always_inline]] inline void add_rows_of(const Code* codes, std::size_t d, const Row* rows,
                                               std::size_t n, const Lane* values,
                                               const std::uint32_t* offset, std::size_t first,
                                               std::size_t last, Lane* histogram) {
  constexpr std::size_t kWidth = kVectors * kLanesAtOnce;
  for (std::size_t i = 0; i < n; ++i) {
    const Code* row = codes + rows[i] * d;
    const Lane* from = values + rows[i] * kWidth;
    Int8 v[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j) v[j] = load8(from + j * kLanesAtOnce);
    for (std::size_t f = first; f < last; ++f) {
      Lane* place = histogram + (offset[f] + row[f]) * kWidth;
      for (std::size_t j = 0; j < kVectors; ++j)
        store8(place + j * kLanesAtOnce, load8(place + j * kLanesAtOnce) + v[j]);
    }
  }
}

EDGEWISE_CLONES void add_rows(const Code* codes, std::size_t d, const Row* rows, std::size_t n,
                              const Lane* values, std::size_t lanes, const std::uint32_t* offset,
                              std::size_t first, std::size_t last, Lane* histogram) {
  switch (lanes / kLanesAtOnce) {
    case 1: return add_rows_of<1>(codes, d, rows, n, values, offset, first, last, histogram);
    case 2: return add_rows_of<2>(codes, d, rows, n, values, offset, first, last, histogram);
    case 3: return add_rows_of<3>(codes, d, rows, n, values, offset, first, last, histogram);
    case 4: return add_rows_of<4>(codes, d, rows, n, values, offset, first, last, histogram);
    default: break;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t f = first; f < last; ++f) {
      Lane* place = histogram + (offset[f] + codes[rows[i] * d + f]) * lanes;
      const Lane* from = values + rows[i] * lanes;
      for (std::size_t j = 0; j < lanes; j += kLanesAtOnce)
        store8(place + j, load8(place + j) + load8(from + j));
    }
}

}  // namespace

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

void add_lanes(const BinnedData& data, FeatureGroup group, const Row* rows, std::size_t n,
               const Lane* values, std::size_t lanes, Lane* histogram) {
  add_rows(data.codes.data(), static_cast<std::size_t>(data.n_features), rows, n, values, lanes,
           data.offset.data(), static_cast<std::size_t>(group.first),
           static_cast<std::size_t>(group.last), histogram);
}

}  // namespace edgewise
