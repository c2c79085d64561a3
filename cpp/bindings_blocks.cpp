// The Python face of blocks of rows: what the machines of a cluster do, and the one who drives
// them. No arithmetic here.
#include "bindings.hpp"
#include "core/allocation.hpp"
#include "core/block_class_trees.hpp"
#include "core/block_hamming_tree.hpp"
#include "core/block_pair_tree.hpp"
#include "core/blocks.hpp"
#include "core/cover.hpp"
#include "core/edge.hpp"
#include "core/label_weights.hpp"
#include "core/pair_tree_driver.hpp"
#include "core/row_sums.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

using Targets = std::vector<std::pair<int, int>>;
using InSigns = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<Target> targets_from(const Targets& pairs) {
  std::vector<Target> targets;
  for (const auto& [k, base] : pairs) targets.push_back({k, base});
  return targets;
}

Criterion criterion_of(bool newton) {
  return newton ? Criterion::newton : Criterion::least_squares;
}

auto arrays_of(Histograms h) {
  return nb::make_tuple(to_numpy(std::move(h.sums)), to_numpy(std::move(h.counts)));
}

// A model's arrays, by name.
struct StoredForest {
  In<std::int64_t> node_start, value_start, set_start;
  In<std::int32_t> width, feature, left, classes;
  In<double> threshold, values, set_values;
  In<std::uint8_t> missing_left;

  explicit StoredForest(const nb::dict& d)
      : node_start(nb::cast<In<std::int64_t>>(d["node_start"])),
        value_start(nb::cast<In<std::int64_t>>(d["value_start"])),
        set_start(nb::cast<In<std::int64_t>>(d["set_start"])),
        width(nb::cast<In<std::int32_t>>(d["width"])),
        feature(nb::cast<In<std::int32_t>>(d["feature"])),
        left(nb::cast<In<std::int32_t>>(d["left"])),
        classes(nb::cast<In<std::int32_t>>(d["classes"])),
        threshold(nb::cast<In<double>>(d["threshold"])),
        values(nb::cast<In<double>>(d["values"])),
        set_values(nb::cast<In<double>>(d["set_values"])),
        missing_left(nb::cast<In<std::uint8_t>>(d["missing_left"])) {}

  ForestArrays arrays() const {
    return {view(node_start), view(value_start), view(width),        view(feature),
            view(left),       view(threshold),   view(missing_left), view(classes),
            view(values),     view(set_start),   view(set_values)};
  }
};

// Label weights of some rows, and the tree that grows on them.
struct HammingPart {
  const BinnedData& data;
  HammingTreeBlock tree;
  LabelWeights weights;
};

void bind_cuts(nb::module_& m) {
  nb::class_<Summary>(m, "Summary")
      .def(
          "__init__",
          [](Summary* self, const AnyMatrix& x, std::optional<In<double>> weights, double largest,
             int n_threads) {
            nb::gil_scoped_release nogil;
            new (self) Summary(summarise(matrix(x), weights ? weights->data() : nullptr, largest,
                                         team_of(n_threads)));
          },
          "x"_a, "weights"_a.none(), "largest"_a, "n_threads"_a)
      .def(
          "merged", [](const Summary& a, const Summary& b) { return merged(a, b); }, "other"_a,
          NoGil())
      .def(
          "n_distinct",
          [](const Summary& s, std::size_t f) { return s.of_feature.at(f).values.size(); },
          "feature"_a)
      .def("__getstate__",
           [](const Summary& s) {
             nb::list parts;
             for (const FeatureSummary& f : s.of_feature)
               parts.append(nb::make_tuple(to_numpy(f.values), to_numpy(f.masses), f.has_nan,
                                           f.has_infinity));
             return nb::make_tuple(parts);
           })
      .def("__setstate__", [](Summary& s, const nb::tuple& state) {
        new (&s) Summary();
        for (const auto& part : nb::cast<nb::list>(state[0])) {
          const auto of_feature = nb::cast<nb::tuple>(part);
          s.of_feature.push_back({copy(nb::cast<In<double>>(of_feature[0])),
                                  copy(nb::cast<In<std::uint64_t>>(of_feature[1])),
                                  nb::cast<bool>(of_feature[2]), nb::cast<bool>(of_feature[3])});
        }
      });

  nb::class_<Cuts>(m, "Cuts")
      .def(
          "__init__",
          [](Cuts* self, const Summary& summary, int max_bins,
             const std::vector<int>& categorical) {
            new (self) Cuts(cuts_of(summary, max_bins, categorical));
          },
          "summary"_a, "max_bins"_a, "categorical"_a)
      .def("__getstate__",
           [](const Cuts& c) {
             nb::list values;
             for (const auto& of_feature : c.of_feature) values.append(to_numpy(of_feature));
             return nb::make_tuple(values, to_numpy(c.has_missing), to_numpy(c.categorical));
           })
      .def("__setstate__", [](Cuts& c, const nb::tuple& state) {
        new (&c) Cuts();
        for (const auto& of_feature : nb::cast<nb::list>(state[0]))
          c.of_feature.push_back(copy(nb::cast<In<double>>(of_feature)));
        c.has_missing = copy(nb::cast<In<std::uint8_t>>(state[1]));
        c.categorical = copy(nb::cast<In<std::uint8_t>>(state[2]));
      });

  m.def(
      "bin_rows",
      [](const AnyMatrix& x, const Cuts& cuts, int n_threads) {
        nb::gil_scoped_release nogil;
        return BinnedData(matrix(x), cuts, {}, team_of(n_threads));
      },
      "x"_a, "cuts"_a, "n_threads"_a);
  m.def(
      "binned_from_columns",
      [](const In<Code>& columns, std::size_t n_rows, const Cuts& cuts, int n_threads) {
        nb::gil_scoped_release nogil;
        return BinnedData(copy(columns), n_rows, cuts, team_of(n_threads));
      },
      "columns"_a, "n_rows"_a, "cuts"_a, "n_threads"_a);
  m.def("columns_of", [](const BinnedData& d) { return to_numpy(d.all_columns()); });
  m.def(
      "trees_on_bins",
      [](const Cuts& cuts, const nb::dict& forest) {
        return binned_trees(cuts, StoredForest(forest).arrays());
      },
      "cuts"_a, "forest"_a);
  m.def(
      "route",
      [](const BinnedData& data, Tree& tree, int n_threads) {
        route_all(data, tree, team_of(n_threads));
      },
      "data"_a, "tree"_a, "n_threads"_a, NoGil());
}

void bind_class_trees(nb::module_& m) {
  m.def(
      "class_units",
      [](std::size_t n, const In<double>& largest) {
        return to_numpy(class_units(n, copy(largest)));
      },
      "n"_a, "largest"_a);
  m.def(
      "class_scales",
      [](std::size_t n, const In<double>& largest, const In<std::int64_t>& sums) {
        return to_numpy(numbers_of(class_scales(n, {copy(largest), copy(sums)})));
      },
      "n"_a, "largest"_a, "sums"_a);
  m.def(
      "set_class_leaves",
      [](const std::vector<Tree*>& trees, const Targets& targets, const In<double>& scales,
         const In<std::int64_t>& sums, double factor, double shrinkage) {
        set_class_leaves(trees, targets_from(targets), scales_from(view(scales)), view(sums),
                         factor, shrinkage);
      },
      "trees"_a, "targets"_a, "scales"_a, "sums"_a, "factor"_a, "shrinkage"_a);

  nb::class_<ClassTreesBlock>(m, "ClassTreesBlock")
      .def(nb::init<const BinnedData&, const Posterior&>(), "data"_a, "posterior"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "facts",
          [](const ClassTreesBlock& b, const Targets& targets, bool newton, const In<double>& units,
             int n_threads) {
            ClassFacts facts;
            {
              nb::gil_scoped_release nogil;
              facts = b.facts(targets_from(targets), criterion_of(newton), copy(units),
                              team_of(n_threads));
            }
            return nb::make_tuple(to_numpy(facts.largest), to_numpy(facts.sums));
          },
          "targets"_a, "newton"_a, "units"_a, "n_threads"_a)
      .def(
          "begin",
          [](ClassTreesBlock& b, const Targets& targets, bool newton, const In<double>& scales,
             std::size_t n_total, double negligible, int n_threads) {
            auto histograms = [&] {
              nb::gil_scoped_release nogil;
              return b.begin(targets_from(targets), criterion_of(newton), scales_from(view(scales)),
                             n_total, negligible, team_of(n_threads));
            }();
            return arrays_of(std::move(histograms));
          },
          "targets"_a, "newton"_a, "scales"_a, "n_total"_a, "negligible"_a, "n_threads"_a)
      .def(
          "expand",
          [](ClassTreesBlock& b, const In<std::int64_t>& expansions, int n_threads) {
            auto histograms = [&] {
              nb::gil_scoped_release nogil;
              return b.expand(Expansion::from(view(expansions)), team_of(n_threads));
            }();
            return arrays_of(std::move(histograms));
          },
          "expansions"_a, "n_threads"_a)
      .def(
          "leaf_sums",
          [](const ClassTreesBlock& b, const Targets& targets, const In<double>& scales,
             const std::vector<Tree*>& trees, int n_threads) {
            std::vector<std::int64_t> sums;
            {
              nb::gil_scoped_release nogil;
              sums = b.leaf_sums(targets_from(targets), scales_from(view(scales)), trees,
                                 team_of(n_threads));
            }
            return to_numpy(std::move(sums));
          },
          "targets"_a, "scales"_a, "trees"_a, "n_threads"_a);

  nb::class_<ClassTreesDriver>(m, "ClassTreesDriver")
      .def(
          "__init__",
          [](ClassTreesDriver* self, const BinnedData& data, const GrowLimits& limits,
             const In<double>& scales) {
            auto of_targets = scales_from(view(scales));
            const std::size_t n_trees = of_targets.size();
            new (self) ClassTreesDriver(
                data, limits, n_trees,
                ClassHistograms(data, limits.min_samples_leaf, std::move(of_targets)));
          },
          "data"_a, "limits"_a, "scales"_a, nb::keep_alive<1, 2>())
      .def(
          "take_roots",
          [](ClassTreesDriver& d, const In<std::int64_t>& sums, const In<std::int32_t>& counts,
             int n_threads) { d.take_roots({view(sums), view(counts)}, team_of(n_threads)); },
          "sums"_a, "counts"_a, "n_threads"_a, NoGil())
      .def("next",
           [](ClassTreesDriver& d) {
             std::vector<std::int64_t> numbers;
             for (const Expansion& e : d.next()) e.append_to(numbers);
             return to_numpy(std::move(numbers));
           })
      .def(
          "take",
          [](ClassTreesDriver& d, const In<std::int64_t>& sums, const In<std::int32_t>& counts,
             int n_threads) { d.take({view(sums), view(counts)}, team_of(n_threads)); },
          "sums"_a, "counts"_a, "n_threads"_a, NoGil())
      .def("finish", &ClassTreesDriver::finish);
}

void bind_pair_tree(nb::module_& m) {
  m.def(
      "set_pair_leaves",
      [](Tree& tree, int n_classes, const In<std::int32_t>& pairs, const In<std::int64_t>& sums,
         double shrinkage) {
        set_pair_leaves(tree, n_classes, view(pairs), view(sums), shrinkage);
      },
      "tree"_a, "n_classes"_a, "pairs"_a, "sums"_a, "shrinkage"_a);

  nb::class_<PairTreeBlock>(m, "PairTreeBlock")
      .def(nb::init<const BinnedData&, const Posterior&>(), "data"_a, "posterior"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "largest",
          [](const PairTreeBlock& b, int n_threads) { return b.largest(team_of(n_threads)); },
          "n_threads"_a, NoGil())
      .def(
          "begin",
          [](PairTreeBlock& b, std::size_t n_total, double largest, int n_threads) {
            std::vector<std::int64_t> sums;
            {
              nb::gil_scoped_release nogil;
              sums = b.begin(n_total, largest, team_of(n_threads));
            }
            return to_numpy(std::move(sums));
          },
          "n_total"_a, "largest"_a, "n_threads"_a)
      .def(
          "answer",
          [](PairTreeBlock& b, const In<std::int64_t>& expansions, const In<std::int32_t>& pairs,
             const In<std::int64_t>& histograms, double negligible, bool counted, int n_threads) {
            auto answers = [&] {
              nb::gil_scoped_release nogil;
              return b.answer({Expansion::from(view(expansions)), copy(pairs), copy(histograms)},
                              negligible, counted, team_of(n_threads));
            }();
            return nb::make_tuple(to_numpy(std::move(answers.nodes)),
                                  to_numpy(std::move(answers.pairs)),
                                  to_numpy(std::move(answers.histograms.sums)),
                                  to_numpy(std::move(answers.histograms.counts)));
          },
          "expansions"_a, "pairs"_a, "histograms"_a, "negligible"_a, "counted"_a, "n_threads"_a)
      .def(
          "leaf_sums",
          [](const PairTreeBlock& b, Tree& tree, const In<std::int32_t>& pairs, std::size_t n_total,
             int n_threads) {
            std::vector<std::int64_t> sums;
            {
              nb::gil_scoped_release nogil;
              sums = b.leaf_sums(tree, view(pairs), n_total, team_of(n_threads));
            }
            return to_numpy(std::move(sums));
          },
          "tree"_a, "pairs"_a, "n_total"_a, "n_threads"_a);

  nb::class_<PairTreeDriver>(m, "PairTreeDriver")
      .def(
          "__init__",
          [](PairTreeDriver* self, const BinnedData& data, const GrowLimits& limits, int n_classes,
             bool vector_leaf) {
            new (self) PairTreeDriver(data, limits, n_classes,
                                      vector_leaf ? LeafKind::vector : LeafKind::pair);
          },
          "data"_a, "limits"_a, "n_classes"_a, "vector_leaf"_a, nb::keep_alive<1, 2>())
      .def(
          "take_root",
          [](PairTreeDriver& d, std::size_t n_rows, double largest, const In<std::int64_t>& sums) {
            d.take_root(n_rows, largest, view(sums));
          },
          "n_rows"_a, "largest"_a, "sums"_a)
      .def("next",
           [](PairTreeDriver& d) {
             PairRequests requests = d.next();
             std::vector<std::int64_t> numbers;
             for (const Expansion& e : requests.expansions) e.append_to(numbers);
             return nb::make_tuple(to_numpy(std::move(numbers)),
                                   to_numpy(std::move(requests.pairs)),
                                   to_numpy(std::move(requests.histograms)));
           })
      .def(
          "take",
          [](PairTreeDriver& d, const In<std::int64_t>& nodes, const In<std::int64_t>& pairs,
             const In<std::int64_t>& sums, const In<std::int32_t>& counts, int n_threads) {
            d.take({view(nodes), view(pairs), view(sums), view(counts)}, team_of(n_threads));
          },
          "nodes"_a, "pairs"_a, "sums"_a, "counts"_a, "n_threads"_a, NoGil())
      .def("finish", &PairTreeDriver::finish)
      .def_prop_ro(
          "pairs", [](const PairTreeDriver& d) { return to_numpy(d.pairs()); },
          nb::rv_policy::move);
}

void bind_hamming_tree(nb::module_& m) {
  nb::class_<EdgeScale>(m, "EdgeScale")
      .def(
          "__init__",
          [](EdgeScale* self, std::size_t n_rows, int n_classes, double fine, double sum,
             double negligible) {
            new (self) EdgeScale(edge_scale(n_rows, n_classes, fine, sum, negligible));
          },
          "n_rows"_a, "n_classes"_a, "fine"_a, "sum"_a, "negligible"_a)
      .def_ro("fine", &EdgeScale::fine)
      .def_ro("unit", &EdgeScale::unit)
      .def("__getstate__",
           [](const EdgeScale& s) { return nb::make_tuple(s.fine, s.unit, s.least); })
      .def("__setstate__", [](EdgeScale& s, const nb::tuple& state) {
        new (&s) EdgeScale{nb::cast<double>(state[0]), nb::cast<double>(state[1]),
                           nb::cast<std::int64_t>(state[2])};
      });
  m.def("edge_fine_unit", &edge_fine_unit, "n_rows"_a, "n_classes"_a, "largest"_a);
  m.def(
      "set_edge_sums",
      [](Tree& tree, std::size_t n_classes, double fine, const In<std::int64_t>& sums) {
        set_edge_sums(tree, n_classes, fine, copy(sums));
      },
      "tree"_a, "n_classes"_a, "fine"_a, "sums"_a);

  // Label weights of rows that are a part of the data.
  nb::class_<HammingPart>(m, "HammingTreeBlock")
      .def(
          "__init__",
          [](HammingPart* self, const BinnedData& data, const InSigns& signs,
             const In<double>& positive, const In<double>& negative) {
            new (self) HammingPart{
                data, HammingTreeBlock(data),
                LabelWeights(std::vector<std::int8_t>(signs.data(), signs.data() + signs.size()),
                             view(positive), view(negative), signs.shape(1))};
          },
          "data"_a, "signs"_a, "positive"_a, "negative"_a, nb::keep_alive<1, 2>())
      .def(
          "add",
          [](HammingPart& b, const std::vector<Tree*>& trees, int n_threads) {
            b.weights.add_to_margins(moves_of(trees), team_of(n_threads));
          },
          "trees"_a, "n_threads"_a, NoGil())
      .def(
          "largest_log",
          [](HammingPart& b, int n_threads) { return b.weights.largest_log(team_of(n_threads)); },
          "n_threads"_a, NoGil())
      .def(
          "exponentials",
          [](HammingPart& b, double shift, double unit, int n_threads) {
            return b.weights.exponentials(shift, unit, team_of(n_threads));
          },
          "shift"_a, "unit"_a, "n_threads"_a, NoGil())
      .def(
          "settle",
          [](HammingPart& b, double shift, double sum, int n_threads) {
            b.weights.settle(shift, sum, team_of(n_threads));
            return b.weights.log_risk();
          },
          "shift"_a, "sum"_a, "n_threads"_a, NoGil())
      .def(
          "sizes",
          [](const HammingPart& b, double unit) {
            const auto& w = b.weights.signed_weights();
            return std::pair(largest(w.data(), w.size(), Team(1)),
                             sum_of_sizes(w.data(), w.size(), unit));
          },
          "unit"_a, NoGil())
      .def(
          "hamming_sum",
          [](const HammingPart& b, double unit, int n_threads) {
            return b.weights.hamming_sum(unit, team_of(n_threads));
          },
          "unit"_a, "n_threads"_a, NoGil())
      .def(
          "vote_mass_sum",
          [](const HammingPart& b, const In<double>& votes, double unit, int n_threads) {
            return b.weights.vote_mass_sum(view(votes), unit, team_of(n_threads));
          },
          "votes"_a, "unit"_a, "n_threads"_a, NoGil())
      .def(
          "begin",
          [](HammingPart& b, const EdgeScale& scale, int n_threads) {
            std::vector<Lane> histogram;
            {
              nb::gil_scoped_release nogil;
              histogram =
                  b.tree.begin(b.weights.signed_weights().data(),
                               static_cast<int>(b.weights.n_classes()), scale, team_of(n_threads));
            }
            return to_numpy(std::move(histogram));
          },
          "scale"_a, "n_threads"_a)
      .def(
          "expand",
          [](HammingPart& b, const In<std::int64_t>& expansions, int n_threads) {
            std::vector<Lane> histograms;
            {
              nb::gil_scoped_release nogil;
              histograms = b.tree.expand(Expansion::from(view(expansions)), team_of(n_threads));
            }
            return to_numpy(std::move(histograms));
          },
          "expansions"_a, "n_threads"_a)
      .def(
          "leaf_sums",
          [](const HammingPart& b, Tree& tree, double fine, int n_threads) {
            std::vector<std::int64_t> sums;
            {
              nb::gil_scoped_release nogil;
              const Team team = team_of(n_threads);
              route_all(b.data, tree, team);
              sums = edge_leaf_sums(b.weights.signed_weights().data(), b.weights.n_rows(),
                                    b.weights.n_classes(), fine, tree, n_leaves(tree), team);
            }
            return to_numpy(std::move(sums));
          },
          "tree"_a, "fine"_a, "n_threads"_a);

  nb::class_<HammingTreeDriver>(m, "HammingTreeDriver")
      .def(
          "__init__",
          [](HammingTreeDriver* self, const BinnedData& data, const GrowLimits& limits,
             int n_classes, double unit) {
            new (self) HammingTreeDriver(data, limits, 1,
                                         HammingHistograms(data, limits, n_classes, unit));
          },
          "data"_a, "limits"_a, "n_classes"_a, "unit"_a, nb::keep_alive<1, 2>())
      .def(
          "take_root",
          [](HammingTreeDriver& d, const In<Lane>& histogram, int n_threads) {
            d.take_roots(view(histogram), team_of(n_threads));
          },
          "histogram"_a, "n_threads"_a, NoGil())
      .def("next",
           [](HammingTreeDriver& d) {
             std::vector<std::int64_t> numbers;
             for (const Expansion& e : d.next()) e.append_to(numbers);
             return to_numpy(std::move(numbers));
           })
      .def(
          "take",
          [](HammingTreeDriver& d, const In<Lane>& histograms, int n_threads) {
            d.take(view(histograms), team_of(n_threads));
          },
          "histograms"_a, "n_threads"_a, NoGil())
      .def("finish", [](HammingTreeDriver& d) { return std::move(d.finish()[0]); });
}

}  // namespace

void bind_blocks(nb::module_& m) {
  m.def("keep_buffers", &keep_buffers, "n_bytes"_a);
  bind_hamming_tree(m);
  bind_cuts(m);
  bind_class_trees(m);
  bind_pair_tree(m);
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
        return p.loss_sum_after(moves_of(trees), unit, team_of(n_threads));
      },
      "posterior"_a, "trees"_a, "unit"_a, "n_threads"_a, NoGil());
}

}  // namespace edgewise::bindings
