// The Python face of explanations. No arithmetic here.
#include "bindings_forest.hpp"
#include "core/importance.hpp"
#include "core/shap.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

using InOutValues = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_explain(nb::module_& m) {
  nb::class_<HeldForest>(m, "ExplainedForest")
      .def(
          "__init__",
          [](HeldForest* self, const nb::kwargs& arrays) { new (self) HeldForest(arrays); },
          "arrays"_a)
      .def(
          "add_shapley_values",
          [](const HeldForest& f, const AnyTable& x, InOutValues out, int n_threads) {
            const Matrix rows = matrix(x);
            if (out.shape(0) != rows.rows || out.shape(1) != rows.cols)
              throw std::invalid_argument("out must have a place for every value of x");
            add_shapley_values(f.arrays(), view(f.cover), rows, out.shape(2), out.data(),
                               team_of(n_threads));
          },
          "x"_a, "out"_a, "n_threads"_a, NoGil())
      .def(
          "add_expected_scores",
          [](const HeldForest& f,
             nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
            add_expected_scores(f.arrays(), view(f.cover), out.data());
          },
          "out"_a, NoGil())
      .def(
          "add_gain_by_class",
          [](const HeldForest& f, InOutScores out) {
            add_gain_by_class(f.arrays(), view(f.cover), view(f.gain), out.shape(0), out.shape(1),
                              out.data());
          },
          "out"_a, NoGil());
}

}  // namespace edgewise::bindings
