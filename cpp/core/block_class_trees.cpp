#include "block_class_trees.hpp"

#include <algorithm>

#include "criteria/least_squares.hpp"
#include "criteria/newton.hpp"
#include "derivatives.hpp"
#include "row_sums.hpp"
#include "split.hpp"
#include "two_channel.hpp"

namespace edgewise {
namespace {

constexpr std::size_t kAtOnce = 1024;  // rows whose statistics are made together

// Derivatives of a piece of rows and the mass the criterion takes of them.
struct Piece {
  std::vector<double> g, h, ones;
  const double* mass = nullptr;

  // All rows of a block.
  void derive(const Posterior& posterior, Target target, Criterion criterion) {
    const std::size_t n = posterior.n_rows();
    g.resize(n), h.resize(n);
    derive_rows(posterior, target.k, target.base, posterior.weights(), 0, n, g.data(), h.data());
    weigh(posterior.weights(), n, criterion);
  }

  // Some rows, of residuals r and, against a base class, `base`.
  void derive(const double* r, const double* base, const double* weights, std::size_t n,
              Criterion criterion) {
    g.resize(n), h.resize(n);
    if (base) {
      derive_against(r, base, weights, n, g.data(), h.data());
    } else {
      derive_alone(r, weights, n, g.data(), h.data());
    }
    weigh(weights, n, criterion);
  }

 private:
  void weigh(const double* weights, std::size_t n, Criterion criterion) {
    if (!weights) {
      ones.resize(n, 1.0);
      weights = ones.data();
    }
    mass = criterion == Criterion::newton ? Newton::mass(weights, h.data())
                                          : LeastSquares::mass(weights, h.data());
  }
};

}  // namespace

std::vector<double> numbers_of(const std::vector<ClassScale>& scales) {
  std::vector<double> numbers;
  for (const ClassScale& s : scales)
    numbers.insert(numbers.end(),
                   {s.unit.g, s.unit.h, s.packed.g, s.packed.h, s.sum_g, s.sum_mass});
  return numbers;
}

std::vector<ClassScale> scales_from(std::span<const double> n) {
  std::vector<ClassScale> scales;
  for (std::size_t i = 0; i + kScaleWidth <= n.size(); i += kScaleWidth)
    scales.push_back({{n[i], n[i + 1]}, {n[i + 2], n[i + 3]}, n[i + 4], n[i + 5]});
  return scales;
}

std::vector<double> class_units(std::size_t n, const std::vector<double>& largest) {
  std::vector<double> units;
  for (std::size_t t = 0; t < largest.size(); t += 3) {
    units.push_back(sum_scale(n, largest[t]));
    units.push_back(sum_scale(n, largest[t + 2]));
  }
  return units;
}

std::vector<ClassScale> class_scales(std::size_t n, const ClassFacts& facts) {
  const auto units = class_units(n, facts.largest);
  std::vector<ClassScale> scales;
  for (std::size_t t = 0; t < units.size() / 2; ++t) {
    const double sum_g = static_cast<double>(facts.sums[2 * t]) / units[2 * t];
    const double sum_mass = static_cast<double>(facts.sums[2 * t + 1]) / units[2 * t + 1];
    ClassScale s;
    s.unit = {units[2 * t], sum_scale(n, facts.largest[3 * t + 1])};
    s.packed = {FixedPoint::units(sum_g, n), FixedPoint::units(sum_mass, n)};
    s.sum_g = sum_g * s.packed.g;
    s.sum_mass = sum_mass * s.packed.h;
    scales.push_back(s);
  }
  return scales;
}

// --- those who hold rows ------------------------------------------------------------------------

ClassTreesBlock::ClassTreesBlock(const BinnedData& data, const Posterior& posterior)
    : data_(data), posterior_(posterior) {}

ClassFacts ClassTreesBlock::facts(const std::vector<Target>& targets, Criterion criterion,
                                  const std::vector<double>& units, const Team& team) const {
  const std::size_t n = data_.n_rows;
  ClassFacts facts{std::vector<double>(3 * targets.size()),
                   std::vector<std::int64_t>(2 * targets.size())};
  std::vector<Piece> pieces(static_cast<std::size_t>(team.size()));
  team.each(targets.size(), [&](std::size_t t, int slot) {
    const Team alone = team.alone(slot);
    Piece& p = pieces[static_cast<std::size_t>(slot)];
    p.derive(posterior_, targets[t], criterion);
    double* most = &facts.largest[3 * t];
    most[0] = largest(p.g.data(), n, alone);
    most[1] = largest(p.h.data(), n, alone);
    most[2] = largest(p.mass, n, alone);
    facts.sums[2 * t] = sum_of_sizes(p.g.data(), n, units[2 * t]);
    facts.sums[2 * t + 1] = sum_of_sizes(p.mass, n, units[2 * t + 1]);
  });
  return facts;
}

Histograms ClassTreesBlock::begin(const std::vector<Target>& targets, Criterion criterion,
                                  const std::vector<ClassScale>& scales, std::size_t n_total,
                                  double negligible, const Team& team) {
  const std::size_t n = data_.n_rows;
  Histograms out(targets.size(), data_.n_places());
  criterion_ = criterion;
  trees_.clear();
  trees_.resize(targets.size());
  std::vector<Piece> pieces(static_cast<std::size_t>(team.size()));
  team.each(targets.size(), [&](std::size_t t, int slot) {
    Piece& p = pieces[static_cast<std::size_t>(slot)];
    p.derive(posterior_, targets[t], criterion);
    const ClassScale& scale = scales[t];
    std::vector<Packed> stats(n);
    pack_rows(p.g.data(), p.mass, n, scale.packed, stats.data());
    const Threshold counts(negligible, scale.sum_g, scale.sum_mass, n_total);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < n; ++i)
      if (counts(stats[i])) rows.push_back(static_cast<Row>(i));
    Growing& tree = trees_[t];
    tree.target = targets[t], tree.scale = scale.packed;
    tree.rows.plant(std::move(rows));
    std::vector<CountedBin> bins(data_.n_places());
    fill(tree, tree.rows.of(0), bins);
    out.put(t, bins);
  });
  return out;
}

Histograms ClassTreesBlock::expand(const std::vector<Expansion>& expansions, const Team& team) {
  std::vector<std::size_t> child, slot_of, n_of_tree(trees_.size());
  std::size_t n_built = 0;
  for (const Expansion& e : expansions) {
    const auto t = static_cast<std::size_t>(e.tree);
    child.push_back(trees_[t].rows.n_nodes() + 2 * n_of_tree[t]++);
    slot_of.push_back(n_built);
    n_built += e.build != Build::none;
  }
  for (std::size_t t = 0; t < trees_.size(); ++t) trees_[t].rows.make_room(n_of_tree[t]);
  Histograms out(n_built, data_.n_places());
  team.each(expansions.size(), [&](std::size_t i, int slot) {
    const Expansion& e = expansions[i];
    Growing& tree = trees_[static_cast<std::size_t>(e.tree)];
    tree.rows.part(data_, e, child[i], team.alone(slot));
    if (e.build == Build::none) return;
    std::vector<CountedBin> bins(data_.n_places());
    fill(tree, tree.rows.of(child[i] + (e.build == Build::right)), bins);
    out.put(slot_of[i], bins);
  });
  return out;
}

// Statistics are made again from the residuals instead of being kept for every tree: that is cheap,
// and memory does not grow with the number of trees.
void ClassTreesBlock::fill(const Growing& tree, std::span<const Row> rows,
                           std::vector<CountedBin>& bins) const {
  const bool against = tree.target.base >= 0;
  const double* weights = posterior_.weights();
  double of_k[kAtOnce], of_base[kAtOnce], weight[kAtOnce];
  Packed stats[kAtOnce];
  Piece piece;
  CountedBin total{};
  for (std::size_t b = 0; b < rows.size(); b += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, rows.size() - b);
    for (std::size_t i = 0; i < n; ++i) {
      const Row row = rows[b + i];
      of_k[i] = posterior_.residual(row, tree.target.k);
      if (against) of_base[i] = posterior_.residual(row, tree.target.base);
      if (weights) weight[i] = weights[row];
    }
    piece.derive(of_k, against ? of_base : nullptr, weights ? weight : nullptr, n, criterion_);
    pack_rows(piece.g.data(), piece.mass, n, tree.scale, stats);
    for (std::size_t i = 0; i < n; ++i) total += CountedBin::row(stats[i]);
    add_to_histogram(data_, rows.data() + b, stats, n, bins.data());
  }
  complete_histogram(data_, all_columns(data_), total, bins.data());
}

std::vector<std::int64_t> ClassTreesBlock::leaf_sums(const std::vector<Target>& targets,
                                                     const std::vector<ClassScale>& scales,
                                                     const std::vector<Tree*>& trees,
                                                     const Team& team) const {
  std::vector<std::size_t> first(1, 0);
  for (const Tree* tree : trees) first.push_back(first.back() + 2 * n_leaves(*tree));
  std::vector<std::int64_t> sums(first.back());
  std::vector<Piece> pieces(static_cast<std::size_t>(team.size()));
  team.each(trees.size(), [&](std::size_t t, int slot) {
    Piece& p = pieces[static_cast<std::size_t>(slot)];
    p.derive(posterior_, targets[t], criterion_);
    route_all(data_, *trees[t], team.alone(slot));
    for (std::size_t i = 0; i < data_.n_rows; ++i) {
      std::int64_t* leaf = &sums[first[t] + 2 * std::size_t{trees[t]->leaf_of_row[i]}];
      leaf[0] += to_integer(p.g[i] * scales[t].unit.g);
      leaf[1] += to_integer(p.h[i] * scales[t].unit.h);
    }
  });
  return sums;
}

// --- the one who grows --------------------------------------------------------------------------

void ClassHistograms::search(std::size_t tree, Twig<State>& node, const Team&) const {
  const FixedPoint& scale = scales_[tree].packed;
  if (scale.g == 0.0) return;
  State& s = node.state;
  node.split = find_split(data_, s.histogram.data(), total_of(data_, s.histogram), min_samples_,
                          scale.h / (scale.g * scale.g), s.active);
}

void set_class_leaves(std::vector<Tree*> trees, const std::vector<Target>& targets,
                      const std::vector<ClassScale>& scales, std::span<const std::int64_t> sums,
                      double factor, double shrinkage) {
  std::size_t at = 0;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    std::vector<double> steps;
    for (std::size_t j = n_leaves(*trees[t]); j-- > 0; at += 2)
      steps.push_back(newton_step(sums[at], sums[at + 1], scales[t].unit, factor));
    move_by_steps(*trees[t], targets[t], steps, shrinkage);
  }
}

}  // namespace edgewise
