// Rows in blocks: what travels between the workers, which hold the rows of parts of the data, and
// the driver, which grows the tree. All sums are sums of integers, so they do not depend on how the
// rows were distributed.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "binned.hpp"
#include "forest.hpp"
#include "histogram.hpp"
#include "partition.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

enum class Build : int { none = -1, left = 0, right = 1 };

// The request to part a node. Its children have the next two numbers of its tree, left first.
struct Expansion {
  int tree = 0, node = 0;
  Split split;
  Build build = Build::none;  // whose statistics are wanted

  // As numbers: kWidth each.
  static constexpr std::size_t kWidth = 11;
  void append_to(std::vector<std::int64_t>& numbers) const;
  static std::vector<Expansion> from(std::span<const std::int64_t> numbers);
};

// Histograms of several nodes, (n_nodes, n_places): packed statistics and, if `counted`, numbers of
// rows.
struct Histograms {
  std::vector<Packed> sums;
  std::vector<std::int32_t> counts;

  Histograms(std::size_t n_nodes, std::size_t n_places, bool counted = true)
      : sums(n_nodes * n_places), counts(counted ? n_nodes * n_places : 0) {}
  void put(std::size_t node, const std::vector<CountedBin>& bins);
  void put(std::size_t node, const std::vector<PlainBin>& bins);
};

// The histogram of one node, put together again.
std::vector<CountedBin> bins_of(std::span<const Packed> sums, std::span<const std::int32_t> counts);
std::vector<PlainBin> bins_of(std::span<const Packed> sums);

// The numbers of all columns.
std::vector<int> all_columns(const BinnedData& data);

// Sum over all places of a feature: every row is in one of them.
template <class Bin>
Bin total_of(const BinnedData& data, const std::vector<Bin>& bins) {
  Bin total;
  for (std::size_t b = 0; b < data.offset[1]; ++b) total += bins[b];
  return total;
}

// The rows of a block in the nodes of one tree.
class RowRanges {
 public:
  struct Range {
    std::size_t begin, end;
  };

  RowRanges() = default;
  RowRanges(const RowRanges&) = delete;
  RowRanges(RowRanges&&) = default;  // the rows stay where they are

  // Moves into lent room for this number of rows, if there is some.
  void plant(std::vector<Row> rows, Row* lent = nullptr);
  void make_room(std::size_t n_expansions);  // before several threads part nodes
  Partition part(const BinnedData& data, const Expansion& expansion, std::size_t left_child,
                 const Team& team);

  std::size_t n_nodes() const { return ranges_.size(); }
  std::span<const Row> of(std::size_t node) const {
    assert(node < ranges_.size());
    return {rows_ + ranges_[node].begin, ranges_[node].end - ranges_[node].begin};
  }
  Range range(std::size_t node) const { return ranges_[node]; }

 private:
  std::vector<Row> own_;
  Row* rows_ = nullptr;        // in own_ or in lent room
  std::vector<Range> ranges_;  // by node
};

// The bins of sparse data as they travel: of every column the rows that are not in the bin of zero.
struct ListedBins {
  std::vector<std::int64_t> start;  // (n_columns + 1)
  std::vector<Row> rows;            // ascending in every column
  std::vector<Code> codes;
};
ListedBins listed_bins(const BinnedData& data);
// Data again; an error if the lists are not of so many rows and these cuts.
BinnedData binned_from_lists(const ListedBins& bins, std::size_t n_rows, const Cuts& cuts,
                             const Team& team);

// The trees of a stored model on the bins of a block; thresholds must be cuts of the block.
std::vector<Tree> binned_trees(const Cuts& cuts, const ForestArrays& forest);

std::size_t n_leaves(const Tree& tree);

// Finds the leaves of all rows; sets tree.leaf_of_row.
void route_all(const BinnedData& data, Tree& tree, const Team& team);

}  // namespace edgewise
