// The Python face of the laboratory's kernels. No arithmetic here.
#include "bindings.hpp"
#include "core/dynamics.hpp"
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
auto cells_to_numpy(Cells<T> cells) {
  return std::pair(to_numpy(std::move(cells.pattern)), to_numpy(std::move(cells.total)));
}

void bind_truth_table(nb::module_& m) {
  m.def(
      "tabulate",
      [](const Signs& predictions, const In<std::int8_t>& labels, int n_threads) {
        const Answers answers = answers_of(predictions, labels);
        Cells<std::int64_t> cells;
        {
          const Unlocked nogil;
          cells = tabulate(answers, team_of(n_threads));
        }
        return cells_to_numpy(std::move(cells));
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
          const Unlocked nogil;
          cells = tabulate_weighted(answers, view(weights), team_of(n_threads));
        }
        return cells_to_numpy(std::move(cells));
      },
      "predictions"_a, "labels"_a, "weights"_a, "n_threads"_a, nb::rv_policy::move);
}

template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutRows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Arrays for a record must have room for every step.
template <class Array>
auto* room(const std::optional<Array>& array, std::int64_t n_steps) {
  if (array && static_cast<std::int64_t>(array->shape(0)) < n_steps)
    throw std::invalid_argument("the arrays of a record need one entry per step");
  return array ? array->data() : nullptr;
}

void bind_dynamics(nb::module_& m) {
  nb::enum_<VoteRule>(m, "VoteRule")
      .value("adaboost", VoteRule::adaboost)
      .value("arc_gv", VoteRule::arc_gv)
      .value("ascent", VoteRule::ascent)
      .value("adaboost_star", VoteRule::adaboost_star);
  nb::enum_<Choice>(m, "Choice")
      .value("best", Choice::best)
      .value("first", Choice::first)
      .value("weakest", Choice::weakest);
  nb::enum_<Ties>(m, "Ties")
      .value("lowest", Ties::lowest)
      .value("highest", Ties::highest)
      .value("stop", Ties::stop);
  nb::enum_<Stop>(m, "Stop")
      .value("none", Stop::none)
      .value("tie", Stop::tie)
      .value("no_edge", Stop::no_edge)
      .value("perfect", Stop::perfect);

  nb::class_<WeightMap>(m, "WeightMap")
      .def(
          "__init__",
          [](WeightMap* self, const Signs& matrix, const In<double>& weights, VoteRule vote,
             Choice choice, Ties ties, double threshold, double tolerance, double nu) {
            if (weights.size() != matrix.shape(0))
              throw std::invalid_argument("the map needs one weight per row of the matrix");
            const StepRule rule{vote, choice, ties, threshold, tolerance, nu};
            new (self)
                WeightMap({matrix.data(), matrix.shape(0), matrix.shape(1)}, copy(weights), rule);
          },
          "matrix"_a, "weights"_a, nb::kw_only(), "vote"_a, "choice"_a, "ties"_a, "threshold"_a,
          "tolerance"_a, "nu"_a)
      .def(
          "run",
          [](WeightMap& self, std::int64_t n_steps, std::int32_t forced,
             std::optional<Out<std::int32_t>> choices, std::optional<Out<double>> edges,
             std::optional<Out<double>> alphas, std::optional<OutRows> weights) {
            if (weights && weights->shape(1) != self.n_rows())
              throw std::invalid_argument("the recorded weights need one column per row of M");
            if (forced >= 0 && static_cast<std::size_t>(forced) >= self.n_columns())
              throw std::invalid_argument("the forced choice must be a column of the matrix");
            const Record record{room(choices, n_steps), room(edges, n_steps), room(alphas, n_steps),
                                room(weights, n_steps)};
            const auto done = [&] {
              const Unlocked nogil;
              return self.run(n_steps, forced, record, team_of(1));
            }();
            return std::pair(done.steps, done.stop);
          },
          "n_steps"_a, nb::kw_only(), "forced"_a = -1, "choices"_a = nb::none(),
          "edges"_a = nb::none(), "alphas"_a = nb::none(), "weights"_a = nb::none())
      .def_prop_ro(
          "tied", [](const WeightMap& w) { return to_numpy(w.tied()); }, nb::rv_policy::move)
      .def_prop_ro(
          "weights", [](const WeightMap& w) { return to_numpy(w.weights()); }, nb::rv_policy::move)
      .def_prop_ro(
          "votes", [](const WeightMap& w) { return to_numpy(w.votes()); }, nb::rv_policy::move);

  m.def(
      "follow",
      [](const Signs& matrix, const In<std::int32_t>& choices, Out<double> weights, OutRows J) {
        const std::size_t n = matrix.shape(0);
        if (weights.size() != n || J.shape(0) != n || J.shape(1) != n)
          throw std::invalid_argument("weights and derivatives need one entry per row of M");
        for (const std::int32_t choice : view(choices))
          if (choice < 0 || static_cast<std::size_t>(choice) >= matrix.shape(1))
            throw std::invalid_argument("the choices must be columns of M");
        follow(matrix.data(), n, matrix.shape(1), view(choices), weights.data(), J.data());
      },
      "matrix"_a, "choices"_a, "weights"_a, "derivatives"_a, NoGil());
}

}  // namespace

void bind_lab(nb::module_& m) {
  m.def("available_cpus", &available_cpus);
  bind_truth_table(m);
  bind_dynamics(m);
}

}  // namespace edgewise::bindings
