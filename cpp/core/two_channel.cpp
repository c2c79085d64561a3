#include "two_channel.hpp"

#include "clones.hpp"

namespace edgewise {

EDGEWISE_CLONES void pack_rows(const double* g, const double* mass, std::size_t n, FixedPoint scale,
                               Packed* stats) {
  for (std::size_t i = 0; i < n; ++i) stats[i] = scale(g[i], mass[i]);
}

}  // namespace edgewise
