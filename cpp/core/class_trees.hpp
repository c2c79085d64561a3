// Class trees: one tree for one class, its statistics fixed for the whole tree, so that a child's
// histogram is its parent's minus its sibling's. They serve MART and LogitBoost (a class on its
// own), their ABC versions (a class against a base class), and Newton boosting of other losses.
#pragma once

#include <vector>

#include "binned.hpp"
#include "posterior.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

enum class Criterion { newton, least_squares };

// What a tree is to move: class k alone (base = -1), or class k up and the base class down.
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

struct Derivatives {
  double g = 0.0, h = 0.0;
};

// The clipped step of a leaf from exact sums of g and h, which have `unit` units per 1.0.
double newton_step(std::int64_t g, std::int64_t h, Derivatives unit, double factor, double l2 = 0.0,
                   double max_delta = kLeafClip);

// Says what the leaves of a tree for a target move.
void move_by_steps(Tree& tree, Target target, const std::vector<double>& steps, double shrinkage);

}  // namespace edgewise
