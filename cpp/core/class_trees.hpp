// Class trees: one tree for one class, its statistics fixed for the whole tree, so that a child's
// histogram is its parent's minus its sibling's. They serve MART and LogitBoost (a class on its
// own) and their ABC versions (a class against a base class).
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
// `factor` times the Newton step, the latter product clipped to +-kLeafClip. Threads take whole
// trees; the trees left over when their number is no multiple of the threads are grown one after
// the other, all threads on each.
std::vector<Tree> grow_class_trees(const BinnedData& data, const Posterior& posterior,
                                   const std::vector<Target>& targets, Criterion criterion,
                                   const GrowLimits& limits, double factor, double shrinkage,
                                   const Team& team);

inline constexpr double kLeafClip = 5.0;

struct Derivatives {
  double g = 0.0, h = 0.0;
};

// The clipped step of a leaf from exact sums of g and h, which have `unit` units per 1.0.
double newton_step(std::int64_t g, std::int64_t h, Derivatives unit, double factor);

// Says what the leaves of a tree for a target move.
void move_by_steps(Tree& tree, Target target, const std::vector<double>& steps, double shrinkage);

}  // namespace edgewise
