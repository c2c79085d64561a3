// Class trees: one tree for one class, its statistics fixed for the whole tree, so that a child's
// histogram is its parent's minus its sibling's. They serve MART and LogitBoost (a class on its
// own), their ABC versions (a class against a base class), and Newton boosting of other losses.
#pragma once

#include <vector>

#include "binned.hpp"
#include "channel_search.hpp"
#include "criteria/of_class.hpp"
#include "posterior.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// The target of a tree: class k alone (base = -1), or class k up and the base class down.
struct Target {
  int k;
  int base = -1;
};

// Grows one tree per target from the same probabilities. A leaf's value is `shrinkage` times
// `factor` times the Newton step, the latter product clipped to +-limits.max_delta. Threads take
// whole trees; the trees left over when their number is no multiple of the threads are grown one
// after the other, all threads on each.
std::vector<Tree> grow_class_trees(const BinnedData& data, const Posterior& posterior,
                                   const std::vector<Target>& targets, Criterion criterion,
                                   const GrowLimits& limits, double factor, double shrinkage,
                                   const Team& team);

// One tree per class by Newton's gain, from minus the first derivatives g of any loss by the scores
// and the second ones h, both (n_rows, n_classes) and weighted, h not negative.
std::vector<Tree> grow_derivative_trees(const BinnedData& data, const double* g, const double* h,
                                        int n_classes, const GrowLimits& limits, double shrinkage,
                                        const Team& team);

// --- what growing here and growing on blocks have in common -------------------------------------

// The direction that the move of a target may take with each column; none if all are free.
std::vector<std::int8_t> directions_of(const Monotone& monotone, Target target,
                                       const std::vector<int>& feature_of);

// The constraints of the search for splits of a target. For the log loss the noise is known.
template <class Criterion, class Bin>
void set_rules(ChannelSearch<Bin>& search, const GrowLimits& limits, Target target, double factor,
               const std::vector<int>& feature_of, bool log_loss = true) {
  search.noise = log_loss ? Criterion::noise(limits.row_weight) : 0.0;
  search.l2 = Criterion::l2(limits.core_l2());
  search.directions = {directions_of(limits.monotone, target, feature_of),
                       Criterion::value_per_step(factor)};
}

struct Derivatives {
  double g = 0.0, h = 0.0;
};

struct ClassSum {
  std::int64_t g = 0, h = 0;
};

// Adds a row, in exact units.
inline void add_to(ClassSum& sum, double g, double h, Derivatives unit) {
  sum.g += to_integer(g * unit.g);
  sum.h += to_integer(h * unit.h);
}

// A leaf moves its class, and the base class against it, by shrinkage * factor * sum g / (sum h +
// l2). All rows count, in a finer fixed point than the histogram's.
struct NewtonSteps {
  Derivatives unit;  // units per 1.0 of g and h in exact sums
  Target target;
  double factor, shrinkage, l2, max_delta;

  NewtonSteps(Derivatives u, Target t, double f, double s, const GrowLimits& limits)
      : unit(u),
        target(t),
        factor(f),
        shrinkage(s),
        l2(limits.core_l2()),
        max_delta(limits.max_delta) {}

  // The clipped step of a leaf, before shrinkage.
  double step(ClassSum sum) const;
  // Sets what the leaves move; `bounds` are those of their steps, or none.
  void set_leaves(Tree& tree, const std::vector<ClassSum>& sums,
                  const std::vector<Bounds>& bounds) const;
};

}  // namespace edgewise
