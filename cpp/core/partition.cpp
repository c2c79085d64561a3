#include "partition.hpp"

#include <algorithm>
#include <cstring>

namespace edgewise {
namespace {

constexpr std::size_t kParallelRows = 1 << 16;

struct Router {
  const BinnedData& data;
  int feature;
  Code missing;
  int bin;
  bool plain;  // every row has a value, and a cut parts them
  std::array<bool, 256> left{};

  Router(const BinnedData& d, const Split& split)
      : data(d),
        feature(split.feature),
        missing(static_cast<Code>(d.n_value_bins(split.feature))),
        bin(split.bin),
        plain(!split.categorical && d.column(feature).all &&
              !d.cuts.has_missing[static_cast<std::size_t>(feature)]) {
    if (split.categorical) {
      for (int b = 0; b < missing; ++b) left[static_cast<std::size_t>(b)] = split.left.contains(b);
      return;
    }
    for (int b = 0; b <= split.bin; ++b) left[static_cast<std::size_t>(b)] = true;
    if (data.cuts.has_missing[static_cast<std::size_t>(feature)])
      left[missing] = split.missing_left;
  }

  // Left rows to the front of `rows`, right rows to `right`; no branch depends on the data.
  Partition operator()(Row* rows, std::size_t n, Row* right) const {
    if (plain) return {part_plainly(rows, n, right), false};
    std::size_t n_left = 0, n_right = 0, n_missing = 0;
    data.column(feature).each(rows, n, [&](std::size_t i, Code code) {
      const Row row = rows[i];
      const bool goes_left = left[code];
      n_missing += code == missing;
      rows[n_left] = row;
      right[n_right] = row;
      n_left += goes_left;
      n_right += !goes_left;
    });
    return {n_left, n_missing > 0};
  }

 private:
  std::size_t part_plainly(Row* rows, std::size_t n, Row* right) const {
    const Column& column = data.column(feature);
    const Code* codes = column.all;
    if (column.bytes()) return part(rows, n, right, [&](Row row) { return codes[row]; });
    return part(rows, n, right, [&](Row row) { return column.at(row); });
  }

  template <class CodeOf>
  std::size_t part(Row* rows, std::size_t n, Row* right, CodeOf code_of) const {
    const auto last = static_cast<Code>(bin);
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Row row = rows[i];
      rows[n_left] = right[i - n_left] = row;
      n_left += code_of(row) <= last;
    }
    return n_left;
  }
};

int lowest(const BinSet& bins) {
  int first = 256;
  bins.each([&](int bin) { first = std::min(first, bin); });
  return first;
}

}  // namespace

bool turn_to_majority(const BinnedData& data, const Row* rows, std::size_t n, Split& split) {
  if (split.right.contains(data.n_value_bins(split.feature))) return false;
  std::array<std::size_t, 256> count{};
  data.column(split.feature).each(rows, n, [&](std::size_t, Code code) { ++count[code]; });
  std::size_t n_left = 0, n_right = 0;
  split.left.each([&](int bin) { n_left += count[static_cast<std::size_t>(bin)]; });
  split.right.each([&](int bin) { n_right += count[static_cast<std::size_t>(bin)]; });
  const bool turned = turns(data, split, n_left, n_right);
  if (turned) std::swap(split.left, split.right);
  return turned;
}

bool turns(const BinnedData& data, const Split& split, std::size_t n_left, std::size_t n_right) {
  if (split.right.contains(data.n_value_bins(split.feature))) return false;
  const bool lowest_right = lowest(split.right) < lowest(split.left);
  return n_left > n_right || (n_left == n_right && lowest_right);
}

Partition partition_rows(const BinnedData& data, const Split& split, Row* rows, std::size_t n,
                         Row* scratch, const Team& team) {
  const Router route(data, split);
  if (team.size() == 1 || n < kParallelRows) {
    const Partition p = route(rows, n, scratch);
    std::copy(scratch, scratch + (n - p.n_left), rows + p.n_left);
    return p;
  }
  // Every piece is parted in place, then the pieces are put together in order.
  const std::size_t n_pieces = static_cast<std::size_t>(team.size()) * 2;
  const std::size_t size = (n + n_pieces - 1) / n_pieces;
  std::vector<Partition> piece(n_pieces);
  team.each(n_pieces, [&](std::size_t k, int) {
    const std::size_t begin = std::min(n, k * size), end = std::min(n, begin + size);
    piece[k] = route(rows + begin, end - begin, scratch + begin);
  });
  Partition whole;
  std::vector<std::size_t> left_at, right_at;
  std::size_t n_right = 0;
  for (std::size_t k = 0; k < n_pieces; ++k) {
    const std::size_t begin = std::min(n, k * size), end = std::min(n, begin + size);
    left_at.push_back(whole.n_left);
    right_at.push_back(n_right);
    whole.n_left += piece[k].n_left;
    n_right += end - begin - piece[k].n_left;
    whole.saw_missing |= piece[k].saw_missing;
  }
  // Left parts only move forwards, so an ascending copy never overwrites what is still needed;
  // right rows wait in the scratch space.
  for (std::size_t k = 1; k < n_pieces; ++k)
    std::memmove(rows + left_at[k], rows + std::min(n, k * size), piece[k].n_left * sizeof(Row));
  team.each(n_pieces, [&](std::size_t k, int) {
    const std::size_t begin = std::min(n, k * size), end = std::min(n, begin + size);
    std::copy(scratch + begin, scratch + begin + (end - begin - piece[k].n_left),
              rows + whole.n_left + right_at[k]);
  });
  return whole;
}

}  // namespace edgewise
