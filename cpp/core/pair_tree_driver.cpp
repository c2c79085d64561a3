#include "pair_tree_driver.hpp"

#include <algorithm>
#include <functional>

#include "split.hpp"

namespace edgewise {
namespace {

std::pair<int, int> ordered(int r, int s) { return {std::min(r, s), std::max(r, s)}; }

}  // namespace

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
  root.state.sums.assign(sums.begin(), sums.end());
  root.state.above = sizes_of(root);
  if (growth_->may_split(root)) to_search_.emplace_back(&root, nullptr);
}

Sizes PairTreeDriver::sizes_of(const Node& node) const {
  return {class_sums_from(node.state.sums.data(), n_classes_).size, node.n_rows};
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
  if (growth_->settle()) {
    requests = {};
    searches_.clear(), to_search_.clear(), pairs_asked_.clear();
    if (leaf_ == LeafKind::pair) choose_for_leaves(requests);
    return requests;
  }
  for (Node* node : growth_->next()) ask_children(*node, requests);
  return requests;
}

// The node's pair; false if sums are missing, which are then asked for.
bool PairTreeDriver::choose(Node& node, PairRequests& requests) {
  State& s = node.state;
  Pair missing;
  const ClassSums sums = class_sums_from(s.sums.data(), n_classes_);
  const Pair pair = choose_pair(sums, 0.0, [&](int r, int k) {
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
  if (few_classes(n_classes_)) {
    const auto first = static_cast<std::size_t>(3 * n_classes_);
    return static_cast<double>(state.sums[first + place_of_pair(r, k, n_classes_)]);
  }
  const auto found = state.cross.find(ordered(r, k));
  if (found == state.cross.end()) return {};
  return static_cast<double>(found->second);
}

// Asks for the pair that is missing and for all others with its first class that may be better than
// it: since 0 <= H_rk <= min(H_r, H_k), the gain of a pair is known to a factor.
void PairTreeDriver::ask_pairs(Node& node, Pair missing, PairRequests& requests) {
  const ClassSums sums = class_sums_from(node.state.sums.data(), n_classes_);
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
  parted_.push_back({&node, n_ids_});
  n_ids_ += 2;
}

void PairTreeDriver::take(const Answers& answers, const Team& team) {
  for (std::size_t i = 0; i < pairs_asked_.size(); ++i) {
    const auto& [node, pair] = pairs_asked_[i];
    node->state.cross[pair] = answers.pairs[i];
  }
  team.each(searches_.size(), [&](std::size_t i, int) { search(*searches_[i].first, i, answers); });
  for (const auto& [node, parent] : searches_)
    if (parent) --parent->waiting;
  const std::size_t width = 3 + node_sums(n_classes_);
  for (std::size_t i = 0; i < parted_.size(); ++i)
    take_children(parted_[i], answers.nodes.subspan(i * width, width));
}

void PairTreeDriver::take_children(Parted parted, std::span<const std::int64_t> numbers) {
  Node& node = *parted.node;
  auto n_left = static_cast<std::size_t>(numbers[0]);
  auto n_right = static_cast<std::size_t>(numbers[1]);
  const bool turned = node.split.categorical && turns(data_, node.split, n_left, n_right);
  if (!node.split.categorical && numbers[2] == 0)
    node.split.missing_left = 2 * n_left >= node.n_rows;
  growth_->part(node, n_left, n_right);
  const Sizes above = sizes_of(node);
  auto& left = node.left->state.sums;
  auto& right = node.right->state.sums;
  left.assign(numbers.begin() + 3, numbers.end());
  right.resize(left.size());
  std::transform(node.state.sums.begin(), node.state.sums.end(), left.begin(), right.begin(),
                 std::minus{});
  node.left->id = parted.left_id, node.right->id = parted.left_id + 1;
  node.left->state.above = node.right->state.above = above;
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

void PairTreeDriver::search(Node& node, std::size_t histogram, const Answers& answers) const {
  const std::size_t size = data_.n_places();
  const auto sums = answers.sums.subspan(histogram * size, size);
  if (answers.counts.empty()) return search(node, bins_of(sums));
  search(node, bins_of(sums, answers.counts.subspan(histogram * size, size)));
}

template <class Bin>
void PairTreeDriver::search(Node& node, const std::vector<Bin>& bins) const {
  const FixedPoint scale = PairUnits(node.state.above, node.state.pair, 0.0).scale;
  std::vector<int> columns = all_columns(data_);
  const double unit = scale.h / (scale.g * scale.g) / residual_scale_;
  node.split = find_split(data_, bins.data(), total_of(data_, bins), limits_.min_samples_leaf, unit,
                          columns);
}

void PairTreeDriver::choose_for_leaves(PairRequests& requests) {
  pairs_.clear();
  for (Node* leaf : growth_->leaves()) {
    if (leaf->state.pair.r < 0) choose(*leaf, requests);
    pairs_.insert(pairs_.end(), {leaf->state.pair.r, leaf->state.pair.s});
  }
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
