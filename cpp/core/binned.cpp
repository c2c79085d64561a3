#include "binned.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "checks.hpp"

namespace edgewise {
namespace {

constexpr std::uint32_t kBlockPlaces = 16384;  // 128 KiB of packed bins: half of a common L2
constexpr std::uint32_t kMostPlaces = 65536;   // entries are 16-bit numbers
constexpr double kFewEntries = 8.0;            // of a row in a block: a larger block then pays
constexpr std::size_t kRowsAtOnce = 512;
constexpr int kWide = 512;  // columns from which it pays to look for those that cannot be split
constexpr double kSparseBelow = 0.4;  // share of unusual entries below which sparse rows pay

// Places of the features in a histogram. If it wastes little, all get the same number, so that the
// kernel steps from feature to feature without looking up places.
void lay_out(BinnedData& data) {
  constexpr double kWaste = 1.25;
  std::uint32_t most = 0;
  std::uint64_t total = 0;
  std::vector<std::uint32_t> places;
  for (int f = 0; f < data.n_features; ++f) {
    places.push_back(static_cast<std::uint32_t>(data.n_bins(f)));
    most = std::max(most, places.back());
    total += places.back();
  }
  if (total >= std::uint64_t{1} << 31)
    throw std::invalid_argument("all columns together must have fewer than 2^31 bins");
  const double even = most * static_cast<double>(data.n_features);
  if (even <= kWaste * static_cast<double>(total) && even < 0x1p31) data.stride = most;
  data.offset.assign(1, 0);
  for (const std::uint32_t n : places)
    data.offset.push_back(data.offset.back() + (data.stride ? data.stride : n));
}

std::vector<Block> cut_into_blocks(const BinnedData& data, std::uint32_t most_places) {
  std::vector<Block> blocks;
  for (int f = 0; f < data.n_features; ++f) {
    const auto end = data.offset[static_cast<std::size_t>(f) + 1];
    if (blocks.empty() || end - blocks.back().base > most_places)
      blocks.push_back({f, f, data.offset[static_cast<std::size_t>(f)], 0, {}, {}});
    blocks.back().last = f + 1;
  }
  return blocks;
}

// Writes the columns (n_columns, n_rows), a tile of rows and columns at a time.
void encode(const Cuts& cuts, const Matrix& x, Code* out, const Team& team) {
  constexpr std::size_t kColumns = 16;
  const std::size_t n_tiles = (x.rows + kRowsAtOnce - 1) / kRowsAtOnce;
  team.each(n_tiles, [&](std::size_t tile, int) {
    const std::size_t begin = tile * kRowsAtOnce, end = std::min(x.rows, begin + kRowsAtOnce);
    const std::size_t n = end - begin;
    double values[kRowsAtOnce * kColumns];
    for (std::size_t first = 0; first < x.cols; first += kColumns) {
      const std::size_t last = std::min(x.cols, first + kColumns);
      x.columns(begin, end, first, last, values, n);
      for (std::size_t f = first; f < last; ++f)
        encode_column(cuts, f, values + (f - first) * n, n, out + f * x.rows + begin, 1);
    }
    for (std::size_t c = 0; c < cuts.finer.size(); ++c) {
      const auto f = static_cast<std::size_t>(cuts.finer[c]);
      x.columns(begin, end, f, f + 1, values, n);
      encode_column(cuts, x.cols + c, values, n, out + (x.cols + c) * x.rows + begin, 1);
    }
  });
}

// How often each bin occurs in a column.
struct Counts {
  std::array<std::size_t, 256> of_bin{};

  void add(const Code* codes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) ++of_bin[codes[i]];
  }
  Code usual() const {
    return static_cast<Code>(std::max_element(of_bin.begin(), of_bin.end()) - of_bin.begin());
  }
};

void list_rows(BinnedData& data, const Team& team) {
  const auto d = static_cast<std::size_t>(data.n_features);
  data.codes.resize(data.n_rows * d);
  team.range(data.n_rows, kRowsAtOnce, [&](std::size_t begin, std::size_t end, int) {
    Code part[64];
    for (std::size_t b = begin; b < end; b += 64) {
      const std::size_t e = std::min(end, b + 64);
      for (std::size_t f = 0; f < d; ++f) {
        data.column(static_cast<int>(f)).copy(b, e, part);
        for (std::size_t i = b; i < e; ++i) data.codes[i * d + f] = part[i - b];
      }
    }
  });
}

// A joint code counts in the columns' bins as a number counts in digits.
void join_rows(BinnedData& data, const Team& team) {
  std::vector<std::uint32_t> radix;
  for (int f = 0; f < data.n_features; ++f)
    radix.push_back(static_cast<std::uint32_t>(data.n_bins(f)));
  data.joint = join_columns(std::move(radix));
  const std::size_t n_joint = data.joint.size(), d = static_cast<std::size_t>(data.n_features);
  data.joint.codes.resize(data.n_rows * n_joint);
  team.range(n_joint ? data.n_rows : 0, kRowsAtOnce, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) {
      const Code* row = &data.codes[i * d];
      for (std::size_t j = 0; j < n_joint; ++j) {
        std::uint32_t code = 0;
        for (std::size_t f = data.joint.first[j]; f < data.joint.first[j + 1]; ++f)
          code = code * data.joint.radix[f] + row[f];
        data.joint.codes[i * n_joint + j] = static_cast<std::uint16_t>(code);
      }
    }
  });
}

// Calls visit(row, code) for the rows of a column that are not in its usual bin, ascending.
template <class Visit>
void each_unusual(const Column& column, std::size_t n_rows, Visit visit) {
  if (!column.all) {
    for (std::size_t e = 0; e < column.n; ++e) visit(column.rows[e], column.codes[e]);
    return;
  }
  for (std::size_t i = 0; i < n_rows; ++i)
    if (column.all[i] != column.usual) visit(i, column.all[i]);
}

// Entries of every row in a block, if filling up the shorter rows costs little; else 0.
std::size_t common_width(const std::vector<std::uint32_t>& n_entries) {
  constexpr double kWaste = 1.2;
  if (n_entries.empty()) return 0;
  const std::size_t most = *std::max_element(n_entries.begin(), n_entries.end());
  const auto total = std::accumulate(n_entries.begin(), n_entries.end(), std::uint64_t{0});
  const auto filled = static_cast<double>(most) * static_cast<double>(n_entries.size());
  return filled <= kWaste * static_cast<double>(total) && filled < 0x1p32 ? most : 0;
}

// Where the entries of every row begin. Rows of one width are filled with usual bins, each of
// another column, so that no sum of them exceeds the total.
std::vector<std::uint32_t> start_of_rows(const BinnedData& data, Block& block,
                                         const std::vector<std::uint32_t>& n_entries) {
  std::vector<std::uint32_t> start(data.n_rows + 1, 0);
  for (std::size_t i = 0; i < data.n_rows; ++i)
    start[i + 1] =
        start[i] + (block.width ? static_cast<std::uint32_t>(block.width) : n_entries[i]);
  block.entries.resize(start[data.n_rows]);
  for (std::size_t i = 0; i < data.n_rows && block.width > 0; ++i)
    for (std::size_t e = n_entries[i]; e < block.width; ++e) {
      const std::size_t f = static_cast<std::size_t>(block.first) + e;
      block.entries[start[i] + e] =
          static_cast<std::uint16_t>(data.offset[f] - block.base + data.usual[f]);
    }
  return start;
}

// Lists the unusual entries of every row, block by block.
void list_entries(const BinnedData& data, Block& block) {
  std::vector<std::uint32_t> n_entries(data.n_rows);
  for (int f = block.first; f < block.last; ++f)
    each_unusual(data.column(f), data.n_rows, [&](std::size_t i, Code) { ++n_entries[i]; });
  block.width = data.n_features < kWide ? common_width(n_entries) : 0;
  auto next = start_of_rows(data, block, n_entries);
  if (block.width == 0) block.start = std::vector<std::uint32_t>(next);
  for (int f = block.first; f < block.last; ++f)
    each_unusual(data.column(f), data.n_rows, [&](std::size_t i, Code code) {
      const auto place = data.offset[static_cast<std::size_t>(f)] - block.base + code;
      block.entries[next[i]++] = static_cast<std::uint16_t>(place);
    });
}

}  // namespace

BinnedData::BinnedData(std::size_t rows, std::size_t cols, Cuts fitted,
                       std::vector<Grouped> grouped)
    : n_rows(rows),
      n_features(static_cast<int>(fitted.of_feature.size())),
      feature_of(cols),
      cuts(std::move(fitted)),
      usual(cuts.of_feature.size()),
      n_unusual_(cuts.of_feature.size()),
      columns_(cuts.of_feature.size()),
      grouped_(std::move(grouped)) {
  std::iota(feature_of.begin(), feature_of.end(), 0);
  feature_of.insert(feature_of.end(), cuts.finer.begin(), cuts.finer.end());
  for (const Grouped& g : grouped_) feature_of.push_back(g.feature);
  for (int f = 0; f < n_features; ++f)
    if (n_bins(f) > 1) varying.push_back(f);
  lay_out(*this);
}

BinnedData::BinnedData(const Matrix& x, Cuts fitted, std::vector<Grouped> grouped, const Team& team)
    : BinnedData(x.rows, x.cols, std::move(fitted), std::move(grouped)) {
  all_codes_.resize(n_rows * columns_.size());
  encode(cuts, x, all_codes_.data(), team);
  for (std::size_t f = 0; f < columns_.size(); ++f)
    columns_[f].all = all_codes_.data() + f * n_rows;
  take_groups();
  find_usual(team);
  lay_out_rows(team);
  pack_columns(team);
}

BinnedData::BinnedData(std::vector<Code> bins, std::size_t n, const Cuts& fitted, const Team& team)
    : BinnedData(n, fitted.of_feature.size() - fitted.finer.size(), fitted, {}) {
  need_codes(bins, n, cuts);
  all_codes_ = std::move(bins);
  for (std::size_t f = 0; f < columns_.size(); ++f)
    columns_[f].all = all_codes_.data() + f * n_rows;
  find_usual(team);
  lay_out_rows(team);
  pack_columns(team);
}

std::vector<Code> BinnedData::all_columns() const {
  std::vector<Code> bins(columns_.size() * n_rows);
  for (std::size_t f = 0; f < columns_.size(); ++f)
    columns_[f].copy(0, n_rows, bins.data() + f * n_rows);
  return bins;
}

void BinnedData::find_usual(const Team& team) {
  team.each(columns_.size(), [&](std::size_t f, int) {
    Counts counts;
    counts.add(columns_[f].all, n_rows);
    columns_[f].usual = usual[f] = counts.usual();
    n_unusual_[f] = n_rows - counts.of_bin[usual[f]];
  });
}

// The bins of a sparse matrix's entries, and of zero in every column.
struct BinnedData::Encoded {
  std::vector<Code> entries, zero;
  std::vector<std::uint8_t> listed;  // whether the column is to list rows

  Encoded(const Transposed& x, BinnedData& data, const Team& team)
      : entries(x.value.size()), zero(x.cols), listed(x.cols) {
    constexpr std::size_t kListed = sizeof(Row) + sizeof(Code);  // bytes; else one for each row
    team.each(x.cols, [&](std::size_t f, int) {
      const double nothing = 0.0;
      encode_column(data.cuts, f, &nothing, 1, &zero[f], 1);
      Code* of_column = entries.data() + x.start[f];
      encode_column(data.cuts, f, x.value.data() + x.start[f], x.n_entries(f), of_column, 1);
      const auto [code, n_others] = usual_of(of_column, x.n_entries(f), zero[f], x.rows);
      data.columns_[f].usual = data.usual[f] = code;
      data.n_unusual_[f] = n_others;
      listed[f] = code == zero[f] && data.n_unusual_[f] * kListed < x.rows;
    });
  }

  // The most frequent code of a column, the lowest of equals, and how many rows have another.
  static std::pair<Code, std::size_t> usual_of(const Code* entries, std::size_t n, Code zero,
                                               std::size_t n_rows) {
    if (n < n_rows - n)  // it is zero: most columns of wide matrices have few entries, or none
      return {zero, n - static_cast<std::size_t>(std::count(entries, entries + n, zero))};
    Counts counts;
    counts.add(entries, n);
    counts.of_bin[zero] += n_rows - n;
    return {counts.usual(), n_rows - counts.of_bin[counts.usual()]};
  }
};

BinnedData::BinnedData(const Transposed& x, Cuts fitted, std::vector<Grouped> grouped,
                       const Team& team)
    : BinnedData(x.rows, x.cols, std::move(fitted), std::move(grouped)) {
  const Encoded encoded(x, *this, team);
  make_room(x, encoded);
  team.each(x.cols, [&](std::size_t f, int) { fill(x, encoded, f); });
  take_groups();
  for (std::size_t f = x.cols; f < columns_.size(); ++f) {
    Counts counts;
    counts.add(columns_[f].all, n_rows);
    columns_[f].usual = usual[f] = counts.usual();
    n_unusual_[f] = n_rows - counts.of_bin[usual[f]];
  }
  lay_out_rows(team);
  pack_columns(team);
}

void BinnedData::make_room(const Transposed& x, const Encoded& encoded) {
  std::size_t n_listed = 0, n_whole = grouped_.size();
  for (std::size_t f = 0; f < x.cols; ++f) {
    n_listed += encoded.listed[f] ? n_unusual_[f] : 0;
    n_whole += !encoded.listed[f];
  }
  has_lists_ = n_whole < columns_.size();
  listed_rows_.resize(n_listed), listed_codes_.resize(n_listed);
  all_codes_.resize(n_whole * n_rows);
  const Row* rows = listed_rows_.data();
  const Code *codes_of_rows = listed_codes_.data(), *all = all_codes_.data();
  for (std::size_t f = 0; f < columns_.size(); ++f) {
    Column& column = columns_[f];
    if (f < x.cols && encoded.listed[f]) {
      column.rows = rows, column.codes = codes_of_rows, column.n = n_unusual_[f];
      rows += column.n, codes_of_rows += column.n;
    } else {
      column.all = all;
      all += n_rows;
    }
  }
}

void BinnedData::fill(const Transposed& x, const Encoded& encoded, std::size_t f) {
  const Column& column = columns_[f];
  if (column.all) {
    Code* all = all_codes_.data() + (column.all - all_codes_.data());
    std::fill(all, all + n_rows, encoded.zero[f]);
    for (std::size_t e = x.start[f]; e < x.start[f + 1]; ++e) all[x.row[e]] = encoded.entries[e];
    return;
  }
  auto at = static_cast<std::size_t>(column.rows - listed_rows_.data());
  for (std::size_t e = x.start[f]; e < x.start[f + 1]; ++e) {
    if (encoded.entries[e] == column.usual) continue;
    listed_rows_[at] = x.row[e];
    listed_codes_[at++] = encoded.entries[e];
  }
}

void BinnedData::take_groups() {
  for (std::size_t g = 0; g < grouped_.size(); ++g) {
    const Column& column = columns_[columns_.size() - grouped_.size() + g];
    std::copy(grouped_[g].codes.begin(), grouped_[g].codes.end(),
              all_codes_.begin() + (column.all - all_codes_.data()));
    release(grouped_[g].codes);
  }
}

void BinnedData::lay_out_rows(const Team& team) {
  const auto unusual =
      static_cast<double>(std::accumulate(n_unusual_.begin(), n_unusual_.end(), std::size_t{0}));
  const double share = unusual / (static_cast<double>(n_rows) * n_features);
  sparse = share < kSparseBelow && unusual < 0x1p32;  // places of entries must fit 32 bits
  if (!sparse) {
    blocks = cut_into_blocks(*this, kBlockPlaces);
    list_rows(*this, team);
    join_rows(*this, team);
    return;
  }
  const double n_blocks = static_cast<double>(n_places()) / kBlockPlaces;
  const bool few = unusual < kFewEntries * static_cast<double>(n_rows) * n_blocks;
  blocks = cut_into_blocks(*this, few ? kMostPlaces : kBlockPlaces);
  team.each(blocks.size(), [&](std::size_t b, int) { list_entries(*this, blocks[b]); });
  n_per_row_ = unusual / static_cast<double>(n_rows);
  // A column that lists no rows is read whole, however few rows the node has.
  cost_of_columns_ = static_cast<double>(n_rows);
  for (const Column& column : columns_)
    cost_of_columns_ += static_cast<double>(column.all ? n_rows : column.n);
  if (n_features < kWide) return;
  for (std::uint32_t f = 0; f < static_cast<std::uint32_t>(n_features); ++f)
    column_at.resize(offset[f + 1], f);
}

// Columns of two bins become bits; those of bytes move together.
void BinnedData::pack_columns(const Team& team) {
  std::vector<std::size_t> to_pack;
  for (std::size_t f = 0; f < columns_.size(); ++f)
    if (columns_[f].all && n_bins(static_cast<int>(f)) <= 2) to_pack.push_back(f);
  if (to_pack.empty() || n_rows == 0) return;
  const std::size_t n_bytes = (n_rows + 7) / 8;
  packed_codes_.resize(to_pack.size() * n_bytes);
  team.each(to_pack.size(), [&](std::size_t i, int) {
    Column& column = columns_[to_pack[i]];
    Code* bits = &packed_codes_[i * n_bytes];
    for (std::size_t row = 0; row < n_rows; ++row)
      bits[row / 8] = static_cast<Code>(bits[row / 8] | column.all[row] << (row % 8));
    column.all = bits, column.shift = 3;
  });
  std::vector<Code> kept;
  kept.reserve(all_codes_.size() - to_pack.size() * n_rows);
  for (Column& column : columns_)
    if (column.bytes()) {
      kept.insert(kept.end(), column.all, column.all + n_rows);
      column.all = kept.data() + (kept.size() - n_rows);
    }
  all_codes_ = std::move(kept);  // whose items stay where they are
}

std::vector<double> BinnedData::categories_in(int f, const BinSet& bins) const {
  std::vector<double> values;
  const std::size_t n_own = feature_of.size() - grouped_.size(), u = static_cast<std::size_t>(f);
  if (u < n_own) {
    bins.each([&](int b) { values.push_back(cuts.of_feature[u][static_cast<std::size_t>(b)]); });
  } else {
    const Grouped& g = grouped_[u - n_own];
    for (std::size_t i = 0; i < g.values.size(); ++i)
      if (bins.contains(g.group[i])) values.push_back(g.values[i]);
  }
  return values;
}

template <class Data, class Visit>
void BinnedData::each_array(Data& data, Visit visit) {
  visit(data.codes), visit(data.joint.codes);
  visit(data.all_codes_), visit(data.packed_codes_);
  visit(data.listed_codes_), visit(data.listed_rows_);
  for (auto& block : data.blocks) visit(block.entries), visit(block.start);
}

std::size_t BinnedData::bytes() const {
  std::size_t total = column_at.size() * sizeof(std::uint32_t);
  each_array(*this, [&](const auto& array) { total += array.n_bytes(); });
  return total;
}

std::size_t BinnedData::room() const {
  std::size_t total = 0;
  each_array(*this, [&](const auto& array) { total += Room::padded(array.n_bytes()); });
  return total;
}

void BinnedData::settle(Room& room) {
  if (this->room() > room.left()) throw std::invalid_argument("there is too little room");
  const Code *all = all_codes_.data(), *packed = packed_codes_.data();
  const Code* listed = listed_codes_.data();
  const Row* rows = listed_rows_.data();
  each_array(*this, [&](auto& array) { array.settle(room); });
  for (Column& column : columns_) {
    if (column.all && column.shift)
      column.all = packed_codes_.data() + (column.all - packed);
    else if (column.all)
      column.all = all_codes_.data() + (column.all - all);
    else {
      column.rows = listed_rows_.data() + (column.rows - rows);
      column.codes = listed_codes_.data() + (column.codes - listed);
    }
  }
}

BinnedData bin_matrix(const Matrix& x, const double* weights, int max_bins,
                      const std::vector<int>& categorical, std::vector<Grouped> grouped,
                      const Team& team) {
  need_rows_and_columns(x.rows, x.cols);
  if (weights) need_weights({weights, x.rows}, x.rows);
  if (max_bins < 2) throw std::invalid_argument("there must be two bins or more");
  auto bin = [&](const auto& matrix) {
    Cuts cuts = fit_cuts(matrix, weights, max_bins, categorical, grouped, team);
    return BinnedData(matrix, std::move(cuts), std::move(grouped), team);
  };
  return x.is_sparse() ? bin(Transposed(x)) : bin(x);
}

}  // namespace edgewise
