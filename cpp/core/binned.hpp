// The training matrix as bins, laid out for histograms.
//
// Feature f owns the histogram places offset[f] .. offset[f+1]-1: its value bins, then one place
// for missing values if it has any. Two layouts:
// - dense: one code per value, row after row; beside it, where columns have few bins, one code for
//   several of them (joint.hpp);
// - sparse: rows list only the entries that differ from the feature's most frequent bin (the
//   "usual" one), as histogram places. The usual bin's sum is the node's total minus the others,
//   exactly, because sums are integers.
// Codes are kept column after column beside either, for routing: all of them, those of columns of
// two bins as bits; or, of sparse input, only rows that are not in the column's usual bin.
//
// A column is a feature's; or it has further cuts of one, if more than 255 bins are asked for; or
// it holds groups of the categories of a feature that has too many for bins of their own. Those
// come last. Trees are grown on columns, and a finished tree names features.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "array.hpp"
#include "binning.hpp"
#include "joint.hpp"
#include "matrix.hpp"
#include "threads.hpp"
#include "transposed.hpp"
#include "types.hpp"

namespace edgewise {

// Features [first, last) whose histogram fits the cache, with their sparse rows. Where these are
// about equally long, all are made so (`width`): the shorter ones list places of usual bins that
// are not theirs, which does no harm, since sums of usual bins come from the total.
struct Block {
  int first, last;
  std::uint32_t base;            // = offset[first]; entries are relative to it
  std::size_t width = 0;         // sparse: entries of every row; 0: see start
  Array<std::uint32_t> start;    // sparse, no width: (n_rows + 1)
  Array<std::uint16_t> entries;  // sparse

  std::span<const std::uint16_t> of(Row row) const {
    if (width > 0) return {entries.data() + row * width, width};
    return {entries.data() + start[row], start[row + 1] - start[row]};
  }
};

// Writes eight bits, the lowest first, as eight bytes.
inline void spread_bits(std::uint8_t bits, std::uint8_t* out) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kNthBitOfNthByte = 0x8040201008040201;
  const std::uint64_t chosen = (bits * kOnes) & kNthBitOfNthByte;
  const std::uint64_t bytes = ((chosen + 0x7f * kOnes) >> 7) & kOnes;
  for (int b = 0; b < 8; ++b) out[b] = static_cast<std::uint8_t>(bytes >> (8 * b));
}

// The bins of one column: of all rows, a byte or a bit each, or of those listed, ascending, and the
// usual one for others.
struct Column {
  const Code* all = nullptr;
  std::uint8_t shift = 0;  // 3: bytes of `all` hold eight rows
  const Row* rows = nullptr;
  const Code* codes = nullptr;
  std::size_t n = 0;  // listed
  Code usual = 0;

  bool bytes() const { return all && shift == 0; }
  // Of columns that list no rows, bytes or bits, without a branch.
  Code at(Row row) const {
    const unsigned low = (1u << shift) - 1u, most = 255u >> (shift ? 7 : 0);
    return static_cast<Code>((all[row >> shift] >> (row & low)) & most);
  }
  Code code(Row row) const {
    if (all) return at(row);
    const Row* at = std::lower_bound(rows, rows + n, row);
    return at != rows + n && *at == row ? codes[at - rows] : usual;
  }

  // Calls visit(i, code) for of[0..count), fastest where these rows ascend.
  template <class Visit>
  void each(const Row* of, std::size_t count, Visit visit) const {
    if (bytes()) {
      for (std::size_t i = 0; i < count; ++i) visit(i, all[of[i]]);
      return;
    }
    if (all) {
      for (std::size_t i = 0; i < count; ++i) visit(i, this->at(of[i]));
      return;
    }
    const Row *at = rows, *end = rows + n;
    Row last = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Row row = of[i];
      if (row < last) at = rows;
      last = row;
      std::ptrdiff_t step = 1;
      while (step < end - at && at[step] < row) at += step, step *= 2;
      at = std::lower_bound(at, at + std::min(step, end - at), row);
      visit(i, at != end && *at == row ? codes[at - rows] : usual);
    }
  }

  // Writes the codes of rows [begin, end).
  void copy(std::size_t begin, std::size_t end, Code* out) const {
    if (bytes()) {
      std::copy(all + begin, all + end, out);
      return;
    }
    if (all) return unpack(begin, end, out);
    std::fill(out, out + (end - begin), usual);
    const Row* at = std::lower_bound(rows, rows + n, static_cast<Row>(begin));
    for (; at != rows + n && *at < end; ++at) out[*at - begin] = codes[at - rows];
  }

 private:
  void unpack(std::size_t begin, std::size_t end, Code* out) const {
    std::size_t i = begin;
    for (; i < end && i % 8; ++i) *out++ = at(static_cast<Row>(i));
    for (; i + 8 <= end; i += 8, out += 8) spread_bits(all[i / 8], out);
    for (; i < end; ++i) *out++ = at(static_cast<Row>(i));
  }
};

struct BinnedData {
  std::size_t n_rows = 0;
  int n_features = 0;           // columns of bins
  std::vector<int> feature_of;  // (n_features): the feature of a column
  std::vector<int> varying;     // columns of two bins or more; a wide matrix may have few
  Cuts cuts;
  std::vector<std::uint32_t> offset;  // (n_features + 1)
  std::uint32_t stride = 0;           // places of every feature, if all are given as many; else 0
  std::vector<Code> usual;            // (n_features): most frequent bin
  bool sparse = false;
  std::vector<Block> blocks;
  Array<Code> codes;                     // dense: (n_rows, n_features), for histograms
  JointColumns joint;                    // dense: the same where many columns have few bins
  std::vector<std::uint32_t> column_at;  // sparse and wide: (n_places), the column of a place

  BinnedData(const Matrix& x, Cuts cuts, std::vector<Grouped> grouped, const Team& team);
  BinnedData(const Transposed& x, Cuts cuts, std::vector<Grouped> grouped, const Team& team);

  // From the bins themselves, (n_features, n_rows).
  BinnedData(std::vector<Code> columns, std::size_t n_rows, const Cuts& cuts, const Team& team);
  std::vector<Code> all_columns() const;

  std::uint32_t n_places() const { return offset.back(); }
  int n_value_bins(int f) const { return cuts.n_value_bins(static_cast<std::size_t>(f)); }
  bool is_categorical(int f) const { return cuts.categorical[static_cast<std::size_t>(f)]; }
  int n_bins(int f) const { return cuts.n_bins(static_cast<std::size_t>(f)); }
  // Whether the bins of a categorical column are all its categories, in the order of their values:
  // not where there are too many, nor of groups.
  bool has_all_in_order(int f) const {
    return n_value_bins(f) < kMaxCategories && f < n_features - static_cast<int>(grouped_.size());
  }
  const Column& column(int f) const { return columns_[static_cast<std::size_t>(f)]; }
  Code code(Row row, int f) const { return column(f).code(row); }
  bool has_lists() const { return has_lists_; }
  // Whether it is less work to take n rows out of a histogram than to subtract their own.
  bool pays_to_remove(std::size_t n) const {
    return !column_at.empty() && 4.0 * static_cast<double>(n) * n_per_row_ < n_places();
  }
  // Whether it is less work to count the entries of n rows than to search all places.
  bool pays_to_count(std::size_t n) const {
    return !column_at.empty() && static_cast<double>(n) * n_per_row_ < 4.0 * n_places();
  }
  // Whether it is less work to go through all columns than to look up n rows in every block.
  bool pays_by_columns(std::size_t n) const {
    const double per_row = static_cast<double>(blocks.size()) + n_per_row_;
    return !column_at.empty() && static_cast<double>(n) * per_row > cost_of_columns_;
  }
  // The categories in some bins of a categorical column, ascending.
  std::vector<double> categories_in(int f, const BinSet& bins) const;
  std::size_t bytes() const;

  // Room for all arrays that grow with the rows, and their move there.
  std::size_t room() const;
  void settle(Room& room);

  // Columns point into arrays, which a move takes along.
  BinnedData(const BinnedData&) = delete;
  BinnedData(BinnedData&&) = default;

 private:
  struct Encoded;

  BinnedData(std::size_t rows, std::size_t cols, Cuts cuts, std::vector<Grouped> grouped);
  void make_room(const Transposed& x, const Encoded& encoded);
  void fill(const Transposed& x, const Encoded& encoded, std::size_t f);
  void take_groups();
  void find_usual(const Team& team);
  void lay_out_rows(const Team& team);
  void pack_columns(const Team& team);
  // Calls visit(array) for each array that grows with the rows.
  template <class Data, class Visit>
  static void each_array(Data& data, Visit visit);

  double n_per_row_ = 0.0;              // sparse: entries of a row
  double cost_of_columns_ = 0.0;        // sparse: entries and bytes that a pass over columns reads
  bool has_lists_ = false;              // whether some column lists rows
  std::vector<std::size_t> n_unusual_;  // (n_features): rows not in the usual bin
  std::vector<Column> columns_;         // (n_features)
  Array<Code> all_codes_, packed_codes_, listed_codes_;
  Array<Row> listed_rows_;
  std::vector<Grouped> grouped_;  // of the last columns; without codes
};

// Bins a matrix, whatever its kind.
BinnedData bin_matrix(const Matrix& x, const double* weights, int max_bins,
                      const std::vector<int>& categorical, std::vector<Grouped> grouped,
                      const Team& team);

}  // namespace edgewise
