#include "block_pair_tree.hpp"

#include <algorithm>
#include <functional>

namespace edgewise {
namespace {

std::vector<std::int64_t> flat(const std::vector<PairSums>& sums) {
  std::vector<std::int64_t> numbers;
  for (const PairSums& s : sums) numbers.insert(numbers.end(), {s.g, s.h});
  return numbers;
}

}  // namespace

ClassSums class_sums_from(const std::int64_t* numbers, int n_classes, bool listed) {
  ClassSums sums(static_cast<std::size_t>(n_classes));
  for (auto* v : {&sums.g, &sums.h, &sums.size}) {
    std::copy_n(numbers, n_classes, v->begin());
    numbers += n_classes;
  }
  if (listed) sums.rest = numbers[0], sums.rest_squared = numbers[1];
  return sums;
}

struct PairTreeBlock::Workspace {
  std::vector<std::int32_t> a, b;
  std::vector<float> c;
  std::vector<std::int32_t> of_class;  // residuals class by class
  PairPiece piece;

  void make_room(std::size_t n) {
    if (a.size() >= n) return;
    a.resize(n), b.resize(n), c.resize(n);
  }
};

PairTreeBlock::PairTreeBlock(const BinnedData& data, const Posterior& posterior)
    : data_(data), posterior_(posterior) {}

double PairTreeBlock::largest(const Team& team) const {
  return Residuals::largest_of(posterior_, team);
}

void PairTreeBlock::draw(const std::uint8_t* drawn) {
  drawn_.assign(drawn, drawn + (drawn ? data_.n_rows : 0));
}

std::vector<std::int64_t> PairTreeBlock::begin(std::size_t n_total, double largest,
                                               const Team& team) {
  n_total_ = n_total;
  residuals_.round(posterior_, n_total, largest, team);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < data_.n_rows; ++i)
    if (is_drawn(i)) rows.push_back(static_cast<Row>(i));
  rows_.plant(std::move(rows));
  sums_.assign(width(), 0);
  Workspace w;
  sums_of(rows_.of(0), sums_.data(), w);
  return sums_;
}

// Rows are taken piece by piece, so that what is gathered stays in the nearest cache.
void PairTreeBlock::sums_of(std::span<const Row> rows, std::int64_t* out, Workspace& w) const {
  constexpr std::size_t kPiece = 512;
  const auto n_classes = static_cast<std::size_t>(posterior_.n_classes());
  const ClassSums sums = residuals_.sums(rows.data(), rows.size());
  for (const auto* v : {&sums.g, &sums.h, &sums.size}) out = std::copy(v->begin(), v->end(), out);
  if (posterior_.lists()) {
    out[0] = sums.rest, out[1] = sums.rest_squared;
    return;
  }
  if (!few_classes(posterior_.n_classes())) return;
  w.make_room(kPiece);
  w.of_class.resize(n_classes * kPiece);
  for (std::size_t at = 0; at < rows.size(); at += kPiece) {
    const std::size_t n = std::min(kPiece, rows.size() - at);
    residuals_.gather_all(rows.data() + at, n, w.of_class.data(), w.c.data());
    std::int64_t* pair = out;
    for (std::size_t r = 0; r < n_classes; ++r)
      for (std::size_t s = r + 1; s < n_classes; ++s)
        *pair++ += cross_sum(&w.of_class[r * n], &w.of_class[s * n], w.c.data(), n);
  }
}

// Parts a node. One side's sums are made, of the smaller one here; the other's are the difference.
void PairTreeBlock::part(const Expansion& expansion, std::size_t left, std::int64_t* out,
                         Workspace& w, const Team& team) {
  const Partition part = rows_.part(data_, expansion, left, team);
  const std::size_t n_left = rows_.of(left).size(), n_right = rows_.of(left + 1).size();
  const std::size_t small = n_left <= n_right ? left : left + 1;
  const std::size_t large = n_left <= n_right ? left + 1 : left;
  const std::int64_t* whole = sums(static_cast<std::size_t>(expansion.node));
  sums_of(rows_.of(small), sums(small), w);
  std::transform(whole, whole + width(), sums(small), sums(large), std::minus{});
  out[0] = static_cast<std::int64_t>(n_left);
  out[1] = static_cast<std::int64_t>(n_right);
  out[2] = part.saw_missing;
  std::copy_n(sums(left), width(), out + 3);
}

PairLeaves PairTreeBlock::leaf_rule(LeafKind leaf) const {
  return {leaf,
          posterior_.n_classes(),
          1.0,
          GrowLimits{},
          n_total_,
          residuals_.largest(),
          prior_of(posterior_)};
}

PairAnswers PairTreeBlock::answer(const PairRequests& requests, const PairTask& task,
                                  const Team& team) {
  const std::size_t n_pairs = requests.pairs.size() / PairRequests::kPairWidth;
  const std::size_t n_histograms = requests.histograms.size() / PairRequests::kHistogramWidth;
  PairAnswers out{std::vector<std::int64_t>(requests.expansions.size() * (3 + width())),
                  std::vector<std::int64_t>(n_pairs),
                  Histograms(n_histograms, data_.n_places(), task.counted),
                  {}};
  std::vector<Workspace> workspace(static_cast<std::size_t>(team.size()));
  auto of_slot = [&](int slot) -> Workspace& { return workspace[static_cast<std::size_t>(slot)]; };
  const std::size_t first = rows_.n_nodes();
  rows_.make_room(requests.expansions.size());
  sums_.resize(rows_.n_nodes() * width());
  team.each(requests.expansions.size(), [&](std::size_t i, int slot) {
    part(requests.expansions[i], first + 2 * i, &out.nodes[i * (3 + width())], of_slot(slot),
         team.alone(slot));
  });
  team.each(n_pairs, [&](std::size_t i, int slot) {
    out.pairs[i] = cross(&requests.pairs[i * PairRequests::kPairWidth], of_slot(slot));
  });
  const double share = share_of_parent(data_, task.negligible);
  team.each(n_histograms, [&](std::size_t i, int slot) {
    const std::int64_t* request = &requests.histograms[i * PairRequests::kHistogramWidth];
    if (task.counted) {
      out.histograms.put(i, histogram<CountedBin>(request, share, of_slot(slot)));
    } else {
      out.histograms.put(i, histogram<PlainBin>(request, share, of_slot(slot)));
    }
  });
  const PairLeaves leaves = leaf_rule(task.leaf);
  std::vector<PairSums> sides(requests.sides.size() / PairRequests::kPairWidth * leaves.width());
  for (std::size_t i = 0; i < sides.size() / leaves.width(); ++i) {
    const std::int32_t* request = &requests.sides[i * PairRequests::kPairWidth];
    for (const Row row : rows_.of(static_cast<std::size_t>(request[0])))
      leaves.add(posterior_, row, {request[1], request[2]}, &sides[i * leaves.width()]);
  }
  out.sides = flat(sides);
  return out;
}

std::int64_t PairTreeBlock::cross(const std::int32_t* request, Workspace& w) const {
  const auto rows = rows_.of(static_cast<std::size_t>(request[0]));
  w.make_room(rows.size());
  residuals_.gather_pair(rows.data(), rows.size(), {request[1], request[2]}, w.a.data(), w.b.data(),
                         w.c.data());
  return cross_sum(w.a.data(), w.b.data(), w.c.data(), rows.size());
}

template <class Bin>
std::vector<Bin> PairTreeBlock::histogram(const std::int64_t* request, double share,
                                          Workspace& w) const {
  const auto rows = rows_.of(static_cast<std::size_t>(request[0]));
  const Pair pair{static_cast<int>(request[1]), static_cast<int>(request[2])};
  const PairUnits units(static_cast<double>(request[3]), static_cast<std::size_t>(request[4]),
                        share);
  w.make_room(PairPiece::kRows);
  std::vector<Bin> bins(data_.n_places());
  Bin total{};
  for (std::size_t at = 0; at < rows.size(); at += PairPiece::kRows) {
    const std::size_t n = std::min(PairPiece::kRows, rows.size() - at);
    const Row* of = rows.data() + at;
    residuals_.gather_pair(of, n, pair, w.a.data(), w.b.data(), w.c.data());
    total += w.piece.add(data_, of, n, w.a.data(), w.b.data(), w.c.data(), units, bins.data());
  }
  complete_histogram(data_, all_columns(data_), total, bins.data());
  return bins;
}

std::vector<std::int64_t> PairTreeBlock::leaf_sums(Tree& tree, LeafKind leaf,
                                                   std::span<const std::int32_t> pairs,
                                                   const Team& team) const {
  route_all(data_, tree, team);
  const PairLeaves leaves = leaf_rule(leaf);
  std::vector<PairSums> sums(n_leaves(tree) * leaves.width());
  for (std::size_t i = 0; i < data_.n_rows; ++i) {
    if (!is_drawn(i)) continue;
    const std::size_t j = tree.leaf_of_row[i];
    const Pair pair = pairs.empty() ? Pair{} : Pair{pairs[2 * j], pairs[2 * j + 1]};
    leaves.add(posterior_, static_cast<Row>(i), pair, &sums[j * leaves.width()]);
  }
  return flat(sums);
}

}  // namespace edgewise
