#include "two_channel.hpp"

#include <bit>
#include <cstring>

#include "clones.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kMarked = 512;  // rows at once

EDGEWISE_CLONES void mark_rows(const Packed* stats, std::size_t n, Threshold counts,
                               std::uint8_t* marks) {
  for (std::size_t i = 0; i < n; ++i) marks[i] = counts(stats[i]);
}

}  // namespace

EDGEWISE_CLONES void pack_rows(const double* g, const double* mass, std::size_t n, FixedPoint scale,
                               Packed* stats) {
  for (std::size_t i = 0; i < n; ++i) stats[i] = scale(g[i], mass[i]);
}

// From mark to mark: late in boosting they are few.
void select_rows(const std::vector<Packed>& stats, Threshold counts, std::vector<Row>& rows) {
  const std::size_t n = stats.size();
  std::uint8_t marks[kMarked];
  rows.resize(n);
  std::size_t kept = 0;
  for (std::size_t b = 0; b < n; b += kMarked) {
    const std::size_t m = std::min(kMarked, n - b);
    std::memset(marks, 0, sizeof marks);
    mark_rows(&stats[b], m, counts, marks);
    for (std::size_t i = 0; i < m; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, marks + i, sizeof eight);
      for (; eight != 0; eight &= eight - 1)
        rows[kept++] = static_cast<Row>(b + i) + static_cast<Row>(std::countr_zero(eight)) / 8;
    }
  }
  rows.resize(kept);
}

}  // namespace edgewise
