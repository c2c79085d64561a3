// Class trees grown on blocks of rows: the part of the workers, which hold rows, and the part of
// the driver, which grows the trees from the blocks' sums. The trees are those of class_trees.hpp,
// bit for bit.
//
// A round takes these trips, all trees side by side:
//   facts     the largest gradient and mass, and their sums: units and thresholds follow
//   begin     the histograms of the roots
//   expand    nodes are parted; the histogram of one child each (once per level)
//   leaf_sums what leaf values are made of
#pragma once

#include <memory>
#include <span>
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

// What blocks return for expansions.
struct ClassAnswers {
  Histograms histograms;
  std::vector<std::int64_t> sides;  // if wanted: exact sums of g and h on both sides, (n, 4)
};

class ClassTreesBlock {
 public:
  ClassTreesBlock(const BinnedData& data, const Posterior& posterior);
  ClassTreesBlock(const ClassTreesBlock&) = delete;

  // Room for the rows of nodes of a tree per class, and their move there.
  std::size_t room() const;
  void settle(Room& room);

  // Learns only from some rows, (n_rows), until the next call; null: from all.
  void draw(const std::uint8_t* drawn);

  ClassFacts facts(const std::vector<Target>& targets, Criterion criterion,
                   const std::vector<double>& units, const Team& team) const;

  // `n_counted` rows of all blocks are learned from.
  Histograms begin(const std::vector<Target>& targets, Criterion criterion,
                   const std::vector<ClassScale>& scales, std::size_t n_counted, double negligible,
                   const Team& team);
  ClassAnswers expand(const std::vector<Expansion>& expansions, bool sides, const Team& team);

  // Routes all rows through the trees, which have no values yet: (leaves of all trees, 2).
  std::vector<std::int64_t> leaf_sums(const std::vector<Target>& targets,
                                      const std::vector<ClassScale>& scales,
                                      const std::vector<Tree*>& trees, const Team& team) const;

 private:
  struct Growing {  // a tree
    Target target;
    ClassScale scale;
    RowRanges rows;
  };
  struct Piece;
  // Calls use(rows, piece) with some of the rows at a time and their derivatives.
  template <class Use>
  void each_piece(const Growing& tree, std::span<const Row> rows, Use use) const;
  void fill(const Growing& tree, std::span<const Row> rows, std::vector<CountedBin>& bins) const;
  ClassSum sum(const Growing& tree, std::span<const Row> rows) const;

  const double* weights() const { return drawn_.empty() ? posterior_.weights() : drawn_.data(); }

  const BinnedData& data_;
  const Posterior& posterior_;
  Criterion criterion_ = Criterion::newton;
  std::vector<double> drawn_;  // (n_rows): weights, zero where not drawn; none: all are drawn
  std::vector<Growing> trees_;
  std::vector<Row*> lent_rows_;  // room for the rows of the first trees
};

// The trees of a round as their driver sees them.
struct ClassTask {
  std::vector<Target> targets;
  Criterion criterion;
  double factor, shrinkage;
  std::vector<ClassScale> scales;
};

// The search side of class trees on the sums of all blocks.
class ClassHistograms {
 public:
  using State = ChannelState<CountedBin>;
  using Node = Leaf<State>;
  struct Sums {
    std::span<const Packed> sums;  // (n_nodes, n_places)
    std::span<const std::int32_t> counts;
    std::span<const std::int64_t> sides;
  };

  // `data` has the cuts and no rows.
  ClassHistograms(const BinnedData& data, const GrowLimits& limits, const ClassTask& task);

  State read(const Sums& sums, std::size_t i) const;
  void subtract(State& a, const State& b) const;
  std::size_t n_rows(const State& s) const { return static_cast<std::size_t>(s.total.n()); }
  std::size_t count(const State& s, std::size_t place) const {
    return static_cast<std::size_t>(s.histogram[place].n());
  }
  std::vector<int> features(std::size_t tree) const { return searches_[tree].features(); }
  void search(std::size_t tree, Node& node, const Team&) const { searches_[tree](node); }
  bool has_bounds(std::size_t tree) const { return searches_[tree].directions.any(); }
  void part_bounds(std::size_t tree, Node& node, const Sums& sums, std::size_t i) const;

  const NewtonSteps& steps(std::size_t tree) const { return steps_[tree]; }

 private:
  const BinnedData& data_;
  std::shared_ptr<const GrowLimits> limits_;  // on the heap, so that it stays when its owner moves
  std::vector<ChannelSearch<CountedBin>> searches_;
  std::vector<NewtonSteps> steps_;
};

// Grows the trees of a round.
using ClassTreesDriver = LevelDriver<ClassHistograms>;
extern template class LevelDriver<ClassHistograms>;

// Gives the leaves of a driver's trees their values, from sums (leaves of all trees, 2).
void set_class_leaves(ClassTreesDriver& driver, const std::vector<Tree*>& trees,
                      std::span<const std::int64_t> sums);

}  // namespace edgewise
