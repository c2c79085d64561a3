// The Python face of the core: types in, types out, errors translated. No arithmetic here.
#include <numeric>

#include "bindings_forest.hpp"
#include "core/binned.hpp"
#include "core/class_trees.hpp"
#include "core/cover.hpp"
#include "core/forest.hpp"
#include "core/histogram.hpp"
#include "core/math.hpp"
#include "core/pair_tree.hpp"
#include "core/posterior.hpp"
#include "core/soft_max.hpp"

using namespace nb::literals;
using namespace edgewise;
using namespace edgewise::bindings;

namespace {

using InDirections = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Monotone monotone_of(const InDirections& directions) {
  return {directions.shape(1), {directions.data(), directions.data() + directions.size()}};
}

std::shared_ptr<const RowSample> sample_of(const In<std::uint8_t>& drawn) {
  RowSample sample{copy(drawn), 0};
  for (const std::uint8_t one : sample.drawn) sample.n_drawn += one;
  return std::make_shared<const RowSample>(std::move(sample));
}

// A tree as it travels between processes: all but where the rows of one of them ended.
nb::dict state_of(const Tree& t) {
  nb::list sets;
  for (const CategorySet& set : t.sets) {
    std::vector<int> bins;
    set.bins.each([&](int bin) { bins.push_back(bin); });
    sets.append(nb::make_tuple(bins, set.values));
  }
  nb::dict state;
  const auto put = [&](const char* name, auto array) { state[name] = to_numpy(array(t)); };
  each_of_nodes(put);
  each_of_values(put);
  state["bin"] = to_numpy(t.bin);
  state["sums"] = to_numpy(t.sums);
  state["sets"] = sets;
  state["width"] = t.width;
  return state;
}

Tree tree_from(const nb::dict& state) {
  Tree t;
  const auto take = [&]<class T>(const char* name, std::vector<T>& values) {
    values = copy(nb::cast<In<T>>(state[name]));
  };
  const auto take_array = [&](const char* name, auto array) { take(name, array(t)); };
  each_of_nodes(take_array);
  each_of_values(take_array);
  take("bin", t.bin);
  take("sums", t.sums);
  for (const auto& set : nb::cast<nb::list>(state["sets"])) {
    const auto [bins, values] = nb::cast<std::pair<std::vector<int>, std::vector<double>>>(set);
    t.sets.push_back({{}, values});
    for (const int bin : bins) {
      if (bin < 0 || bin > kMaxValueBins) throw std::invalid_argument("bins must be from 0 to 255");
      t.sets.back().bins.insert(bin);
    }
  }
  t.width = nb::cast<std::int32_t>(state["width"]);
  return t;
}

// Histogram of given rows as interleaved (gradient, Hessian, count) sums, by either kernel.
std::vector<std::int64_t> histogram_of(const BinnedData& data, const In<std::uint32_t>& rows,
                                       const In<std::int64_t>& stats, bool naive) {
  std::vector<CountedBin> bins(data.n_places());
  CountedBin total{};
  for (std::size_t i = 0; i < stats.size(); ++i) total += CountedBin::row(stats.data()[i]);
  if (naive) {
    naive_histogram(data, rows.data(), stats.data(), rows.size(), bins.data());
  } else {
    add_to_histogram(data, rows.data(), stats.data(), rows.size(), bins.data());
    std::vector<int> columns(static_cast<std::size_t>(data.n_features));
    std::iota(columns.begin(), columns.end(), 0);
    complete_histogram(data, columns, total, bins.data());
  }
  std::vector<std::int64_t> flat;
  for (const CountedBin& b : bins)
    flat.insert(flat.end(), {gradient(b.gh()), hessian(b.gh()), b.n()});
  return flat;
}

}  // namespace

NB_MODULE(_core, m) {
  // Models that live until the interpreter ends are not leaks worth a message.
  nb::set_leak_warnings(false);

  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Interrupted&) {  // CheckSignals has set KeyboardInterrupt already
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });

  nb::class_<GrowLimits>(m, "GrowLimits")
      .def(
          "__init__",
          [](GrowLimits* self, int max_leaf_nodes, int max_depth, int min_samples_leaf,
             double negligible, std::vector<int> features, double l2, double min_gain,
             double max_delta, double weight_unit, double row_weight, int most_features_together,
             std::vector<std::vector<int>> features_together,
             std::optional<InDirections> directions, std::optional<In<std::uint8_t>> drawn,
             std::uint64_t cut_key) {
            new (self) GrowLimits{max_leaf_nodes,
                                  max_depth,
                                  min_samples_leaf,
                                  negligible,
                                  std::move(features),
                                  l2,
                                  min_gain,
                                  max_delta,
                                  weight_unit,
                                  row_weight,
                                  {most_features_together, std::move(features_together)},
                                  directions ? monotone_of(*directions) : Monotone{},
                                  drawn ? sample_of(*drawn) : nullptr,
                                  cut_key};
          },
          "max_leaf_nodes"_a, "max_depth"_a, "min_samples_leaf"_a,
          "negligible"_a = GrowLimits{}.negligible, "features"_a = std::vector<int>{}, "l2"_a = 0.0,
          "min_gain"_a = 0.0, "max_delta"_a = GrowLimits{}.max_delta, "weight_unit"_a = 1.0,
          "row_weight"_a = 1.0, "most_features_together"_a = 0,
          "features_together"_a = std::vector<std::vector<int>>{},
          "directions"_a.none() = nb::none(), "drawn"_a.none() = nb::none(), "cut_key"_a = 0);

  bind_data(m);

  nb::class_<BinnedData>(m, "BinnedData")
      .def(
          "__init__",
          [](BinnedData* self, const AnyTable& x, std::optional<In<double>> weights, int max_bins,
             int n_threads, const std::vector<int>& categorical,
             const std::vector<Grouped*>& grouped) {
            const Matrix view = matrix(x);
            auto groups = groups_of(grouped, view.rows);
            if (weights) need_weights(bindings::view(*weights), view.rows);
            const Unlocked nogil;
            new (self) BinnedData(bin_matrix(view, weights ? weights->data() : nullptr, max_bins,
                                             categorical, std::move(groups), team_of(n_threads)));
          },
          "x"_a, "weights"_a.none(), "max_bins"_a, "n_threads"_a,
          "categorical"_a = std::vector<int>{}, "grouped"_a = std::vector<Grouped*>{})
      .def_ro("n_rows", &BinnedData::n_rows)
      .def_ro("n_features", &BinnedData::n_features)
      .def_ro("sparse", &BinnedData::sparse)
      .def_prop_ro("has_lists", &BinnedData::has_lists)
      .def_prop_ro("n_joint", [](const BinnedData& d) { return d.joint.size(); })
      .def_prop_ro("row_widths",
                   [](const BinnedData& d) {
                     std::vector<std::size_t> widths;
                     for (const Block& block : d.blocks) widths.push_back(block.width);
                     return widths;
                   })
      .def_prop_ro("n_bytes", &BinnedData::bytes)
      .def(
          "pays_by_columns",
          [](const BinnedData& d, std::size_t n) { return d.pays_by_columns(n); }, "n"_a)
      .def_prop_ro(
          "offset", [](const BinnedData& d) { return to_numpy(d.offset); }, nb::rv_policy::move)
      .def("cuts", [](const BinnedData& d, std::size_t f) { return d.cuts.of_feature.at(f); })
      .def("code", &BinnedData::code, "row"_a, "feature"_a);

  nb::class_<Tree> tree(m, "Tree");
  const auto def_array = [&](const char* name, auto array) {
    tree.def_prop_ro(
        name, [array](const Tree& t) { return to_numpy(array(t)); }, nb::rv_policy::move);
  };
  each_of_nodes(def_array);
  each_of_values(def_array);
  tree.def_prop_ro("sets",
                   [](const Tree& t) {
                     std::vector<std::vector<double>> sets;
                     for (const CategorySet& set : t.sets) sets.push_back(set.values);
                     return sets;
                   })
      .def_prop_ro("moves_nothing", &Tree::moves_nothing)
      .def_ro("width", &Tree::width)
      .def_prop_ro(
          "sums", [](const Tree& t) { return to_numpy(t.sums); }, nb::rv_policy::move)
      .def_prop_ro(
          "leaf_of_row", [](const Tree& t) { return to_numpy(t.leaf_of_row); }, nb::rv_policy::move)
      .def("__getstate__", &state_of)
      .def("__setstate__", [](Tree& t, const nb::dict& state) {
        new (&t) Tree(from_state(state, 12, "tree", [&] { return tree_from(state); }));
      });

  nb::class_<Posterior>(m, "Posterior")
      .def(
          "__init__",
          [](Posterior* self, const In<std::int32_t>& labels, std::optional<In<double>> weights,
             const In<double>& start, const std::string& layout, bool part) {
            if (weights) need_weights(view(*weights), labels.size());
            new (self) Posterior(copy(labels), weights ? copy(*weights) : std::vector<double>{},
                                 view(start), layout_named(layout), part);
          },
          "labels"_a, "weights"_a.none(), "start"_a, "layout"_a, "part"_a = false)
      .def_prop_ro("n_classes", &Posterior::n_classes)
      .def("probabilities",
           [](const Posterior& p, Row row) {
             if (row >= p.n_rows()) throw std::out_of_range("there is no such row");
             std::vector<double> of_row;
             for (int k = 0; k < p.n_classes(); ++k) of_row.push_back(p.of(row, k));
             return of_row;
           })
      .def(
          "add",
          [](Posterior& p, const std::vector<Tree*>& trees, int n_threads) {
            p.add(moves_of(trees, p), team_of(n_threads));
          },
          "trees"_a, "n_threads"_a, NoGil())
      .def(
          "class_losses",
          [](const Posterior& p, int n_threads) { return p.class_losses(team_of(n_threads)); },
          "n_threads"_a, NoGil())
      .def(
          "loss_of",
          [](const Posterior& p, const In<std::uint32_t>& rows) {
            for (std::size_t i = 0; i < rows.size(); ++i)
              if (rows.data()[i] >= p.n_rows()) throw std::out_of_range("there is no such row");
            return p.loss_of({rows.data(), rows.size()});
          },
          "rows"_a, NoGil())
      .def(
          "loss_after",
          [](const Posterior& p, const std::vector<Tree*>& trees, int n_threads) {
            return p.loss_after(moves_of(trees, p), team_of(n_threads));
          },
          "trees"_a, "n_threads"_a, NoGil());

  m.def(
      "grow_class_trees",
      [](const BinnedData& data, const Posterior& posterior, const Targets& targets,
         const std::string& criterion, const GrowLimits& limits, double factor, double shrinkage,
         int n_threads) {
        return grow_class_trees(data, posterior, targets_of(targets), criterion_named(criterion),
                                limits, factor, shrinkage, team_of(n_threads));
      },
      "data"_a, "posterior"_a, "targets"_a, "criterion"_a, "limits"_a, "factor"_a, "shrinkage"_a,
      "n_threads"_a, NoGil());

  using InMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  m.def(
      "grow_derivative_trees",
      [](const BinnedData& data, const InMatrix& g, const InMatrix& h, const GrowLimits& limits,
         double shrinkage, int n_threads) {
        if (g.shape(0) != data.n_rows || h.shape(0) != data.n_rows || g.shape(1) != h.shape(1))
          throw std::invalid_argument("g and h must have a row for every row, and the same shape");
        return grow_derivative_trees(data, g.data(), h.data(), static_cast<int>(g.shape(1)), limits,
                                     shrinkage, team_of(n_threads));
      },
      "data"_a, "g"_a, "h"_a, "limits"_a, "shrinkage"_a, "n_threads"_a, NoGil());

  nb::class_<PairTreeGrower>(m, "PairTreeGrower")
      .def(nb::init<const BinnedData&, const Posterior&, const GrowLimits&>(), "data"_a,
           "posterior"_a, "limits"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "grow",
          [](PairTreeGrower& g, bool vector_leaf, double shrinkage, int n_threads,
             const GrowLimits* limits) {
            return g.grow(vector_leaf ? LeafKind::vector : LeafKind::pair, shrinkage,
                          team_of(n_threads), limits);
          },
          "vector_leaf"_a, "shrinkage"_a, "n_threads"_a, "limits"_a.none() = nb::none(), NoGil());

  m.def(
      "find_covers",
      [](const std::vector<Tree*>& trees, std::optional<In<double>> weights, int n_threads) {
        find_covers(trees, weights ? weights->data() : nullptr, team_of(n_threads));
      },
      "trees"_a, "weights"_a.none(), "n_threads"_a, NoGil());

  nb::class_<ForestStore>(m, "ForestStore")
      .def(nb::init<>())
      .def(
          "append",
          [](ForestStore& s, const std::vector<Tree*>& trees) {
            for (const Tree* tree : trees) s.append(*tree);
          },
          "trees"_a)
      .def("arrays", [](const ForestStore& s) {
        nb::dict d;
        each_of_trees([&](const char* name, auto array) { d[name] = to_numpy(array(s)); });
        return d;
      });

  nb::class_<Forest>(m, "Forest")
      .def(
          "__init__",
          [](Forest* self, const nb::kwargs& arrays) {
            const HeldForest held(arrays);
            new (self) Forest(held.arrays());
          },
          "arrays"_a)
      .def_prop_ro("n_trees", &Forest::n_trees)
      .def(
          "add_scores",
          [](const Forest& f, const AnyTable& x, std::size_t first, std::size_t last,
             InOutScores scores, int n_threads) {
            f.add_scores(matrix(x), first, last, static_cast<int>(scores.shape(1)), scores.data(),
                         team_of(n_threads));
          },
          "x"_a, "first"_a, "last"_a, "scores"_a, "n_threads"_a, NoGil())
      .def(
          "replay",
          [](const Forest& f, const AnyTable& x, std::size_t first, std::size_t last,
             Posterior& posterior,
             int n_threads) { f.replay(matrix(x), first, last, posterior, team_of(n_threads)); },
          "x"_a, "first"_a, "last"_a, "posterior"_a, "n_threads"_a, NoGil())
      .def(
          "branch",
          [](const Forest& f, const AnyTable& x, const In<std::uint8_t>& frozen,
             const In<double>& right, std::size_t n_layers,
             nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> out, int n_threads) {
            f.branch(matrix(x), view(frozen), view(right), n_layers, out.data(),
                     team_of(n_threads));
          },
          "x"_a, "frozen"_a, "right"_a, "n_layers"_a, "out"_a, "n_threads"_a, NoGil())
      .def(
          "apply",
          [](const Forest& f, const AnyTable& x, std::size_t first, std::size_t last,
             nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> leaves,
             int n_threads) { f.apply(matrix(x), first, last, leaves.data(), team_of(n_threads)); },
          "x"_a, "first"_a, "last"_a, "leaves"_a, "n_threads"_a, NoGil());

  m.def(
      "add_tree_scores",
      [](const std::vector<Tree*>& trees, const AnyTable& x, InOutScores scores, int n_threads) {
        ForestStore store;
        for (const Tree* tree : trees) {
          need_features(*tree, matrix(x).cols);
          need_labels(tree->classes, scores.shape(1));
          store.append(*tree);
        }
        const Forest forest(store.view());
        forest.add_scores(matrix(x), 0, trees.size(), static_cast<int>(scores.shape(1)),
                          scores.data(), team_of(n_threads));
      },
      "trees"_a, "x"_a, "scores"_a, "n_threads"_a, NoGil());

  m.def(
      "softmax",
      [](InOutScores scores, int n_threads) {
        softmax(scores.data(), scores.shape(0), static_cast<int>(scores.shape(1)),
                team_of(n_threads));
      },
      "scores"_a, "n_threads"_a, NoGil());
  m.def(
      "top_k",
      [](const InScores& values, int k, int n_threads) {
        const std::size_t n = values.shape(0), n_columns = values.shape(1);
        if (k < 1 || static_cast<std::size_t>(k) > n_columns)
          throw std::invalid_argument("k must be from 1 to the number of columns");
        const auto width = static_cast<std::size_t>(k);
        std::vector<std::int32_t> columns(n * width);
        std::vector<double> largest(n * width);
        {
          const Unlocked nogil;
          top_k(values.data(), n, static_cast<int>(n_columns), width, columns.data(),
                largest.data(), team_of(n_threads));
        }
        return std::pair(to_numpy(std::move(columns)), to_numpy(std::move(largest)));
      },
      "values"_a, "k"_a, "n_threads"_a);
  m.def(
      "log_losses",
      [](const InScores& scores, const In<std::int32_t>& codes, int n_threads) {
        if (codes.size() != scores.shape(0)) throw std::invalid_argument("one label per row");
        need_labels(view(codes), scores.shape(1));
        std::vector<double> losses(codes.size());
        {
          const Unlocked nogil;
          log_losses(scores.data(), static_cast<int>(scores.shape(1)), view(codes), losses.data(),
                     team_of(n_threads));
        }
        return to_numpy(std::move(losses));
      },
      "scores"_a, "codes"_a, "n_threads"_a);

  auto testing = m.def_submodule("testing", "Kernels laid open for the tests.");
  testing.def("exp", [](double x) { return exp_portable(x); });
  testing.def("log", [](double x) { return log_portable(x); });
  testing.def(
      "histogram",
      [](const BinnedData& data, const In<std::uint32_t>& rows, const In<std::int64_t>& stats,
         bool naive) { return to_numpy(histogram_of(data, rows, stats, naive)); },
      "data"_a, "rows"_a, "stats"_a, "naive"_a);

  bind_explain(m);
  bind_votes(m);
  bind_blocks(m);
  bind_growing(m);
  bind_lab(m);
#ifdef EDGEWISE_PLANTED_BUGS
  bind_planted_bugs(testing);
#endif
}
