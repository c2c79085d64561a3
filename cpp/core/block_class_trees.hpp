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
#include "level_driver.hpp"
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

// What the driver of class trees knows of histograms.
class ClassHistograms {
 public:
  struct State {
    std::vector<CountedBin> histogram;
    std::vector<int> active;  // features not constant in the node
  };
  struct Sums {  // (n_nodes, n_places)
    std::span<const Packed> sums;
    std::span<const std::int32_t> counts;
  };

  // `data` has the cuts and no rows.
  ClassHistograms(const BinnedData& data, int min_samples, std::vector<ClassScale> scales)
      : data_(data), min_samples_(min_samples), scales_(std::move(scales)) {}

  State read(const Sums& sums, std::size_t i) const {
    const std::size_t size = data_.n_places();
    return {bins_of(sums.sums.subspan(i * size, size), sums.counts.subspan(i * size, size)), {}};
  }
  void subtract(State& a, const State& b) const {
    for (std::size_t p = 0; p < a.histogram.size(); ++p) a.histogram[p] -= b.histogram[p];
  }
  std::size_t n_rows(const State& s) const {
    return static_cast<std::size_t>(total_of(data_, s.histogram).n());
  }
  std::size_t count(const State& s, std::size_t place) const {
    return static_cast<std::size_t>(s.histogram[place].n());
  }
  void search(std::size_t tree, Twig<State>& node, const Team& team) const;

 private:
  const BinnedData& data_;
  int min_samples_;
  std::vector<ClassScale> scales_;
};

// Grows the trees of a round.
using ClassTreesDriver = LevelDriver<ClassHistograms>;

// Gives the leaves of all trees their values from sums (leaves of all trees, 2).
void set_class_leaves(std::vector<Tree*> trees, const std::vector<Target>& targets,
                      const std::vector<ClassScale>& scales, std::span<const std::int64_t> sums,
                      double factor, double shrinkage);

}  // namespace edgewise
