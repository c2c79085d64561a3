// The edge criterion of Hamming trees on lanes, in separate parts: scores need no rows, and rows
// may be a part of the data.
#pragma once

#include <cstdint>
#include <vector>

#include "binned.hpp"
#include "lane_tree.hpp"
#include "lanes.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// How signed weights become integers.
struct EdgeScale {
  double fine = 0.0;       // units per 1.0 in the sums of leaves
  double unit = 0.0;       // in histograms
  std::int64_t least = 1;  // units of a row that counts in the search for splits
};

// Of n_rows rows, the largest size of a signed weight given: the fine unit, then the rest from the
// sum of sizes.
double edge_fine_unit(std::size_t n_rows, int n_classes, double largest);
EdgeScale edge_scale(std::size_t n_rows, int n_classes, double fine, double sum, double negligible);

// The requirements of LaneSearch and CategorySearch on a criterion.
class EdgeScore {
 public:
  EdgeScore(int n_classes, double unit)
      : n_classes_(static_cast<std::size_t>(n_classes)),
        lanes_(lanes_for(n_classes)),
        unit_(unit) {}

  std::size_t n_classes() const { return n_classes_; }
  std::size_t lanes() const { return lanes_; }
  Lane count(const Lane* place) const { return place[n_classes_]; }
  bool counts_rows() const { return true; }
  double gain_unit() const { return 1.0 / unit_; }
  double advance(Lane* left, const Lane* bin, const Lane* total) const;
  double unsplit(const Lane* total) const;

  // For sets of categories: the votes v_l = sign(R_l - L_l) of the classes.
  bool one_direction() const { return false; }
  std::size_t n_climbs() const { return 9; }  // all
  double weight(const Lane* place) const { return count(place); }
  void direction(const Lane* left, const Lane* total, double* votes) const {
    for (std::size_t l = 0; l < n_classes_; ++l) votes[l] = total[l] > 2 * left[l] ? 1.0 : -1.0;
  }

 protected:
  std::size_t n_classes_, lanes_;
  double unit_;
};

// The same with rows: their lanes.
class EdgeRows : public EdgeScore {
 public:
  EdgeRows(const double* signed_weights, std::size_t n_rows, int n_classes, EdgeScale scale,
           const Team& team);

  std::vector<Row> rows;  // that count in the search for splits

  void add(Row row, Lane* place) const {
    const Lane* from = &values_[row * lanes_];
    for (std::size_t j = 0; j < lanes_; ++j) add_to(place[j], from[j]);
  }
  void add_dense(const BinnedData& data, FeatureGroup group, const Row* of, std::size_t n,
                 Lane* histogram) const;

 private:
  std::vector<Lane> values_;  // (n_rows, lanes)
};

// Sums of s_il and of |s_il| over the rows of every leaf, in fine units: (n_leaves, 2, n_classes).
std::vector<std::int64_t> edge_leaf_sums(const double* signed_weights, std::size_t n_rows,
                                         std::size_t n_classes, double fine, const Tree& tree,
                                         std::size_t n_leaves, const Team& team);

// Leaves them in tree.sums, with the votes of the last stump above every leaf.
void set_edge_sums(Tree& tree, std::size_t n_classes, double fine,
                   const std::vector<std::int64_t>& sums);

}  // namespace edgewise
