// Class trees grown on blocks of rows: the part of those who hold rows, and the part of the one who
// grows the trees from the blocks' sums. The trees are those of class_trees.hpp, bit for bit.
//
// A round takes these trips, all trees side by side:
//   facts     the largest gradient and mass, and their sums: units and thresholds follow
//   begin     the histograms of the roots
//   expand    nodes are parted; the histogram of one child each (once per level)
//   leaf_sums what leaf values are made of
#pragma once

#include <memory>
#include <vector>

#include "blocks.hpp"
#include "class_trees.hpp"
#include "frontier.hpp"
#include "posterior.hpp"

namespace edgewise {

// Figures of a target over the rows of a block, or of all blocks.
struct ClassFacts {
  std::vector<double> largest;     // (n_targets, 3): |g|, h, mass
  std::vector<std::int64_t> sums;  // (n_targets, 2): |g|, mass in the units asked for
};

// How the statistics of a target become integers.
struct ClassScale {
  Derivatives unit;                    // of the sums of leaves
  FixedPoint packed;                   // of histograms
  double sum_g = 0.0, sum_mass = 0.0;  // of absolute values, in packed units
};

// As numbers, kScaleWidth each.
inline constexpr std::size_t kScaleWidth = 6;
std::vector<double> numbers_of(const std::vector<ClassScale>& scales);
std::vector<ClassScale> scales_from(std::span<const double> numbers);

// Units of the sums of facts, from the largest figures of all n rows: (n_targets, 2).
std::vector<double> class_units(std::size_t n, const std::vector<double>& largest);

// From facts in these units.
std::vector<ClassScale> class_scales(std::size_t n, const ClassFacts& facts);

class ClassTreesBlock {
 public:
  ClassTreesBlock(const BinnedData& data, const Posterior& posterior);

  ClassFacts facts(const std::vector<Target>& targets, Criterion criterion,
                   const std::vector<double>& units, const Team& team) const;

  Histograms begin(const std::vector<Target>& targets, Criterion criterion,
                   const std::vector<ClassScale>& scales, std::size_t n_total, double negligible,
                   const Team& team);
  Histograms expand(const std::vector<Expansion>& expansions, const Team& team);

  // Routes all rows through the trees, which have no values yet: (leaves of all trees, 2).
  std::vector<std::int64_t> leaf_sums(const std::vector<Target>& targets,
                                      const std::vector<ClassScale>& scales,
                                      const std::vector<Tree*>& trees, const Team& team) const;

 private:
  struct Growing {  // a tree
    Target target;
    FixedPoint scale;
    RowRanges rows;
  };
  void fill(const Growing& tree, std::span<const Row> rows, std::vector<CountedBin>& bins) const;

  const BinnedData& data_;
  const Posterior& posterior_;
  Criterion criterion_ = Criterion::newton;
  std::vector<Growing> trees_;
};

// Grows the trees of a round from the blocks' sums. `data` has the cuts and no rows.
class ClassTreesDriver {
 public:
  ClassTreesDriver(const BinnedData& data, const GrowLimits& limits,
                   const std::vector<ClassScale>& scales);
  ~ClassTreesDriver();
  ClassTreesDriver(const ClassTreesDriver&) = delete;
  ClassTreesDriver& operator=(const ClassTreesDriver&) = delete;

  // The roots' histograms, (n_targets, n_places).
  void take_roots(std::span<const Packed> sums, std::span<const std::int32_t> counts,
                  const Team& team);

  // Nodes to expand; empty when all trees are done.
  std::vector<Expansion> next();

  // The histograms of the children asked for, in the order of the request.
  void take(std::span<const Packed> sums, std::span<const std::int32_t> counts, const Team& team);

  // The trees, without values of leaves.
  std::vector<Tree> finish();

 private:
  struct State {
    std::vector<CountedBin> histogram;
    std::vector<int> active;  // features not constant in the node
  };
  using Growth = Frontier<State>;
  struct Asked {
    std::size_t tree;
    Growth::Node* node;
    bool build_left;
  };
  void search(std::size_t tree, Growth::Node& node) const;
  bool expand(std::size_t tree, Growth::Node& node, Expansion& expansion);

  const BinnedData& data_;
  GrowLimits limits_;
  std::vector<ClassScale> scales_;
  std::vector<std::unique_ptr<Growth>> growths_;
  std::vector<int> n_ids_;  // nodes of each tree known to the blocks
  std::vector<Asked> asked_;
};

// Gives the leaves of all trees their values from sums (leaves of all trees, 2).
void set_class_leaves(std::vector<Tree*> trees, const std::vector<Target>& targets,
                      const std::vector<ClassScale>& scales, std::span<const std::int64_t> sums,
                      double factor, double shrinkage);

}  // namespace edgewise
