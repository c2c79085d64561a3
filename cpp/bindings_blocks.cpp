// The Python face of blocks of rows: cut points from counts of parts, bins that travel or lie in
// lent room, and sums over rows. bindings_growing.cpp has the trees. No arithmetic here.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "bindings_forest.hpp"
#include "core/allocation.hpp"
#include "core/blocks.hpp"
#include "core/cover.hpp"
#include "core/row_sums.hpp"
#include "core/summary.hpp"
#include "core/transposed.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

Summary summary_from(const nb::tuple& state) {
  Summary s{{}, nb::cast<std::size_t>(state[0]), nb::cast<std::uint64_t>(state[1])};
  for (const auto& part : nb::cast<nb::list>(state[2])) {
    const auto [keys, masses, dropped, has_nan, has_infinity] =
        nb::cast<std::tuple<In<Key>, In<std::uint64_t>, int, bool, bool>>(part);
    s.of_feature.push_back({copy(keys), copy(masses), dropped, has_nan, has_infinity});
  }
  return s;
}

nb::tuple state_of(const Summary& s) {
  nb::list parts;
  for (const FeatureSummary& f : s.of_feature)
    parts.append(
        nb::make_tuple(to_numpy(f.keys), to_numpy(f.masses), f.dropped, f.has_nan, f.has_infinity));
  return nb::make_tuple(s.most, s.n_rows, parts);
}

Cuts cuts_from(const nb::tuple& state) {
  Cuts c;
  for (const auto& of_feature : nb::cast<nb::list>(state[0]))
    c.of_feature.push_back(copy(nb::cast<In<double>>(of_feature)));
  c.has_missing = copy(nb::cast<In<std::uint8_t>>(state[1]));
  c.categorical = copy(nb::cast<In<std::uint8_t>>(state[2]));
  return c;
}

void bind_cuts(nb::module_& m) {
  nb::class_<Summary>(m, "Summary")
      .def(
          "__init__",
          [](Summary* self, const AnyTable& table, std::optional<In<double>> weights,
             double largest, int n_threads, std::size_t most,
             const std::optional<KeyRanges>& within) {
            const Matrix x = matrix(table);
            if (weights) need_weights(view(*weights), x.rows);
            if (weights && !(largest > 0.0 && largest <= std::numeric_limits<double>::max()))
              throw std::invalid_argument("the largest weight must be positive and finite");
            for (const auto& ranges : within.value_or(KeyRanges{}))
              if (ranges.size() % 2 || !std::is_sorted(ranges.begin(), ranges.end()))
                throw std::invalid_argument("ranges of keys must ascend");
            const Unlocked nogil;
            const SummaryOptions options{weights ? weights->data() : nullptr, largest, most,
                                         within ? &*within : nullptr};
            new (self) Summary(summarise(x, options, team_of(n_threads)));
          },
          "x"_a, "weights"_a.none(), "largest"_a, "n_threads"_a, "most"_a = 65536,
          "within"_a = nb::none())
      .def(
          "merged", [](const Summary& a, const Summary& b) { return merged(a, b); }, "other"_a,
          NoGil())
      .def(
          "n_distinct",
          [](const Summary& s, std::size_t f) { return s.of_feature.at(f).keys.size(); },
          "feature"_a)
      .def("__getstate__", &state_of)
      .def("__setstate__", [](Summary& s, const nb::tuple& state) {
        new (&s) Summary(from_state(state, 3, "summary", [&] { return summary_from(state); }));
      });

  nb::class_<CutSearch>(m, "CutSearch")
      .def(nb::init<const Summary&, int, const std::vector<int>&>(), "summary"_a, "max_bins"_a,
           "categorical"_a)
      .def("open", &CutSearch::open, NoGil())
      .def("take", &CutSearch::take, "finer"_a, NoGil())
      .def("cuts", &CutSearch::cuts, NoGil());

  nb::class_<Cuts>(m, "Cuts")
      .def(
          "__init__",
          [](Cuts* self, const Summary& summary, int max_bins,
             const std::vector<int>& categorical) {
            new (self) Cuts(CutSearch(summary, max_bins, categorical).cuts());
          },
          "summary"_a, "max_bins"_a, "categorical"_a)
      .def("__getstate__",
           [](const Cuts& c) {
             nb::list values;
             for (const auto& of_feature : c.of_feature) values.append(to_numpy(of_feature));
             return nb::make_tuple(values, to_numpy(c.has_missing), to_numpy(c.categorical));
           })
      .def("__setstate__", [](Cuts& c, const nb::tuple& state) {
        new (&c) Cuts(from_state(state, 3, "set of cuts", [&] { return cuts_from(state); }));
      });

  m.def(
      "bin_rows",
      [](const AnyTable& table, const Cuts& cuts, int n_threads) {
        const Matrix x = matrix(table);
        need_columns(x.cols, cuts);
        const Unlocked nogil;
        if (x.is_sparse()) return BinnedData(Transposed(x), cuts, {}, team_of(n_threads));
        return BinnedData(x, cuts, {}, team_of(n_threads));
      },
      "x"_a, "cuts"_a, "n_threads"_a);
  bind_settling<BinnedData>(m);
  bind_settling<Posterior>(m);
  m.def(
      "binned_from_columns",
      [](const In<Code>& columns, std::size_t n_rows, const Cuts& cuts, int n_threads) {
        const Unlocked nogil;
        return BinnedData(copy(columns), n_rows, cuts, team_of(n_threads));
      },
      "columns"_a, "n_rows"_a, "cuts"_a, "n_threads"_a);
  m.def("columns_of", [](const BinnedData& d) { return to_numpy(d.all_columns()); });
  m.def(
      "binned_from_lists",
      [](const In<std::int64_t>& start, const In<Row>& rows, const In<Code>& codes,
         std::size_t n_rows, const Cuts& cuts, int n_threads) {
        const Unlocked nogil;
        return binned_from_lists({copy(start), copy(rows), copy(codes)}, n_rows, cuts,
                                 team_of(n_threads));
      },
      "start"_a, "rows"_a, "codes"_a, "n_rows"_a, "cuts"_a, "n_threads"_a);
  m.def("lists_of", [](const BinnedData& d) {
    ListedBins bins = listed_bins(d);
    return nb::make_tuple(to_numpy(std::move(bins.start)), to_numpy(std::move(bins.rows)),
                          to_numpy(std::move(bins.codes)));
  });
  m.def(
      "trees_on_bins",
      [](const Cuts& cuts, const nb::dict& forest) {
        return binned_trees(cuts, HeldForest(forest).arrays());
      },
      "cuts"_a, "forest"_a);
  m.def(
      "route",
      [](const BinnedData& data, Tree& tree, int n_threads) {
        need_features(tree, static_cast<std::size_t>(data.n_features));
        route_all(data, tree, team_of(n_threads));
      },
      "data"_a, "tree"_a, "n_threads"_a, NoGil());
}

}  // namespace

void bind_blocks(nb::module_& m) {
  m.def("keep_buffers", &keep_buffers, "n_bytes"_a);
  m.def("release_buffers", &release_buffers);
  bind_cuts(m);
  m.def(
      "sum_of_sizes",
      [](const In<double>& x, double unit) { return sum_of_sizes(x.data(), x.size(), unit); },
      "x"_a, "unit"_a);
  m.def(
      "cover_sums",
      [](const std::vector<Tree*>& trees, std::optional<In<double>> weights, double unit) {
        std::vector<std::int64_t> sums;
        for (const Tree* tree : trees) {
          const auto of_tree = cover_sums(*tree, weights ? weights->data() : nullptr, unit);
          sums.insert(sums.end(), of_tree.begin(), of_tree.end());
        }
        return to_numpy(std::move(sums));
      },
      "trees"_a, "weights"_a.none(), "unit"_a);
  m.def(
      "set_covers",
      [](const std::vector<Tree*>& trees, const In<std::int64_t>& sums) {
        const std::int64_t* next = sums.data();
        for (Tree* tree : trees) {
          const std::size_t n = n_leaves(*tree);
          if (n > static_cast<std::size_t>(sums.data() + sums.size() - next))
            throw std::invalid_argument("there must be a sum for every leaf");
          set_cover(*tree, {next, next + n});
          next += n;
        }
      },
      "trees"_a, "sums"_a);
  m.def("sum_scale", &sum_scale, "n"_a, "bound"_a);
  m.def(
      "loss_unit", [](std::size_t n, double largest) { return Posterior::loss_unit(n, largest); },
      "n"_a, "largest"_a);
  m.def(
      "class_loss_sums",
      [](const Posterior& p, double unit, int n_threads) {
        return p.class_loss_sums(unit, team_of(n_threads));
      },
      "posterior"_a, "unit"_a, "n_threads"_a, NoGil());
  m.def(
      "loss_sum_after",
      [](const Posterior& p, const std::vector<Tree*>& trees, double unit, int n_threads) {
        return p.loss_sum_after(moves_of(trees, p), unit, team_of(n_threads));
      },
      "posterior"_a, "trees"_a, "unit"_a, "n_threads"_a, NoGil());
}

}  // namespace edgewise::bindings
