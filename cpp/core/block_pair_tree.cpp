#include "block_pair_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "split.hpp"

namespace edgewise {
namespace {

std::pair<int, int> ordered(int r, int s) { return {std::min(r, s), std::max(r, s)}; }

}  // namespace

// --- those who hold rows ------------------------------------------------------------------------

struct PairTreeBlock::Workspace {
  std::vector<std::int32_t> a, b, g, h;
  std::vector<float> c;
  std::vector<std::int32_t> of_class;  // residuals class by class
  std::vector<Row> rows;
  std::vector<Packed> stats;

  void make_room(std::size_t n) {
    if (a.size() >= n) return;
    for (auto* v : {&a, &b, &g, &h}) v->resize(n);
    c.resize(n);
  }
};

PairTreeBlock::PairTreeBlock(const BinnedData& data, const Posterior& posterior)
    : data_(data), posterior_(posterior) {}

double PairTreeBlock::largest(const Team& team) const {
  return Residuals::largest_of(posterior_, team);
}

std::vector<std::int64_t> PairTreeBlock::begin(std::size_t n_total, double largest,
                                               const Team& team) {
  residuals_.round(posterior_, n_total, largest, team);
  std::vector<Row> rows(data_.n_rows);
  std::iota(rows.begin(), rows.end(), Row{0});
  rows_.plant(std::move(rows));
  sums_.assign(node_sums(posterior_.n_classes()), 0);
  Workspace w;
  sums_of(rows_.of(0), sums_.data(), w);
  return sums_;
}

// Rows are taken piece by piece, so that what is gathered stays in the nearest cache.
void PairTreeBlock::sums_of(std::span<const Row> rows, std::int64_t* out, Workspace& w) const {
  constexpr std::size_t kPiece = 512;
  const auto n_classes = static_cast<std::size_t>(posterior_.n_classes());
  const ClassSums sums = residuals_.sums(rows.data(), rows.size());
  std::copy(sums.g.begin(), sums.g.end(), out);
  std::copy(sums.h.begin(), sums.h.end(), out + n_classes);
  if (!all_pairs(posterior_.n_classes())) return;
  w.make_room(kPiece);
  w.of_class.resize(n_classes * kPiece);
  for (std::size_t at = 0; at < rows.size(); at += kPiece) {
    const std::size_t n = std::min(kPiece, rows.size() - at);
    residuals_.gather_all(rows.data() + at, n, w.of_class.data(), w.c.data());
    std::int64_t* pair = out + 2 * n_classes;
    for (std::size_t r = 0; r < n_classes; ++r)
      for (std::size_t s = r + 1; s < n_classes; ++s, pair += 3) {
        const std::int32_t *a = &w.of_class[r * n], *b = &w.of_class[s * n];
        const PairTotals totals = pair_totals(a, b, w.c.data(), n);
        pair[0] += totals.cross;
        pair[1] += totals.along.g;
        pair[2] += totals.along.h;
      }
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
  const std::size_t width = node_sums(posterior_.n_classes());
  std::transform(whole, whole + width, sums(small), sums(large), std::minus{});
  out[0] = static_cast<std::int64_t>(n_left);
  out[1] = static_cast<std::int64_t>(n_right);
  out[2] = part.saw_missing;
  std::copy_n(sums(left), width, out + 3);
}

PairAnswers PairTreeBlock::answer(const PairRequests& requests, double negligible, bool counted,
                                  const Team& team) {
  const std::size_t width = 3 + node_sums(posterior_.n_classes());
  const std::size_t n_pairs = requests.pairs.size() / PairRequests::kPairWidth;
  const std::size_t n_histograms = requests.histograms.size() / PairRequests::kHistogramWidth;
  PairAnswers out{std::vector<std::int64_t>(requests.expansions.size() * width),
                  std::vector<std::int64_t>(3 * n_pairs),
                  Histograms(n_histograms, data_.n_places(), counted)};
  std::vector<Workspace> workspace(static_cast<std::size_t>(team.size()));
  const std::size_t first = rows_.n_nodes();
  rows_.make_room(requests.expansions.size());
  sums_.resize(rows_.n_nodes() * node_sums(posterior_.n_classes()));
  team.each(requests.expansions.size(), [&](std::size_t i, int slot) {
    part(requests.expansions[i], first + 2 * i, &out.nodes[i * width],
         workspace[static_cast<std::size_t>(slot)], team.alone(slot));
  });
  team.each(n_pairs, [&](std::size_t i, int slot) {
    Workspace& w = workspace[static_cast<std::size_t>(slot)];
    const std::int32_t* request = &requests.pairs[i * PairRequests::kPairWidth];
    const auto rows = rows_.of(static_cast<std::size_t>(request[0]));
    w.make_room(rows.size());
    residuals_.gather_pair(rows.data(), rows.size(), {request[1], request[2]}, w.a.data(),
                           w.b.data(), w.c.data());
    const PairTotals totals = pair_totals(w.a.data(), w.b.data(), w.c.data(), rows.size());
    const auto sums = {totals.cross, totals.along.g, totals.along.h};
    std::copy(sums.begin(), sums.end(), &out.pairs[3 * i]);
  });
  team.each(n_histograms, [&](std::size_t i, int slot) {
    const double* request = &requests.histograms[i * PairRequests::kHistogramWidth];
    Workspace& w = workspace[static_cast<std::size_t>(slot)];
    if (counted) {
      out.histograms.put(i, histogram<CountedBin>(request, negligible, w));
    } else {
      out.histograms.put(i, histogram<PlainBin>(request, negligible, w));
    }
  });
  return out;
}

template <class Bin>
std::vector<Bin> PairTreeBlock::histogram(const double* request, double negligible,
                                          Workspace& w) const {
  constexpr std::size_t kPiece = 4096;
  const auto rows = rows_.of(static_cast<std::size_t>(request[0]));
  const Pair pair{static_cast<int>(request[1]), static_cast<int>(request[2])};
  const FixedPoint scale{request[3], request[4]};
  const Threshold counts(negligible, request[5], request[6], static_cast<std::size_t>(request[7]));
  w.make_room(kPiece);
  w.rows.resize(kPiece), w.stats.resize(kPiece);
  std::vector<Bin> bins(data_.n_places());
  Bin total{};
  for (std::size_t at = 0; at < rows.size(); at += kPiece) {
    const std::size_t n = std::min(kPiece, rows.size() - at);
    const Row* piece = rows.data() + at;
    residuals_.gather_pair(piece, n, pair, w.a.data(), w.b.data(), w.c.data());
    derive_pair(w.a.data(), w.b.data(), w.c.data(), n, w.g.data(), w.h.data());
    pack_rows(w.g.data(), w.h.data(), n, scale, w.stats.data());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const Packed packed = w.stats[i];
      w.rows[kept] = piece[i];
      w.stats[kept] = packed;
      kept += counts(packed);
    }
    for (std::size_t i = 0; i < kept; ++i) total += Bin::row(w.stats[i]);
    add_to_histogram(data_, w.rows.data(), w.stats.data(), kept, bins.data());
  }
  complete_histogram(data_, all_columns(data_), total, bins.data());
  return bins;
}

std::vector<std::int64_t> PairTreeBlock::leaf_sums(Tree& tree, std::span<const std::int32_t> pairs,
                                                   std::size_t n_total, const Team& team) const {
  route_all(data_, tree, team);
  const std::size_t width =
      pairs.empty() ? static_cast<std::size_t>(posterior_.n_classes()) : std::size_t{1};
  const double unit = pair_leaf_unit(n_total, residuals_.largest());
  std::vector<PairSums> sums(n_leaves(tree) * width);
  for (std::size_t i = 0; i < data_.n_rows; ++i) {
    const auto row = static_cast<Row>(i);
    const std::size_t leaf = tree.leaf_of_row[i];
    const double of_row = posterior_.weight(row) * unit;
    if (pairs.empty()) {
      add_all(posterior_, row, of_row, &sums[leaf * width]);
    } else {
      add_pair(posterior_, row, {pairs[2 * leaf], pairs[2 * leaf + 1]}, of_row, sums[leaf]);
    }
  }
  std::vector<std::int64_t> flat;
  for (const PairSums& s : sums) flat.insert(flat.end(), {s.g, s.h});
  return flat;
}

// --- the one who grows --------------------------------------------------------------------------

PairTreeDriver::PairTreeDriver(const BinnedData& data, const GrowLimits& limits, int n_classes,
                               LeafKind leaf)
    : data_(data),
      limits_(limits),
      n_classes_(n_classes),
      leaf_(leaf),
      growth_(std::make_unique<Growth>(data, limits_)) {}

PairTreeDriver::~PairTreeDriver() = default;

void PairTreeDriver::take_root(std::size_t n_rows, double largest,
                               std::span<const std::int64_t> sums) {
  residual_scale_ = Residuals::scale_for(n_rows, largest);
  Node& root = growth_->plant(n_rows);
  read_sums(sums, root.state);
  if (growth_->may_split(root)) to_search_.emplace_back(&root, nullptr);
}

void PairTreeDriver::read_sums(std::span<const std::int64_t> numbers, State& state) const {
  const auto k = static_cast<std::ptrdiff_t>(n_classes_);
  state.sums.g.assign(numbers.begin(), numbers.begin() + k);
  state.sums.h.assign(numbers.begin() + k, numbers.begin() + 2 * k);
  if (!all_pairs(n_classes_)) return;
  const std::int64_t* pair = numbers.data() + 2 * k;
  for (int r = 0; r < n_classes_; ++r)
    for (int s = r + 1; s < n_classes_; ++s, pair += 3)
      state.of_pair[{r, s}] = {pair[0], pair[1], pair[2]};
}

PairTreeDriver::State PairTreeDriver::difference_of(const State& whole, const State& part) const {
  State rest;
  rest.sums = whole.sums;
  for (std::size_t k = 0; k < rest.sums.g.size(); ++k) {
    rest.sums.g[k] -= part.sums.g[k];
    rest.sums.h[k] -= part.sums.h[k];
  }
  for (const auto& [pair, sums] : part.of_pair) {
    const auto& all = whole.of_pair.at(pair);
    rest.of_pair[pair] = {all[0] - sums[0], all[1] - sums[1], all[2] - sums[2]};
  }
  return rest;
}

PairRequests PairTreeDriver::next() {
  PairRequests requests;
  parted_.clear(), pairs_asked_.clear(), searched_.clear();
  std::vector<std::pair<Node*, Node*>> later;
  for (const auto& [node, parent] : to_search_) {
    if (choose(*node, requests)) {
      ask_histogram(*node, requests);
      searched_.back().parent = parent;
    } else {
      later.emplace_back(node, parent);
    }
  }
  to_search_ = std::move(later);
  const bool root_open = !to_search_.empty() && to_search_[0].second == nullptr;
  if (root_open || (!searched_.empty() && !searched_[0].parent)) return requests;
  if (growth_->settle()) {
    if (leaf_ == LeafKind::pair && !all_chosen(requests)) {
      requests.expansions.clear(), requests.histograms.clear();
      searched_.clear(), to_search_.clear();
      return requests;
    }
    return {};
  }
  for (Node* node : growth_->next()) {
    Expansion e;
    e.node = node->id;
    e.split = node->split;
    requests.expansions.push_back(e);
    parted_.push_back({node, n_ids_});
    n_ids_ += 2;
  }
  return requests;
}

// The node's pair; false if sums are missing, which are then asked for.
bool PairTreeDriver::choose(Node& node, PairRequests& requests) {
  State& s = node.state;
  Pair missing;
  const Pair pair = choose_pair(s.sums, 0.0, [&](int r, int k) {
    const auto found = s.of_pair.find(ordered(r, k));
    if (found != s.of_pair.end()) return static_cast<double>(found->second[0]);
    if (missing.r < 0) missing = {r, k};
    return 0.0;
  });
  if (missing.r < 0 && !s.of_pair.contains(ordered(pair.r, pair.s))) missing = pair;
  if (missing.r < 0) {
    s.pair = pair;
    return true;
  }
  ask_pairs(node, missing, requests);
  return false;
}

// Asks for the pair that is missing and for all others with its first class that may be better than
// it: since 0 <= H_rk <= min(H_r, H_k), the gain of a pair is known to a factor.
void PairTreeDriver::ask_pairs(Node& node, Pair missing, PairRequests& requests) {
  const ClassSums& sums = node.state.sums;
  auto g = [&](int k) { return static_cast<double>(sums.g[static_cast<std::size_t>(k)]); };
  auto h = [&](int k) { return static_cast<double>(sums.h[static_cast<std::size_t>(k)]); };
  auto bound = [&](int k, double cross) {
    const double gap = g(missing.r) - g(k);
    return gap * gap / std::max(h(missing.r) + h(k) + 2.0 * cross, 1.0);
  };
  double least = 0.0;
  for (int k = 0; k < n_classes_; ++k)
    if (k != missing.r) least = std::max(least, bound(k, std::min(h(missing.r), h(k))));
  for (int k = 0; k < n_classes_; ++k) {
    const auto pair = ordered(missing.r, k);
    if (k == missing.r || node.state.of_pair.contains(pair)) continue;
    if (k != missing.s && bound(k, 0.0) < 0.99 * least) continue;
    pairs_asked_.emplace_back(&node, pair);
    requests.pairs.insert(requests.pairs.end(), {node.id, pair.first, pair.second});
  }
}

void PairTreeDriver::ask_histogram(Node& node, PairRequests& requests) {
  const State& s = node.state;
  const auto& sums = s.of_pair.at(ordered(s.pair.r, s.pair.s));
  const auto sum_g = static_cast<double>(sums[1]), sum_h = static_cast<double>(sums[2]);
  const FixedPoint scale{std::min(1.0, FixedPoint::units(sum_g, node.n_rows)),
                         std::min(1.0, FixedPoint::units(sum_h, node.n_rows))};
  requests.histograms.insert(
      requests.histograms.end(),
      {static_cast<double>(node.id), static_cast<double>(s.pair.r), static_cast<double>(s.pair.s),
       scale.g, scale.h, sum_g * scale.g, sum_h * scale.h, static_cast<double>(node.n_rows)});
  searched_.push_back({&node, nullptr, scale});
}

void PairTreeDriver::take(std::span<const std::int64_t> nodes, std::span<const std::int64_t> pairs,
                          std::span<const Packed> sums, std::span<const std::int32_t> counts,
                          const Team& team) {
  for (std::size_t i = 0; i < pairs_asked_.size(); ++i) {
    const auto& [node, pair] = pairs_asked_[i];
    node->state.of_pair[pair] = {pairs[3 * i], pairs[3 * i + 1], pairs[3 * i + 2]};
  }
  const std::size_t size = data_.n_places();
  team.each(searched_.size(), [&](std::size_t i, int) {
    const auto of_node = sums.subspan(i * size, size);
    if (counts.empty()) {
      search(searched_[i], bins_of(of_node));
    } else {
      search(searched_[i], bins_of(of_node, counts.subspan(i * size, size)));
    }
  });
  for (const Searched& s : searched_)
    if (s.parent) --s.parent->waiting;
  const std::size_t width = 3 + node_sums(n_classes_);
  for (std::size_t i = 0; i < parted_.size(); ++i)
    take_children(parted_[i], nodes.subspan(i * width, width));
}

template <class Bin>
void PairTreeDriver::search(const Searched& searched, const std::vector<Bin>& bins) {
  const FixedPoint& scale = searched.scale;
  std::vector<int> features = all_columns(data_);
  const double unit = scale.h / (scale.g * scale.g) / residual_scale_;
  searched.node->split = find_split(data_, bins.data(), total_of(data_, bins),
                                    limits_.min_samples_leaf, unit, features);
}

void PairTreeDriver::take_children(Asked asked, std::span<const std::int64_t> numbers) {
  Node& node = *asked.node;
  auto n_left = static_cast<std::size_t>(numbers[0]);
  auto n_right = static_cast<std::size_t>(numbers[1]);
  const bool turned = node.split.categorical && turns(data_, node.split, n_left, n_right);
  if (!node.split.categorical && numbers[2] == 0)
    node.split.missing_left = 2 * n_left >= node.n_rows;
  growth_->part(node, n_left, n_right);
  node.left->id = asked.left_id, node.right->id = asked.left_id + 1;
  read_sums(numbers.subspan(3), node.left->state);
  node.right->state = difference_of(node.state, node.left->state);
  if (turned) {
    std::swap(node.split.left, node.split.right);
    std::swap(node.left, node.right);
  }
  if (!node.search) return;
  for (Node* child : {node.left.get(), node.right.get()})
    if (growth_->may_split(*child)) {
      to_search_.emplace_back(child, &node);
      ++node.waiting;
    }
}

bool PairTreeDriver::all_chosen(PairRequests& requests) {
  bool all = true;
  pairs_.clear();
  for (Node* leaf : growth_->leaves()) {
    if (leaf->state.pair.r < 0) all &= choose(*leaf, requests);
    pairs_.insert(pairs_.end(), {leaf->state.pair.r, leaf->state.pair.s});
  }
  return all;
}

Tree PairTreeDriver::finish() { return growth_->finish(); }

void set_pair_leaves(Tree& tree, int n_classes, std::span<const std::int32_t> pairs,
                     std::span<const std::int64_t> sums, double shrinkage) {
  std::vector<PairSums> of_leaf;
  for (std::size_t i = 0; i < sums.size(); i += 2) of_leaf.push_back({sums[i], sums[i + 1]});
  if (pairs.empty()) return move_all(tree, n_classes, of_leaf, shrinkage);
  std::vector<Pair> pair;
  for (std::size_t i = 0; i < pairs.size(); i += 2) pair.push_back({pairs[i], pairs[i + 1]});
  move_pairs(tree, pair, of_leaf, shrinkage);
}

}  // namespace edgewise
