// The Python face of the laboratory's kernels. No arithmetic here.
#include "bindings.hpp"
#include "core/truth_table.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

using Signs = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Answers answers_of(const Signs& predictions, const In<std::int8_t>& labels) {
  if (predictions.shape(0) != labels.size())
    throw std::invalid_argument("as many labels as rows of predictions are wanted");
  if (predictions.shape(1) > kMostClassifiers)
    throw std::invalid_argument("a table holds at most 60 classifiers");
  return {predictions.data(), labels.data(), predictions.shape(0), predictions.shape(1)};
}

template <class T>
auto to_numpy(Cells<T> cells) {
  return std::pair(bindings::to_numpy(std::move(cells.pattern)),
                   bindings::to_numpy(std::move(cells.total)));
}

void bind_truth_table(nb::module_& m) {
  m.def(
      "tabulate",
      [](const Signs& predictions, const In<std::int8_t>& labels, int n_threads) {
        const Answers answers = answers_of(predictions, labels);
        Cells<std::int64_t> cells;
        {
          nb::gil_scoped_release nogil;
          cells = tabulate(answers, team_of(n_threads));
        }
        return to_numpy(std::move(cells));
      },
      "predictions"_a, "labels"_a, "n_threads"_a, nb::rv_policy::move);
  m.def(
      "tabulate_weighted",
      [](const Signs& predictions, const In<std::int8_t>& labels, const In<double>& weights,
         int n_threads) {
        const Answers answers = answers_of(predictions, labels);
        if (weights.size() != labels.size())
          throw std::invalid_argument("as many weights as labels are wanted");
        Cells<double> cells;
        {
          nb::gil_scoped_release nogil;
          cells = tabulate_weighted(answers, view(weights), team_of(n_threads));
        }
        return to_numpy(std::move(cells));
      },
      "predictions"_a, "labels"_a, "weights"_a, "n_threads"_a, nb::rv_policy::move);
}

}  // namespace

void bind_lab(nb::module_& m) {
  m.def("available_cpus", &available_cpus);
  bind_truth_table(m);
}

}  // namespace edgewise::bindings
