// The training matrix as bins, laid out for histograms.
//
// Feature f owns the histogram places offset[f] .. offset[f+1]-1: its value bins, then one place
// for missing values if it has any. Two layouts:
// - dense: one code per value, row after row;
// - sparse: rows list only the entries that differ from the feature's most frequent bin (the
//   "usual" one), as histogram places. The usual bin's sum is the node's total minus the others,
//   exactly, because sums are integers.
// Codes are kept column after column beside either, for routing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "binning.hpp"
#include "matrix.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// Features [first, last) whose histogram fits the cache, with their sparse rows.
struct Block {
  int first, last;
  std::uint32_t base;                  // = offset[first]; entries are relative to it
  std::vector<std::uint32_t> start;    // sparse: (n_rows + 1)
  std::vector<std::uint16_t> entries;  // sparse
};

struct BinnedData {
  std::size_t n_rows = 0;
  int n_features = 0;
  Cuts cuts;
  std::vector<std::uint32_t> offset;  // (n_features + 1)
  std::uint32_t stride = 0;           // places of every feature, if all are given as many; else 0
  std::vector<Code> usual;            // (n_features): most frequent bin
  bool sparse = false;
  std::vector<Block> blocks;
  std::vector<Code> columns;  // (n_features, n_rows): bins, for routing rows
  std::vector<Code> codes;    // dense: (n_rows, n_features), the same for histograms

  BinnedData(const Matrix& x, Cuts cuts, const Team& team);

  // From the bins themselves, (n_features, n_rows).
  BinnedData(std::vector<Code> columns, std::size_t n_rows, Cuts cuts, const Team& team);

  std::uint32_t n_places() const { return offset.back(); }
  int n_value_bins(int f) const { return cuts.n_value_bins(static_cast<std::size_t>(f)); }
  bool is_categorical(int f) const { return cuts.categorical[static_cast<std::size_t>(f)]; }
  // Value bins, and one for missing values if there are any.
  int n_bins(int f) const {
    return n_value_bins(f) + cuts.has_missing[static_cast<std::size_t>(f)];
  }
  const Code* column(int f) const { return &columns[static_cast<std::size_t>(f) * n_rows]; }
  Code code(Row row, int f) const { return column(f)[row]; }
  std::size_t bytes() const;

 private:
  void list(const Team& team);
};

}  // namespace edgewise
