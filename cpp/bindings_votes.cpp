// The Python face of trees that vote, AdaBoost.MH, SAMME, soft-max boosting, and of multi-label
// boosting. No arithmetic here.
#include "bindings.hpp"
#include "core/branching.hpp"
#include "core/gini_tree.hpp"
#include "core/hamming_tree.hpp"
#include "core/label_scores.hpp"
#include "core/label_weights.hpp"
#include "core/product.hpp"
#include "core/sketch_tree.hpp"
#include "core/vote_trees.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

using InMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using InSigns = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using InClasses = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A matrix that lives as long as its owner; not copied.
auto matrix_of(std::size_t n_rows, std::size_t n_columns, const std::vector<double>& values) {
  return nb::ndarray<nb::numpy, const double, nb::ndim<2>>(values.data(), {n_rows, n_columns});
}
auto matrix_of(const LabelWeights& w, const std::vector<double>& values) {
  return matrix_of(w.n_rows(), w.n_classes(), values);
}

void set_leaves(Tree& tree, const InMatrix& values, const InClasses& classes) {
  if (values.shape(0) != classes.shape(0) || values.shape(1) != classes.shape(1))
    throw std::invalid_argument("values and classes need the same shape");
  if (values.shape(0) != (tree.feature.size() + 1) / 2)
    throw std::invalid_argument("there must be values for every leaf");
  tree.width = static_cast<std::int32_t>(classes.shape(1));
  tree.values.assign(values.data(), values.data() + values.size());
  tree.classes.assign(classes.data(), classes.data() + classes.size());
}

std::vector<std::int8_t> copied(const InSigns& signs) {
  return {signs.data(), signs.data() + signs.size()};
}

void bind_label_scores(nb::module_& m) {
  nb::class_<LabelScores>(m, "LabelScores")
      .def(
          "__init__",
          [](LabelScores* self, const InSigns& signs, const std::optional<In<double>>& weights,
             const In<double>& start) {
            if (signs.shape(1) != start.size())
              throw std::invalid_argument("there must be an initial score for every label");
            new (self) LabelScores(copied(signs), weights ? copy(*weights) : std::vector<double>(),
                                   view(start));
          },
          "signs"_a, "weights"_a.none(), "start"_a)
      .def_prop_ro(
          "scores",
          [](const LabelScores& s) { return matrix_of(s.n_rows(), s.n_labels(), s.scores()); },
          nb::rv_policy::reference_internal)
      .def_prop_ro("n_labels", &LabelScores::n_labels)
      .def_prop_ro("loss", &LabelScores::loss)
      .def(
          "grow",
          [](const LabelScores& s, const BinnedData& data, const InMatrix& directions,
             const GrowLimits& limits, int n_threads) {
            if (directions.shape(0) != s.n_labels() || data.n_rows != s.n_rows())
              throw std::invalid_argument("rows and labels must be those of the scores");
            const std::size_t k = directions.shape(1);
            std::vector<double> g(s.n_rows() * k), h(s.n_rows());
            s.project(directions.data(), k, g.data(), h.data(), team_of(n_threads));
            return grow_sketch_tree(data, g.data(), h.data(), static_cast<int>(k), limits,
                                    team_of(n_threads));
          },
          "data"_a, "directions"_a, "limits"_a, "n_threads"_a, NoGil())
      .def(
          "set_steps",
          [](const LabelScores& s, Tree& tree, double shrinkage, double l2, double max_delta,
             double noise, std::size_t width, const std::optional<In<std::uint8_t>>& drawn,
             int n_threads) {
            if (tree.leaf_of_row.size() != s.n_rows() || (drawn && drawn->size() != s.n_rows()))
              throw std::invalid_argument("the rows must be those of the scores");
            s.set_steps(tree, {shrinkage, l2, max_delta, noise, width},
                        drawn ? drawn->data() : nullptr, team_of(n_threads));
          },
          "tree"_a, "shrinkage"_a, "l2"_a, "max_delta"_a, "noise"_a, "width"_a, "drawn"_a.none(),
          "n_threads"_a, NoGil())
      .def(
          "add",
          [](LabelScores& s, const std::vector<Tree*>& trees, int n_threads) {
            s.add(moves_of(trees, s.n_rows(), s.n_labels()), team_of(n_threads));
          },
          "trees"_a, "n_threads"_a, NoGil())
      .def(
          "set_scores",
          [](LabelScores& s, const InMatrix& scores, int n_threads) {
            if (scores.shape(0) != s.n_rows() || scores.shape(1) != s.n_labels())
              throw std::invalid_argument("there must be a score for every row and label");
            need_finite({scores.data(), scores.size()}, "scores");
            s.set_scores(scores.data(), team_of(n_threads));
          },
          "scores"_a, "n_threads"_a, NoGil());

  m.def(
      "label_losses",
      [](const InMatrix& scores, const InSigns& signs, double factor, int n_threads) {
        if (scores.shape(0) != signs.shape(0) || scores.shape(1) != signs.shape(1))
          throw std::invalid_argument("there must be a sign for every score");
        std::vector<double> out(3 * scores.shape(0));
        label_losses(scores.data(), signs.data(), scores.shape(0), scores.shape(1), factor,
                     out.data(), team_of(n_threads));
        return to_numpy(std::move(out));
      },
      "scores"_a, "signs"_a, "factor"_a, "n_threads"_a);
}

}  // namespace

void bind_votes(nb::module_& m) {
  bind_label_scores(m);

  m.def("set_leaves", &set_leaves, "tree"_a, "values"_a, "classes"_a);

  m.def(
      "grow_vote_trees",
      [](const BinnedData& data, const InMatrix& signed_weights, const GrowLimits& limits,
         int n_threads) {
        return grow_vote_trees(data, signed_weights.data(),
                               static_cast<int>(signed_weights.shape(1)), limits,
                               team_of(n_threads));
      },
      "data"_a, "signed_weights"_a, "limits"_a, "n_threads"_a, NoGil());

  m.def(
      "grow_hamming_tree",
      [](const BinnedData& data, const InMatrix& signed_weights, const GrowLimits& limits,
         int n_threads) {
        return grow_hamming_tree(data, signed_weights.data(),
                                 static_cast<int>(signed_weights.shape(1)), limits,
                                 team_of(n_threads));
      },
      "data"_a, "signed_weights"_a, "limits"_a, "n_threads"_a, NoGil());

  m.def(
      "product_tree",
      [](const std::vector<Tree*>& stumps, int n_classes) {
        return product_tree({stumps.begin(), stumps.end()}, n_classes);
      },
      "stumps"_a, "n_classes"_a, NoGil());

  m.def(
      "grow_gini_tree",
      [](const BinnedData& data, const In<std::int32_t>& labels, const In<double>& weights,
         int n_classes, const GrowLimits& limits, int n_threads) {
        return grow_gini_tree(data, labels.data(), weights.data(), n_classes, limits,
                              team_of(n_threads));
      },
      "data"_a, "labels"_a, "weights"_a, "n_classes"_a, "limits"_a, "n_threads"_a, NoGil());

  nb::class_<BranchNode>(m, "BranchNode")
      .def_ro("tree", &BranchNode::tree)
      .def_ro("frozen", &BranchNode::frozen)
      .def_prop_ro("right", [](const BranchNode& n) { return std::pair(n.right[0], n.right[1]); });

  m.def(
      "grow_layer",
      [](const BinnedData& data, const In<std::int8_t>& signs, const InMatrix& mass,
         const std::vector<double>& otherwise, const GrowLimits& limits,
         nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> says,
         int n_threads) {
        return grow_layer(data, signs.data(), mass.data(), otherwise, limits, says.data(),
                          team_of(n_threads));
      },
      "data"_a, "signs"_a, "mass"_a, "otherwise"_a, "limits"_a, "says"_a, "n_threads"_a, NoGil());

  nb::class_<LabelWeights>(m, "LabelWeights")
      .def(
          "__init__",
          [](LabelWeights* self, const InSigns& signs, const In<double>& positive,
             const In<double>& negative, int n_threads) {
            new (self)
                LabelWeights(std::vector<std::int8_t>(signs.data(), signs.data() + signs.size()),
                             view(positive), view(negative), team_of(n_threads));
          },
          "signs"_a, "positive"_a, "negative"_a, "n_threads"_a)
      .def_prop_ro(
          "signed_weights", [](const LabelWeights& w) { return matrix_of(w, w.signed_weights()); },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "margins", [](const LabelWeights& w) { return matrix_of(w, w.margins()); },
          nb::rv_policy::reference_internal)
      .def_prop_ro("log_risk", &LabelWeights::log_risk)
      .def(
          "add",
          [](LabelWeights& w, const std::vector<Tree*>& trees, int n_threads) {
            w.add(moves_of(trees, w.n_rows(), w.n_classes()), team_of(n_threads));
          },
          "trees"_a, "n_threads"_a, NoGil())
      .def(
          "add_outputs",
          [](LabelWeights& w, const InMatrix& outputs, int n_threads) {
            if (outputs.shape(0) != w.n_rows() || outputs.shape(1) != w.n_classes())
              throw std::invalid_argument("there must be an output for every row and label");
            need_finite({outputs.data(), outputs.size()}, "outputs of base classifiers");
            w.add_outputs(outputs.data(), team_of(n_threads));
          },
          "outputs"_a, "n_threads"_a, NoGil())
      .def(
          "hamming_loss",
          [](const LabelWeights& w, int n_threads) { return w.hamming_loss(team_of(n_threads)); },
          "n_threads"_a, NoGil())
      .def(
          "vote_mass",
          [](const LabelWeights& w, const In<double>& votes, int n_threads) {
            return w.vote_mass(view(votes), team_of(n_threads));
          },
          "votes"_a, "n_threads"_a, NoGil());
}

}  // namespace edgewise::bindings
