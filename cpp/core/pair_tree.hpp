// The pair tree of AOSO-LogitBoost: one tree moves all classes, the pair of classes being chosen
// at every node. A node's histogram holds two sums per bin whatever the number of classes.
#pragma once

#include <memory>

#include "binned.hpp"
#include "posterior.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

enum class LeafKind {
  pair,   // the paper: a leaf moves its pair of classes, v (e_r - e_s)
  vector  // ours: a leaf moves every class by its own Newton step, centred to sum zero
};

// Buffers that live as long as a fit, so that rounds do not allocate.
class PairTreeGrower {
 public:
  PairTreeGrower(const BinnedData& data, const Posterior& posterior, const GrowLimits& limits);
  ~PairTreeGrower();
  PairTreeGrower(const PairTreeGrower&) = delete;
  PairTreeGrower& operator=(const PairTreeGrower&) = delete;

  // Within other limits than the fit's, where they are given for this tree.
  Tree grow(LeafKind leaf, double shrinkage, const Team& team, const GrowLimits* limits = nullptr);

 private:
  struct Buffers;
  const BinnedData& data_;
  const Posterior& posterior_;
  GrowLimits limits_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace edgewise
