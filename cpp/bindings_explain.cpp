// The Python face of explanations. No arithmetic here.
#include "bindings.hpp"
#include "core/importance.hpp"
#include "core/shap.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

using InOutValues = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// The arrays of a model that explanations need, shared with Python.
struct ExplainedForest {
  In<std::int64_t> node_start, value_start;
  In<std::int32_t> width, feature, left;
  In<double> threshold;
  In<std::uint8_t> missing_left;
  In<double> cover;
  In<std::int32_t> classes;
  In<double> values;
  In<std::int64_t> set_start;
  In<double> set_values;

  ForestArrays arrays() const {
    return {view(node_start), view(value_start), view(width),        view(feature),
            view(left),       view(threshold),   view(missing_left), view(classes),
            view(values),     view(set_start),   view(set_values)};
  }
};

}  // namespace

void bind_explain(nb::module_& m) {
  nb::class_<ExplainedForest>(m, "ExplainedForest")
      .def(
          "__init__",
          [](ExplainedForest* self, In<std::int64_t> node_start, In<std::int64_t> value_start,
             In<std::int32_t> width, In<std::int32_t> feature, In<std::int32_t> left,
             In<double> threshold, In<std::uint8_t> missing_left, In<double> cover,
             In<std::int32_t> classes, In<double> values, In<std::int64_t> set_start,
             In<double> set_values) {
            new (self)
                ExplainedForest{node_start,   value_start, width,   feature, left,      threshold,
                                missing_left, cover,       classes, values,  set_start, set_values};
          },
          "node_start"_a, "value_start"_a, "width"_a, "feature"_a, "left"_a, "threshold"_a,
          "missing_left"_a, "cover"_a, "classes"_a, "values"_a, "set_start"_a, "set_values"_a)
      .def(
          "add_shapley_values",
          [](const ExplainedForest& f, const AnyTable& x, InOutValues out, int n_threads) {
            const Matrix rows = matrix(x);
            if (out.shape(0) != rows.rows || out.shape(1) != rows.cols)
              throw std::invalid_argument("out must have a place for every value of x");
            add_shapley_values(f.arrays(), view(f.cover), rows, out.shape(2), out.data(),
                               team_of(n_threads));
          },
          "x"_a, "out"_a, "n_threads"_a, NoGil())
      .def(
          "add_expected_scores",
          [](const ExplainedForest& f,
             nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> out) {
            add_expected_scores(f.arrays(), view(f.cover), out.data());
          },
          "out"_a, NoGil())
      .def(
          "add_gain_by_class",
          [](const ExplainedForest& f, const In<double>& gain, InOutScores out) {
            if (gain.size() != f.cover.size())
              throw std::invalid_argument("every node needs its gain");
            add_gain_by_class(f.arrays(), view(f.cover), view(gain), out.shape(0), out.shape(1),
                              out.data());
          },
          "gain"_a, "out"_a, NoGil());
}

}  // namespace edgewise::bindings
