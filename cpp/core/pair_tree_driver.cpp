#include "pair_tree_driver.hpp"

#include <algorithm>
#include <functional>

#include "partition.hpp"

namespace edgewise {
namespace {

std::pair<int, int> ordered(int r, int s) { return {std::min(r, s), std::max(r, s)}; }

std::vector<PairSums> pair_sums(std::span<const std::int64_t> numbers) {
  std::vector<PairSums> sums;
  for (std::size_t i = 0; i < numbers.size(); i += 2) sums.push_back({numbers[i], numbers[i + 1]});
  return sums;
}

}  // namespace

PairTreeDriver::PairTreeDriver(const BinnedData& data, const GrowLimits& limits, int n_classes,
                               LeafKind leaf, double shrinkage, std::size_t n_total, double largest,
                               std::optional<Prior> prior)
    : data_(data),
      limits_(limits),
      n_classes_(n_classes),
      leaf_(leaf),
      prior_(std::move(prior)),
      search_(data, limits_, Residuals::scale_for(n_total, largest), n_total, listed()),
      leaf_rule_(leaf, n_classes, shrinkage, limits_, n_total, largest, listed()),
      growth_(data, limits_) {}

void PairTreeDriver::take_root(std::size_t n_rows, std::span<const std::int64_t> sums) {
  Node& root = growth_.plant(n_rows);
  take_sums(root.state, sums);
  search_.plant(root.state, n_rows);
  if (growth_.may_split(root)) to_search_.emplace_back(&root, nullptr);
}

void PairTreeDriver::take_sums(State& state, std::span<const std::int64_t> numbers) const {
  state.sums = class_sums_from(numbers.data(), n_classes_, listed());
  if (few_classes(n_classes_)) state.few.assign(numbers.begin() + 3 * n_classes_, numbers.end());
}

PairRequests PairTreeDriver::next() {
  PairRequests requests;
  parted_.clear(), pairs_asked_.clear(), searches_.clear();
  std::vector<std::pair<Node*, Node*>> later;
  for (const auto& [node, parent] : to_search_) {
    if (choose(*node, requests)) {
      searches_.emplace_back(node, parent);
      ask_histogram(*node, requests);
    } else {
      later.emplace_back(node, parent);
    }
  }
  to_search_ = std::move(later);
  const bool root_open = !to_search_.empty() && to_search_[0].second == nullptr;
  if (root_open || (!searches_.empty() && !searches_[0].second)) return requests;
  if (growth_.settle()) {
    requests = {};
    searches_.clear(), to_search_.clear(), pairs_asked_.clear();
    if (leaf_ == LeafKind::pair) choose_for_leaves(requests);
    return requests;
  }
  for (Node* node : growth_.next()) ask_children(*node, requests);
  return requests;
}

// The node's pair; false if sums are missing, which are then asked for.
bool PairTreeDriver::choose(Node& node, PairRequests& requests) {
  State& s = node.state;
  Pair missing;
  const Pair pair = search_.pair_of(s.sums, [&](int r, int k) {
    const std::optional<double> known = cross(s, r, k);
    if (!known && missing.r < 0) missing = {r, k};
    return known.value_or(0.0);
  });
  if (missing.r < 0) {
    s.pair = pair;
    return true;
  }
  ask_pairs(node, missing, requests);
  return false;
}

std::optional<double> PairTreeDriver::cross(const State& state, int r, int k) const {
  if (few_classes(n_classes_))
    return static_cast<double>(state.few[place_of_pair(r, k, n_classes_)]);
  const auto found = state.cross.find(ordered(r, k));
  if (found == state.cross.end()) return {};
  return static_cast<double>(found->second);
}

// Asks for the pair that is missing and for all others with its first class that may be better than
// it: since 0 <= H_rk <= min(H_r, H_k), the gain of a pair is known to a factor.
void PairTreeDriver::ask_pairs(Node& node, Pair missing, PairRequests& requests) {
  const ClassSums& sums = node.state.sums;
  auto g = [&](int k) { return static_cast<double>(sums.g[static_cast<std::size_t>(k)]); };
  auto h = [&](int k) { return static_cast<double>(sums.h[static_cast<std::size_t>(k)]); };
  auto bound = [&](int k, double cross) {
    const double gap = g(missing.r) - g(k);
    return gap * gap / std::max(h(missing.r) + h(k) + 2.0 * cross + search_.l2(), 1.0);
  };
  double least = 0.0;
  for (int k = 0; k < n_classes_; ++k)
    if (k != missing.r) least = std::max(least, bound(k, std::min(h(missing.r), h(k))));
  for (int k = 0; k < n_classes_; ++k) {
    const auto pair = ordered(missing.r, k);
    if (k == missing.r || node.state.cross.contains(pair)) continue;
    if (k != missing.s && bound(k, 0.0) < 0.99 * least) continue;
    pairs_asked_.emplace_back(&node, pair);
    requests.pairs.insert(requests.pairs.end(), {node.id, pair.first, pair.second});
  }
}

void PairTreeDriver::ask_histogram(Node& node, PairRequests& requests) const {
  const auto& [r, s] = node.state.pair;
  const Sizes& above = node.state.above;
  requests.histograms.insert(
      requests.histograms.end(),
      {node.id, r, s, above.of_pair(node.state.pair), static_cast<std::int64_t>(above.n_rows)});
}

void PairTreeDriver::ask_children(Node& node, PairRequests& requests) {
  Expansion e;
  e.node = node.id;
  e.split = node.split;
  requests.expansions.push_back(e);
  const bool sides = search_.directed(node.split);
  if (sides)
    for (const int id : {n_ids_, n_ids_ + 1})
      requests.sides.insert(requests.sides.end(), {id, node.state.pair.r, node.state.pair.s});
  parted_.push_back({&node, n_ids_, sides});
  n_ids_ += 2;
}

void PairTreeDriver::take(const Answers& answers, const Team& team) {
  for (std::size_t i = 0; i < pairs_asked_.size(); ++i) {
    const auto& [node, pair] = pairs_asked_[i];
    node->state.cross[pair] = answers.pairs[i];
  }
  team.each(searches_.size(), [&](std::size_t i, int) { search(*searches_[i].first, i, answers); });
  for (const auto& [node, parent] : searches_) {
    if (parent) {
      --parent->waiting;
    } else {
      growth_.open_root();
    }
  }
  const std::size_t width = 3 + node_sums(n_classes_, listed()), of_sides = 4 * leaf_rule_.width();
  auto sides = answers.sides;
  for (std::size_t i = 0; i < parted_.size(); ++i) {
    take_children(parted_[i], answers.nodes.subspan(i * width, width), sides);
    if (parted_[i].sides) sides = sides.subspan(of_sides);
  }
}

void PairTreeDriver::take_children(Parted parted, std::span<const std::int64_t> numbers,
                                   std::span<const std::int64_t> sides) {
  Node& node = *parted.node;
  auto n_left = static_cast<std::size_t>(numbers[0]);
  auto n_right = static_cast<std::size_t>(numbers[1]);
  const bool turned = node.split.categorical && turns(data_, node.split, n_left, n_right);
  growth_.part(node, {n_left, n_right, numbers[2] != 0});
  State &left = node.left->state, &right = node.right->state;
  take_sums(left, numbers.subspan(3));
  right.sums = node.state.sums;
  right.sums -= left.sums;
  right.few.resize(left.few.size());
  std::transform(node.state.few.begin(), node.state.few.end(), left.few.begin(), right.few.begin(),
                 std::minus{});
  node.left->id = parted.left_id, node.right->id = parted.left_id + 1;
  left.above = right.above = search_.sizes_of(node.state.sums, node.n_rows());
  left.active = right.active = node.state.active;
  if (search_.monotone())
    search_.part_box(node, [&](const Node& side) {
      const std::size_t width = leaf_rule_.width();
      const std::size_t at = &side == node.left.get() ? 0 : 2 * width;
      return leaf_rule_.steps(node.state.pair, pair_sums(sides.subspan(at, 2 * width)).data());
    });
  if (turned) {
    std::swap(node.split.left, node.split.right);
    std::swap(node.left, node.right);
  }
  if (!node.search) return;
  for (Node* child : {node.left.get(), node.right.get()})
    if (growth_.may_split(*child)) {
      to_search_.emplace_back(child, &node);
      ++node.waiting;
    }
}

void PairTreeDriver::search(Node& node, std::size_t histogram, const Answers& answers) const {
  const std::size_t size = data_.n_places();
  const auto sums = answers.sums.subspan(histogram * size, size);
  if (answers.counts.empty()) return search(node, bins_of(sums));
  search(node, bins_of(sums, answers.counts.subspan(histogram * size, size)));
}

template <class Bin>
void PairTreeDriver::search(Node& node, const std::vector<Bin>& bins) const {
  const FixedPoint scale = PairUnits(node.state.above, node.state.pair, 0.0).scale;
  const Bin total = total_of(data_, bins);
  growth_.search(node, [&](Node& n) { search_(n, scale, bins.data(), total); });
}

void PairTreeDriver::choose_for_leaves(PairRequests& requests) {
  pairs_.clear();
  for (const auto& leaf : growth_.leaves()) {
    if (leaf->state.pair.r < 0) choose(*leaf, requests);
    pairs_.insert(pairs_.end(), {leaf->state.pair.r, leaf->state.pair.s});
  }
}

Tree PairTreeDriver::finish() { return growth_.finish(); }

void PairTreeDriver::set_leaves(Tree& tree, std::span<const std::int64_t> sums) {
  std::vector<Pair> pairs;
  std::vector<const std::vector<Bounds>*> boxes;
  for (const auto& leaf : growth_.leaves()) {
    pairs.push_back(leaf->state.pair);
    if (search_.monotone()) boxes.push_back(&leaf->state.box);
  }
  leaf_rule_.set(tree, pairs, pair_sums(sums), boxes);
}

}  // namespace edgewise
