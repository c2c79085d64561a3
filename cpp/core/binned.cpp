#include "binned.hpp"

#include <algorithm>
#include <cmath>

namespace edgewise {
namespace {

constexpr std::uint32_t kBlockPlaces = 16384;  // 128 KiB of packed bins: half of a common L2
constexpr std::size_t kRowsAtOnce = 512;
constexpr double kSparseBelow = 0.4;  // share of unusual entries below which sparse rows pay

// Places of the features in a histogram. Where it wastes little, all get as many: the kernel then
// steps from feature to feature without looking places up.
void lay_out(BinnedData& data) {
  constexpr double kWaste = 1.25;
  std::uint32_t most = 0, total = 0;
  std::vector<std::uint32_t> places;
  for (int f = 0; f < data.n_features; ++f) {
    places.push_back(static_cast<std::uint32_t>(data.n_bins(f)));
    most = std::max(most, places.back());
    total += places.back();
  }
  if (most * static_cast<double>(data.n_features) <= kWaste * total) data.stride = most;
  data.offset.assign(1, 0);
  for (const std::uint32_t n : places)
    data.offset.push_back(data.offset.back() + (data.stride ? data.stride : n));
}

std::vector<Block> cut_into_blocks(const BinnedData& data) {
  std::vector<Block> blocks;
  for (int f = 0; f < data.n_features; ++f) {
    const auto end = data.offset[static_cast<std::size_t>(f) + 1];
    if (blocks.empty() || end - blocks.back().base > kBlockPlaces)
      blocks.push_back({f, f, data.offset[static_cast<std::size_t>(f)], {}, {}});
    blocks.back().last = f + 1;
  }
  return blocks;
}

// Writes the columns, a tile of rows and columns at a time.
void encode(BinnedData& data, const Matrix& x, const Team& team) {
  constexpr std::size_t kColumns = 16;
  const auto d = static_cast<std::size_t>(data.n_features);
  data.columns.resize(data.n_rows * d);
  const std::size_t n_tiles = (data.n_rows + kRowsAtOnce - 1) / kRowsAtOnce;
  team.each(n_tiles, [&](std::size_t tile, int) {
    const std::size_t begin = tile * kRowsAtOnce, end = std::min(data.n_rows, begin + kRowsAtOnce);
    const std::size_t n = end - begin;
    double values[kRowsAtOnce * kColumns];
    for (std::size_t first = 0; first < d; first += kColumns) {
      const std::size_t last = std::min(d, first + kColumns);
      x.columns(begin, end, first, last, values);
      for (std::size_t f = first; f < last; ++f) {
        encode_column(data.cuts, f, values + (f - first) * n, n,
                      &data.columns[f * data.n_rows + begin], 1);
      }
    }
  });
}

// The most frequent bin of every feature and the share of entries that are not in it.
double find_usual(BinnedData& data, const Team& team) {
  std::vector<std::size_t> unusual(static_cast<std::size_t>(data.n_features));
  data.usual.resize(static_cast<std::size_t>(data.n_features));
  team.each(static_cast<std::size_t>(data.n_features), [&](std::size_t f, int) {
    std::vector<std::size_t> count(256);
    for (std::size_t i = 0; i < data.n_rows; ++i) ++count[data.columns[f * data.n_rows + i]];
    const auto most = std::max_element(count.begin(), count.end());
    data.usual[f] = static_cast<Code>(most - count.begin());
    unusual[f] = data.n_rows - *most;
  });
  double total = 0.0;
  for (const std::size_t u : unusual) total += static_cast<double>(u);
  return total / (static_cast<double>(data.n_rows) * data.n_features);
}

void list_rows(BinnedData& data, const Team& team) {
  const auto d = static_cast<std::size_t>(data.n_features);
  data.codes.resize(data.columns.size());
  team.range(data.n_rows, kRowsAtOnce, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t b = begin; b < end; b += 64)
      for (std::size_t f = 0; f < d; ++f)
        for (std::size_t i = b; i < std::min(end, b + 64); ++i)
          data.codes[i * d + f] = data.columns[f * data.n_rows + i];
  });
}

// Lists the unusual entries of every row, block by block.
void list_entries(BinnedData& data, Block& block) {
  block.start.assign(data.n_rows + 1, 0);
  auto unusual = [&](auto&& visit) {
    for (int f = block.first; f < block.last; ++f) {
      const Code* column = data.column(f);
      const Code usual = data.usual[static_cast<std::size_t>(f)];
      for (std::size_t i = 0; i < data.n_rows; ++i)
        if (column[i] != usual) visit(f, i, column[i]);
    }
  };
  unusual([&](int, std::size_t i, Code) { ++block.start[i + 1]; });
  for (std::size_t i = 0; i < data.n_rows; ++i) block.start[i + 1] += block.start[i];
  block.entries.resize(block.start[data.n_rows]);
  std::vector<std::uint32_t> next(block.start.begin(), block.start.end() - 1);
  unusual([&](int f, std::size_t i, Code code) {
    const auto place = data.offset[static_cast<std::size_t>(f)] - block.base + code;
    block.entries[next[i]++] = static_cast<std::uint16_t>(place);
  });
}

}  // namespace

BinnedData::BinnedData(const Matrix& x, Cuts fitted, const Team& team)
    : n_rows(x.rows), n_features(static_cast<int>(x.cols)), cuts(std::move(fitted)) {
  lay_out(*this);
  blocks = cut_into_blocks(*this);
  encode(*this, x, team);
  list(team);
}

BinnedData::BinnedData(std::vector<Code> bins, std::size_t n, Cuts fitted, const Team& team)
    : n_rows(n),
      n_features(static_cast<int>(fitted.of_feature.size())),
      cuts(std::move(fitted)),
      columns(std::move(bins)) {
  lay_out(*this);
  blocks = cut_into_blocks(*this);
  list(team);
}

// Lays the bins out for histograms.
void BinnedData::list(const Team& team) {
  const double unusual = find_usual(*this, team);
  // Places of entries must fit 32 bits.
  sparse = unusual < kSparseBelow && unusual * static_cast<double>(n_rows) * n_features < 0x1p32;
  if (sparse) {
    team.each(blocks.size(), [&](std::size_t b, int) { list_entries(*this, blocks[b]); });
  } else {
    list_rows(*this, team);
  }
}

std::size_t BinnedData::bytes() const {
  std::size_t total = columns.size() + codes.size();
  for (const Block& block : blocks)
    total +=
        block.entries.size() * sizeof(std::uint16_t) + block.start.size() * sizeof(std::uint32_t);
  return total;
}

}  // namespace edgewise
