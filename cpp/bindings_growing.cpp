// The Python face of trees that are grown on blocks of rows: what the blocks do, and the one who
// drives them. No arithmetic here.
#include <nanobind/stl/tuple.h>

#include "bindings.hpp"
#include "core/block_class_trees.hpp"
#include "core/block_hamming_tree.hpp"
#include "core/block_pair_tree.hpp"
#include "core/blocks.hpp"
#include "core/edge.hpp"
#include "core/label_weights.hpp"
#include "core/pair_tree_driver.hpp"
#include "core/row_sums.hpp"

using namespace nb::literals;

namespace edgewise::bindings {
namespace {

using InSigns = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What f returns, done without Python's lock.
template <class F>
auto unlocked(F f) {
  const Unlocked nogil;
  return f();
}

// A sample of a block's rows.
using Drawn = std::optional<In<std::uint8_t>>;

template <class BlockOfRows>
void draw(BlockOfRows& block, const Drawn& drawn) {
  block.draw(drawn ? drawn->data() : nullptr);
}

template <class Driver>
auto next_expansions(Driver& driver) {
  std::vector<std::int64_t> numbers;
  for (const Expansion& e : driver.next()) e.append_to(numbers);
  return to_numpy(std::move(numbers));
}

LeafKind leaf_kind(bool vector) { return vector ? LeafKind::vector : LeafKind::pair; }

// Label weights of some rows, and the tree that grows on them.
struct HammingPart {
  const BinnedData& data;
  HammingTreeBlock tree;
  LabelWeights weights;
};

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
  nb::class_<ClassTreesBlock>(m, "ClassTreesBlock")
      .def(nb::init<const BinnedData&, const Posterior&>(), "data"_a, "posterior"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("draw", &draw<ClassTreesBlock>, "drawn"_a.none())
      .def(
          "facts",
          [](const ClassTreesBlock& b, const Targets& targets, const std::string& criterion,
             const In<double>& units, int n_threads) {
            const ClassFacts facts = unlocked([&] {
              return b.facts(targets_of(targets), criterion_named(criterion), copy(units),
                             team_of(n_threads));
            });
            return nb::make_tuple(to_numpy(facts.largest), to_numpy(facts.sums));
          },
          "targets"_a, "criterion"_a, "units"_a, "n_threads"_a)
      .def(
          "begin",
          [](ClassTreesBlock& b, const Targets& targets, const std::string& criterion,
             const In<double>& scales, std::size_t n_counted, double negligible, int n_threads) {
            auto histograms = unlocked([&] {
              return b.begin(targets_of(targets), criterion_named(criterion),
                             scales_from(view(scales)), n_counted, negligible, team_of(n_threads));
            });
            return nb::make_tuple(to_numpy(std::move(histograms.sums)),
                                  to_numpy(std::move(histograms.counts)));
          },
          "targets"_a, "criterion"_a, "scales"_a, "n_counted"_a, "negligible"_a, "n_threads"_a)
      .def(
          "expand",
          [](ClassTreesBlock& b, const In<std::int64_t>& expansions, bool sides, int n_threads) {
            auto answers = unlocked([&] {
              return b.expand(Expansion::from(view(expansions)), sides, team_of(n_threads));
            });
            return nb::make_tuple(to_numpy(std::move(answers.histograms.sums)),
                                  to_numpy(std::move(answers.histograms.counts)),
                                  to_numpy(std::move(answers.sides)));
          },
          "expansions"_a, "sides"_a, "n_threads"_a)
      .def(
          "leaf_sums",
          [](const ClassTreesBlock& b, const Targets& targets, const In<double>& scales,
             const std::vector<Tree*>& trees, int n_threads) {
            return to_numpy(unlocked([&] {
              return b.leaf_sums(targets_of(targets), scales_from(view(scales)), trees,
                                 team_of(n_threads));
            }));
          },
          "targets"_a, "scales"_a, "trees"_a, "n_threads"_a);

  bind_settling<ClassTreesBlock>(m);

  nb::class_<ClassTreesDriver>(m, "ClassTreesDriver")
      .def(
          "__init__",
          [](ClassTreesDriver* self, const BinnedData& data, const GrowLimits& limits,
             const Targets& targets, const std::string& criterion, const In<double>& scales,
             double factor, double shrinkage) {
            const ClassTask task{targets_of(targets), criterion_named(criterion), factor, shrinkage,
                                 scales_from(view(scales))};
            new (self)
                ClassTreesDriver(data, limits, targets.size(), ClassHistograms(data, limits, task));
          },
          "data"_a, "limits"_a, "targets"_a, "criterion"_a, "scales"_a, "factor"_a, "shrinkage"_a,
          nb::keep_alive<1, 2>())
      .def(
          "take_roots",
          [](ClassTreesDriver& d, const In<std::int64_t>& sums, const In<std::int32_t>& counts,
             int n_threads) { d.take_roots({view(sums), view(counts), {}}, team_of(n_threads)); },
          "sums"_a, "counts"_a, "n_threads"_a, NoGil())
      .def("next", &next_expansions<ClassTreesDriver>)
      .def_prop_ro("wants_sides", &ClassTreesDriver::has_bounds)
      .def(
          "take",
          [](ClassTreesDriver& d, const In<std::int64_t>& sums, const In<std::int32_t>& counts,
             const In<std::int64_t>& sides, int n_threads) {
            d.take({view(sums), view(counts), view(sides)}, team_of(n_threads));
          },
          "sums"_a, "counts"_a, "sides"_a, "n_threads"_a, NoGil())
      .def("finish", &ClassTreesDriver::finish)
      .def(
          "set_leaves",
          [](ClassTreesDriver& d, const std::vector<Tree*>& trees, const In<std::int64_t>& sums) {
            set_class_leaves(d, trees, view(sums));
          },
          "trees"_a, "sums"_a);
}

void bind_pair_tree(nb::module_& m) {
  nb::class_<PairTreeBlock>(m, "PairTreeBlock")
      .def(nb::init<const BinnedData&, const Posterior&>(), "data"_a, "posterior"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("draw", &draw<PairTreeBlock>, "drawn"_a.none())
      .def(
          "largest",
          [](const PairTreeBlock& b, int n_threads) { return b.largest(team_of(n_threads)); },
          "n_threads"_a, NoGil())
      .def(
          "begin",
          [](PairTreeBlock& b, std::size_t n_total, double largest, int n_threads) {
            return to_numpy(
                unlocked([&] { return b.begin(n_total, largest, team_of(n_threads)); }));
          },
          "n_total"_a, "largest"_a, "n_threads"_a)
      .def(
          "answer",
          [](PairTreeBlock& b, const In<std::int64_t>& expansions, const In<std::int32_t>& pairs,
             const In<std::int64_t>& histograms, const In<std::int32_t>& sides, bool vector_leaf,
             double negligible, bool counted, int n_threads) {
            auto answers = unlocked([&] {
              return b.answer(
                  {Expansion::from(view(expansions)), copy(pairs), copy(histograms), copy(sides)},
                  {leaf_kind(vector_leaf), negligible, counted}, team_of(n_threads));
            });
            return nb::make_tuple(
                to_numpy(std::move(answers.nodes)), to_numpy(std::move(answers.pairs)),
                to_numpy(std::move(answers.histograms.sums)),
                to_numpy(std::move(answers.histograms.counts)), to_numpy(std::move(answers.sides)));
          },
          "expansions"_a, "pairs"_a, "histograms"_a, "sides"_a, "vector_leaf"_a, "negligible"_a,
          "counted"_a, "n_threads"_a)
      .def(
          "leaf_sums",
          [](const PairTreeBlock& b, Tree& tree, bool vector_leaf, const In<std::int32_t>& pairs,
             int n_threads) {
            return to_numpy(unlocked([&] {
              return b.leaf_sums(tree, leaf_kind(vector_leaf), view(pairs), team_of(n_threads));
            }));
          },
          "tree"_a, "vector_leaf"_a, "pairs"_a, "n_threads"_a);

  nb::class_<PairTreeDriver>(m, "PairTreeDriver")
      .def(
          "__init__",
          [](PairTreeDriver* self, const BinnedData& data, const GrowLimits& limits, int n_classes,
             bool vector_leaf, double shrinkage, std::size_t n_total, double largest,
             std::optional<In<double>> listed_start) {
            std::optional<Prior> prior;
            if (listed_start) prior.emplace(view(*listed_start));
            new (self) PairTreeDriver(data, limits, n_classes, leaf_kind(vector_leaf), shrinkage,
                                      n_total, largest, std::move(prior));
          },
          "data"_a, "limits"_a, "n_classes"_a, "vector_leaf"_a, "shrinkage"_a, "n_total"_a,
          "largest"_a, "listed_start"_a.none(), nb::keep_alive<1, 2>())
      .def(
          "take_root",
          [](PairTreeDriver& d, std::size_t n_rows, const In<std::int64_t>& sums) {
            d.take_root(n_rows, view(sums));
          },
          "n_rows"_a, "sums"_a)
      .def("next",
           [](PairTreeDriver& d) {
             PairRequests requests = d.next();
             std::vector<std::int64_t> numbers;
             for (const Expansion& e : requests.expansions) e.append_to(numbers);
             return nb::make_tuple(
                 to_numpy(std::move(numbers)), to_numpy(std::move(requests.pairs)),
                 to_numpy(std::move(requests.histograms)), to_numpy(std::move(requests.sides)));
           })
      .def(
          "take",
          [](PairTreeDriver& d, const In<std::int64_t>& nodes, const In<std::int64_t>& pairs,
             const In<std::int64_t>& sums, const In<std::int32_t>& counts,
             const In<std::int64_t>& sides, int n_threads) {
            d.take({view(nodes), view(pairs), view(sums), view(counts), view(sides)},
                   team_of(n_threads));
          },
          "nodes"_a, "pairs"_a, "sums"_a, "counts"_a, "sides"_a, "n_threads"_a, NoGil())
      .def("finish", &PairTreeDriver::finish)
      .def(
          "set_leaves",
          [](PairTreeDriver& d, Tree& tree, const In<std::int64_t>& sums) {
            d.set_leaves(tree, view(sums));
          },
          "tree"_a, "sums"_a)
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
            const LabelWeights& w = b.weights;
            b.weights.add_to_margins(moves_of(trees, w.n_rows(), w.n_classes()),
                                     team_of(n_threads));
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
              const Unlocked nogil;
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
            return to_numpy(unlocked([&] {
              return b.tree.expand(Expansion::from(view(expansions)), team_of(n_threads));
            }));
          },
          "expansions"_a, "n_threads"_a)
      .def(
          "leaf_sums",
          [](const HammingPart& b, Tree& tree, double fine, int n_threads) {
            std::vector<std::int64_t> sums;
            {
              const Unlocked nogil;
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
      .def("next", &next_expansions<HammingTreeDriver>)
      .def(
          "take",
          [](HammingTreeDriver& d, const In<Lane>& histograms, int n_threads) {
            d.take(view(histograms), team_of(n_threads));
          },
          "histograms"_a, "n_threads"_a, NoGil())
      .def("finish", [](HammingTreeDriver& d) { return std::move(d.finish()[0]); });
}

}  // namespace

void bind_growing(nb::module_& m) {
  bind_hamming_tree(m);
  bind_class_trees(m);
  bind_pair_tree(m);
}

}  // namespace edgewise::bindings
