#include "block_class_trees.hpp"

#include <algorithm>

#include "derivatives.hpp"
#include "row_sums.hpp"
#include "split.hpp"
#include "two_channel.hpp"

namespace edgewise {
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

// Derivatives of some rows and the mass the criterion takes of them.
struct ClassTreesBlock::Piece {
  static constexpr std::size_t kRows = 1024;  // whose statistics are made together
  std::vector<double> g, h, ones;
  const double* mass = nullptr;

  // All rows of a block.
  void derive(const Posterior& posterior, const double* weights, Target target,
              Criterion criterion) {
    const std::size_t n = posterior.n_rows();
    g.resize(n), h.resize(n);
    derive_rows(posterior, target.k, target.base, weights, 0, n, g.data(), h.data());
    weigh(weights, n, criterion);
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
    mass = with_criterion(criterion, [&](auto c) { return c.mass(weights, h.data()); });
  }
};

ClassTreesBlock::ClassTreesBlock(const BinnedData& data, const Posterior& posterior)
    : data_(data), posterior_(posterior) {}

std::size_t ClassTreesBlock::room() const {
  return static_cast<std::size_t>(posterior_.n_classes()) *
         Room::padded(data_.n_rows * sizeof(Row));
}

void ClassTreesBlock::settle(Room& room) {
  for (int t = 0; t < posterior_.n_classes(); ++t)
    lent_rows_.push_back(reinterpret_cast<Row*>(room.take(data_.n_rows * sizeof(Row))));
}

void ClassTreesBlock::draw(const std::uint8_t* drawn) {
  drawn_.resize(drawn ? data_.n_rows : 0);
  for (std::size_t i = 0; i < drawn_.size(); ++i)
    drawn_[i] = drawn[i] ? posterior_.weight(static_cast<Row>(i)) : 0.0;
}

ClassFacts ClassTreesBlock::facts(const std::vector<Target>& targets, Criterion criterion,
                                  const std::vector<double>& units, const Team& team) const {
  const std::size_t n = data_.n_rows;
  ClassFacts facts{std::vector<double>(3 * targets.size()),
                   std::vector<std::int64_t>(2 * targets.size())};
  std::vector<Piece> pieces(static_cast<std::size_t>(team.size()));
  team.each(targets.size(), [&](std::size_t t, int slot) {
    const Team alone = team.alone(slot);
    Piece& p = pieces[static_cast<std::size_t>(slot)];
    p.derive(posterior_, weights(), targets[t], criterion);
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
                                  const std::vector<ClassScale>& scales, std::size_t n_counted,
                                  double negligible, const Team& team) {
  const std::size_t n = data_.n_rows;
  Histograms out(targets.size(), data_.n_places());
  criterion_ = criterion;
  trees_.clear();
  trees_.resize(targets.size());
  std::vector<Piece> pieces(static_cast<std::size_t>(team.size()));
  team.each(targets.size(), [&](std::size_t t, int slot) {
    Piece& p = pieces[static_cast<std::size_t>(slot)];
    p.derive(posterior_, weights(), targets[t], criterion);
    const ClassScale& scale = scales[t];
    std::vector<Packed> stats(n);
    std::vector<Row> rows;
    pack_rows(p.g.data(), p.mass, n, scale.packed, stats.data());
    select_rows(stats, Threshold(negligible, scale.sum_g, scale.sum_mass, n_counted), rows);
    Growing& tree = trees_[t];
    tree.target = targets[t], tree.scale = scale;
    tree.rows.plant(std::move(rows), t < lent_rows_.size() ? lent_rows_[t] : nullptr);
    std::vector<CountedBin> bins(data_.n_places());
    fill(tree, tree.rows.of(0), bins);
    out.put(t, bins);
  });
  return out;
}

ClassAnswers ClassTreesBlock::expand(const std::vector<Expansion>& expansions, bool sides,
                                     const Team& team) {
  std::vector<std::size_t> child, slot_of, n_of_tree(trees_.size());
  std::size_t n_built = 0;
  for (const Expansion& e : expansions) {
    const auto t = static_cast<std::size_t>(e.tree);
    child.push_back(trees_[t].rows.n_nodes() + 2 * n_of_tree[t]++);
    slot_of.push_back(n_built);
    n_built += e.build != Build::none;
  }
  for (std::size_t t = 0; t < trees_.size(); ++t) trees_[t].rows.make_room(n_of_tree[t]);
  ClassAnswers out{Histograms(n_built, data_.n_places()), {}};
  if (sides) out.sides.resize(4 * expansions.size());
  team.each(expansions.size(), [&](std::size_t i, int slot) {
    const Expansion& e = expansions[i];
    Growing& tree = trees_[static_cast<std::size_t>(e.tree)];
    tree.rows.part(data_, e, child[i], team.alone(slot));
    for (std::size_t side = 0; sides && side < 2; ++side) {
      const ClassSum s = sum(tree, tree.rows.of(child[i] + side));
      out.sides[4 * i + 2 * side] = s.g, out.sides[4 * i + 2 * side + 1] = s.h;
    }
    if (e.build == Build::none) return;
    std::vector<CountedBin> bins(data_.n_places());
    fill(tree, tree.rows.of(child[i] + (e.build == Build::right)), bins);
    out.histograms.put(slot_of[i], bins);
  });
  return out;
}

// Statistics are made again from the residuals instead of being kept for every tree: that is cheap,
// and memory does not grow with the number of trees.
template <class Use>
void ClassTreesBlock::each_piece(const Growing& tree, std::span<const Row> rows, Use use) const {
  const bool against = tree.target.base >= 0;
  const double* all_weights = weights();
  double of_k[Piece::kRows], of_base[Piece::kRows], weight[Piece::kRows];
  Piece piece;
  for (std::size_t b = 0; b < rows.size(); b += Piece::kRows) {
    const std::size_t n = std::min(Piece::kRows, rows.size() - b);
    for (std::size_t i = 0; i < n; ++i) {
      const Row row = rows[b + i];
      of_k[i] = posterior_.residual(row, tree.target.k);
      if (against) of_base[i] = posterior_.residual(row, tree.target.base);
      if (all_weights) weight[i] = all_weights[row];
    }
    piece.derive(of_k, against ? of_base : nullptr, all_weights ? weight : nullptr, n, criterion_);
    use(rows.subspan(b, n), piece);
  }
}

void ClassTreesBlock::fill(const Growing& tree, std::span<const Row> rows,
                           std::vector<CountedBin>& bins) const {
  Packed stats[Piece::kRows];
  CountedBin total{};
  each_piece(tree, rows, [&](std::span<const Row> some, const Piece& piece) {
    pack_rows(piece.g.data(), piece.mass, some.size(), tree.scale.packed, stats);
    for (std::size_t i = 0; i < some.size(); ++i) total += CountedBin::row(stats[i]);
    add_to_histogram(data_, some.data(), stats, some.size(), bins.data());
  });
  complete_histogram(data_, all_columns(data_), total, bins.data());
}

ClassSum ClassTreesBlock::sum(const Growing& tree, std::span<const Row> rows) const {
  ClassSum sum;
  each_piece(tree, rows, [&](std::span<const Row> some, const Piece& piece) {
    for (std::size_t i = 0; i < some.size(); ++i)
      add_to(sum, piece.g[i], piece.h[i], tree.scale.unit);
  });
  return sum;
}

std::vector<std::int64_t> ClassTreesBlock::leaf_sums(const std::vector<Target>& targets,
                                                     const std::vector<ClassScale>& scales,
                                                     const std::vector<Tree*>& trees,
                                                     const Team& team) const {
  std::vector<std::size_t> first(1, 0);
  for (const Tree* tree : trees) first.push_back(first.back() + n_leaves(*tree));
  std::vector<ClassSum> sums(first.back());
  std::vector<Piece> pieces(static_cast<std::size_t>(team.size()));
  team.each(trees.size(), [&](std::size_t t, int slot) {
    Piece& p = pieces[static_cast<std::size_t>(slot)];
    p.derive(posterior_, weights(), targets[t], criterion_);
    route_all(data_, *trees[t], team.alone(slot));
    for (std::size_t i = 0; i < data_.n_rows; ++i)
      add_to(sums[first[t] + trees[t]->leaf_of_row[i]], p.g[i], p.h[i], scales[t].unit);
  });
  std::vector<std::int64_t> flat;
  for (const ClassSum& s : sums) flat.insert(flat.end(), {s.g, s.h});
  return flat;
}

// --- the one who grows --------------------------------------------------------------------------

ClassHistograms::ClassHistograms(const BinnedData& data, const GrowLimits& limits,
                                 const ClassTask& task)
    : data_(data), limits_(std::make_shared<GrowLimits>(limits)) {
  for (std::size_t t = 0; t < task.targets.size(); ++t) {
    const Target target = task.targets[t];
    auto& search = searches_.emplace_back(data, *limits_);
    search.scale = task.scales[t].packed;
    with_criterion(task.criterion, [&](auto c) {
      set_rules<decltype(c)>(search, limits, target, task.factor, data.feature_of);
    });
    steps_.emplace_back(task.scales[t].unit, target, task.factor, task.shrinkage, limits);
  }
}

ClassHistograms::State ClassHistograms::read(const Sums& sums, std::size_t i) const {
  const std::size_t size = data_.n_places();
  State state;
  state.histogram = bins_of(sums.sums.subspan(i * size, size), sums.counts.subspan(i * size, size));
  state.total = total_of(data_, state.histogram);
  return state;
}

void ClassHistograms::subtract(State& a, const State& b) const {
  for (std::size_t p = 0; p < a.histogram.size(); ++p) a.histogram[p] -= b.histogram[p];
  a.total -= b.total;
}

void ClassHistograms::part_bounds(std::size_t tree, Node& node, const Sums& sums,
                                  std::size_t i) const {
  const auto of = sums.sides.subspan(4 * i, 4);  // g and h on the left, then on the right
  searches_[tree].part_bounds(node, [&](const Node& side) {
    const std::size_t at = &side == node.left.get() ? 0 : 2;
    return steps_[tree].step({of[at], of[at + 1]});
  });
}

void set_class_leaves(ClassTreesDriver& driver, const std::vector<Tree*>& trees,
                      std::span<const std::int64_t> sums) {
  for (std::size_t t = 0; t < trees.size(); ++t) {
    std::vector<ClassSum> of_tree;
    std::vector<Bounds> bounds;
    for (const auto& leaf : driver.leaves(t)) {
      of_tree.push_back({sums[0], sums[1]});
      sums = sums.subspan(2);
      if (driver.kind().has_bounds(t)) bounds.push_back(leaf->state.bounds);
    }
    driver.kind().steps(t).set_leaves(*trees[t], of_tree, bounds);
  }
}

template class LevelDriver<ClassHistograms>;

}  // namespace edgewise
