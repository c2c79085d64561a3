#include "block_hamming_tree.hpp"

#include <algorithm>

namespace edgewise {

HammingTreeBlock::HammingTreeBlock(const BinnedData& data) : data_(data) {}

std::vector<Lane> HammingTreeBlock::begin(const double* signed_weights, int n_classes,
                                          EdgeScale scale, const Team& team) {
  lanes_ = std::make_unique<EdgeRows>(signed_weights, data_.n_rows, n_classes, scale, team);
  rows_.plant(lanes_->rows);
  std::vector<Lane> histogram(data_.n_places() * lanes_->lanes());
  fill(rows_.of(0), histogram.data(), team);
  return histogram;
}

std::vector<Lane> HammingTreeBlock::expand(const std::vector<Expansion>& expansions,
                                           const Team& team) {
  const std::size_t size = data_.n_places() * lanes_->lanes();
  const std::size_t first = rows_.n_nodes();
  std::vector<Lane> histograms(expansions.size() * size);
  rows_.make_room(expansions.size());
  team.each(expansions.size(), [&](std::size_t i, int slot) {
    const std::size_t left = first + 2 * i;
    rows_.part(data_, expansions[i], left, team.alone(slot));
    fill(rows_.of(left + (expansions[i].build == Build::right)), &histograms[i * size],
         team.alone(slot));
  });
  return histograms;
}

void HammingTreeBlock::fill(std::span<const Row> rows, Lane* out, const Team& team) const {
  const LaneRows<EdgeRows> row_side(data_, *lanes_, team);
  row_side.fill(rows, all_columns(data_), row_side.total(rows).data(), out, team);
}

void HammingHistograms::search(std::size_t, Node& node, const Team& team) const {
  State& s = node.state;
  const std::size_t lanes = score_.lanes();
  std::vector<Lane> total(lanes);
  for (std::size_t p = 0; p < data_.offset[1] * lanes; ++p) total[p % lanes] += s.histogram[p];
  const LaneSearch search(data_, limits_, score_);
  node.split = search({total.data(), node.key}, s.active, team, [&](int f, int, auto look) {
    look(&s.histogram[data_.offset[static_cast<std::size_t>(f)] * lanes]);
  });
}

template class LevelDriver<HammingHistograms>;

}  // namespace edgewise
