#include "hamming_tree.hpp"

#include "edge.hpp"
#include "lane_tree.hpp"
#include "row_sums.hpp"

namespace edgewise {

namespace {

EdgeScale scale_of(const double* signed_weights, std::size_t n_rows, int n_classes,
                   double negligible, const Team& team) {
  const std::size_t n = n_rows * static_cast<std::size_t>(n_classes);
  const double fine = edge_fine_unit(n_rows, n_classes, largest(signed_weights, n, team));
  const double sum = total(signed_weights, n, fine, team);
  return edge_scale(n_rows, n_classes, fine, sum, negligible);
}

class EdgeCriterion : public EdgeRows {
 public:
  EdgeCriterion(const double* signed_weights, std::size_t n_rows, int n_classes, EdgeScale scale,
                const Team& team)
      : EdgeRows(signed_weights, n_rows, n_classes, scale, team),
        signed_(signed_weights),
        n_rows_(n_rows),
        fine_(scale.fine) {}

  void finish(Tree& tree, std::size_t n_leaves, const Team& team) const {
    set_edge_sums(tree, n_classes(), fine_,
                  edge_leaf_sums(signed_, n_rows_, n_classes(), fine_, tree, n_leaves, team));
  }

 private:
  const double* signed_;
  std::size_t n_rows_;
  double fine_;
};

}  // namespace

Tree grow_hamming_tree(const BinnedData& data, const double* signed_weights, int n_classes,
                       const GrowLimits& limits, const Team& team) {
  const EdgeScale scale = scale_of(signed_weights, data.n_rows, n_classes, limits.negligible, team);
  EdgeCriterion criterion(signed_weights, data.n_rows, n_classes, scale, team);
  LaneEvaluator<EdgeCriterion> evaluator(data, limits, criterion, team);
  return Grower(data, limits, evaluator, team).grow(criterion.rows);
}

}  // namespace edgewise
