#include "joint.hpp"

#include <utility>

namespace edgewise {

JointColumns join_columns(std::vector<std::uint32_t> radix) {
  constexpr std::size_t kMostBins = 512;
  JointColumns joint;
  joint.first = {0}, joint.start = {0};
  std::size_t n_bins = 1;  // of the joint column at hand
  for (std::size_t f = 0; f < radix.size(); ++f) {
    const bool full = f == joint.first.back() + JointColumns::kColumns;
    if (full || n_bins * radix[f] > kMostBins) {
      joint.first.push_back(f);
      joint.start.push_back(joint.start.back() + std::exchange(n_bins, 1));
    }
    n_bins *= radix[f];
  }
  if (2 * joint.first.size() > radix.size()) return {};
  joint.first.push_back(radix.size());
  joint.start.push_back(joint.start.back() + n_bins);
  joint.radix = std::move(radix);
  return joint;
}

}  // namespace edgewise
