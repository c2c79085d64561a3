#include "summary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "distinct.hpp"

namespace edgewise {
namespace {

Key shortened(Key key, int dropped) { return dropped < 64 ? key >> dropped << dropped : 0; }

// The fewest bits to drop so that at most `most` of these keys, ascending, remain distinct.
int bits_to_drop(const std::vector<Key>& keys, std::size_t most) {
  std::array<std::size_t, 65> differ{};  // neighbours whose highest different bit is b - 1
  for (std::size_t i = 1; i < keys.size(); ++i)
    ++differ[static_cast<std::size_t>(std::bit_width(keys[i] ^ keys[i - 1]))];
  std::size_t n = std::min<std::size_t>(keys.size(), 1);
  for (int dropped = 63; dropped >= 0; --dropped) {
    n += differ[static_cast<std::size_t>(dropped) + 1];
    if (n > most) return dropped + 1;
  }
  return 0;
}

// Drops at least so many bits.
void coarsen(FeatureSummary& s, int dropped) {
  if (dropped <= s.dropped) return;
  std::size_t n = 0;
  for (std::size_t i = 0; i < s.keys.size(); ++i) {
    const Key key = shortened(s.keys[i], dropped);
    if (n > 0 && s.keys[n - 1] == key) {
      s.masses[n - 1] += s.masses[i];
    } else {
      s.keys[n] = key, s.masses[n] = s.masses[i];
      ++n;
    }
  }
  s.keys.resize(n), s.masses.resize(n);
  s.keys.shrink_to_fit(), s.masses.shrink_to_fit();
  s.dropped = dropped;
}

void limit(FeatureSummary& s, std::size_t most) {
  if (s.keys.size() > most) coarsen(s, bits_to_drop(s.keys, most));
}

// Keeps the keys, ascending, that lie in the ranges.
void keep_within(FeatureSummary& s, const std::vector<Key>& ranges) {
  std::size_t n = 0, r = 0;
  for (std::size_t i = 0; i < s.keys.size(); ++i) {
    while (r < ranges.size() && ranges[r + 1] < s.keys[i]) r += 2;
    if (r == ranges.size()) break;
    if (s.keys[i] < ranges[r]) continue;
    s.keys[n] = s.keys[i], s.masses[n] = s.masses[i];
    ++n;
  }
  s.keys.resize(n), s.masses.resize(n);
}

FeatureSummary merged(FeatureSummary x, FeatureSummary y, std::size_t most) {
  coarsen(x, y.dropped), coarsen(y, x.dropped);
  FeatureSummary z;
  z.dropped = x.dropped;
  z.keys.reserve(x.keys.size() + y.keys.size()), z.masses.reserve(x.keys.size() + y.keys.size());
  std::size_t i = 0, j = 0;
  while (i < x.keys.size() || j < y.keys.size()) {
    const bool take_x = j == y.keys.size() || (i < x.keys.size() && x.keys[i] <= y.keys[j]);
    const bool take_y = i == x.keys.size() || (j < y.keys.size() && y.keys[j] <= x.keys[i]);
    z.keys.push_back(take_x ? x.keys[i] : y.keys[j]);
    z.masses.push_back((take_x ? x.masses[i] : 0) + (take_y ? y.masses[j] : 0));
    i += take_x, j += take_y;
  }
  limit(z, most);
  z.has_nan = x.has_nan || y.has_nan;
  z.has_infinity = x.has_infinity || y.has_infinity;
  return z;
}

}  // namespace

Summary summarise(const Matrix& x, const SummaryOptions& options, const Team& team) {
  if (options.most < Summary::kLeast)
    throw std::invalid_argument("a summary must list 1024 values or more");
  if (options.within && options.within->size() != x.cols)
    throw std::invalid_argument("there must be ranges for every column");
  Summary summary{std::vector<FeatureSummary>(x.cols), options.most, x.rows};
  const auto mass = options.weights ? masses(options.weights, x.rows, options.largest)
                                    : std::vector<std::uint64_t>{};
  auto wanted = [&](std::size_t f) { return !options.within || !(*options.within)[f].empty(); };
  auto put = [&](std::size_t f, const std::vector<Value>& values, Absent absent) {
    if (!wanted(f)) return;
    FeatureSummary& s = summary.of_feature[f];
    s.keys.reserve(values.size()), s.masses.reserve(values.size());
    for (const Value& v : values) {
      s.keys.push_back(sortable(v.value));
      s.masses.push_back(v.mass);
    }
    if (options.within) keep_within(s, (*options.within)[f]);
    limit(s, options.most);
    s.has_nan = absent.nan, s.has_infinity = absent.infinity;
  };
  if (x.is_sparse()) {
    each_column(Transposed(x), mass, team, put);
  } else {
    each_column(x, team, [&](std::size_t f, const double* column, Sorter& sorter) {
      if (!wanted(f)) return;
      const auto* of_rows = mass.empty() ? nullptr : mass.data();
      put(f, sorter.distinct(column, x.rows, of_rows), Absent(column, x.rows));
    });
  }
  return summary;
}

Summary merged(const Summary& a, const Summary& b) {
  if (a.of_feature.size() != b.of_feature.size() || a.most != b.most)
    throw std::invalid_argument("summaries must be of the same columns");
  Summary both{{}, a.most, a.n_rows + b.n_rows};
  for (std::size_t f = 0; f < a.of_feature.size(); ++f)
    both.of_feature.push_back(merged(a.of_feature[f], b.of_feature[f], a.most));
  return both;
}

double CutSearch::Item::value() const { return unsortable(key); }

CutSearch::CutSearch(const Summary& summary, int max_bins, const std::vector<int>& categorical)
    : max_bins_(max_bins),
      n_rows_(summary.n_rows),
      most_(summary.most),
      categorical_(summary.of_feature.size()) {
  if (max_bins < 2 || max_bins > kMaxValueBins)
    throw std::invalid_argument("there must be from 2 to 255 bins");
  for (const int f : categorical) categorical_.at(static_cast<std::size_t>(f)) = 1;
  for (const FeatureSummary& s : summary.of_feature) {
    absent_.emplace_back(s.has_nan, s.has_infinity);
    auto& items = items_.emplace_back();
    for (std::size_t i = 0; i < s.keys.size(); ++i)
      items.push_back({s.keys[i], s.dropped, s.masses[i]});
  }
}

// Goes through the items of a feature as choose_cuts does through its distinct values. Of items
// that stand for several values it knows only the mass. While a bin ends neither in such an item
// nor beside it, nothing is lost by that. Where one may, the item is open: it is to be counted more
// finely. Beyond the first open item the walk guesses, as if masses were spread evenly, so that one
// pass over the data serves all bins.
struct CutSearch::Walk {
  std::vector<double> cuts;        // if no item is open
  std::vector<std::uint8_t> open;  // by item

  // At most a quarter of what a summary lists is open: then the next one drops fewer bits.
  Walk(const Items& items, int max_bins, std::uint64_t n_rows, std::size_t most)
      : open(items.size()), items_(items), may_open_(most / 4), bins_left_(max_bins) {
    constexpr double kDrift = 24.0;  // rows that guesses are usually off by, at most
    for (const Item& item : items) left_ += static_cast<double>(item.mass);
    drift_ = kDrift * left_ / static_cast<double>(n_rows);
    for (std::size_t i = 0; i < items.size() && bins_left_ > 1; ++i) {
      const auto mass = static_cast<double>(items[i].mass);
      if (items[i].exact() || filled_ + mass <= target()) {
        filled_ += mass;
        if (i + 1 < items.size()) look_ahead(i);
      } else {
        spread(i, mass);
      }
    }
  }

 private:
  double target() const { return left_ / bins_left_; }

  // Whether a bin ends between item i and the next, whose first value may not be known.
  void look_ahead(std::size_t i) {
    const Item &item = items_[i], &next = items_[i + 1];
    const double first = next.exact() ? static_cast<double>(next.mass) : 0.0;
    if (!closes_bin(filled_, first, target())) return;
    if (item.exact() && next.exact()) cuts.push_back(midpoint(item.value(), next.value()));
    need(i), need(i + 1);
    left_ -= filled_, filled_ = 0.0;
    --bins_left_;
  }

  // Bins end somewhere in item i, or near to it: a guess may be off.
  void spread(std::size_t i, double mass) {
    need(i);
    const double near = std::max(drift_, mass / 8.0);
    double rest = filled_ + mass;
    while (bins_left_ > 1 && rest > target()) {
      const double size = target();
      rest -= size, left_ -= size;
      --bins_left_;
      double before = mass - rest, after = rest;
      for (std::size_t k = i; k > 0 && before < near; before += mass_of(k)) need(--k);
      for (std::size_t k = i; k + 1 < items_.size() && after < near; after += mass_of(k)) need(++k);
    }
    filled_ = rest;
  }

  double mass_of(std::size_t i) const { return static_cast<double>(items_[i].mass); }
  void need(std::size_t i) {
    if (items_[i].exact() || open[i] || may_open_ == 0) return;
    open[i] = 1;
    --may_open_;
  }

  const Items& items_;
  std::size_t may_open_;
  double left_ = 0.0, filled_ = 0.0, drift_;
  int bins_left_;
};

CutSearch::Walk CutSearch::walk(std::size_t f) const {
  return {items_[f], max_bins_, n_rows_, most_};
}

KeyRanges CutSearch::open() const {
  KeyRanges ranges(items_.size());
  for (std::size_t f = 0; f < items_.size(); ++f) {
    if (categorical_[f]) continue;
    const Walk found = walk(f);
    for (std::size_t i = 0; i < items_[f].size(); ++i)
      if (found.open[i]) {
        ranges[f].push_back(items_[f][i].key);
        ranges[f].push_back(items_[f][i].last());
      }
  }
  return ranges;
}

// The items with those that are open replaced by finer ones.
CutSearch::Items CutSearch::refined(std::size_t f, const FeatureSummary& s) const {
  const Walk found = walk(f);
  Items items;
  std::uint64_t asked = 0;
  std::size_t j = 0;
  for (std::size_t i = 0; i < items_[f].size(); ++i) {
    const Item& item = items_[f][i];
    asked += found.open[i] ? item.mass : 0;
    if (!found.open[i] || s.dropped >= item.dropped) {
      items.push_back(item);
      continue;
    }
    while (j < s.keys.size() && s.keys[j] < item.key) ++j;
    for (; j < s.keys.size() && s.keys[j] <= item.last(); ++j)
      items.push_back({s.keys[j], s.dropped, s.masses[j]});
  }
  if (std::accumulate(s.masses.begin(), s.masses.end(), std::uint64_t{0}) != asked)
    throw std::invalid_argument("the rows have changed since they were counted");
  return items;
}

void CutSearch::take(const Summary& finer) {
  if (finer.of_feature.size() != items_.size())
    throw std::invalid_argument("summaries must be of the same columns");
  for (std::size_t f = 0; f < items_.size(); ++f)
    if (!categorical_[f]) items_[f] = refined(f, finer.of_feature[f]);
}

Cuts CutSearch::cuts() const {
  Cuts cuts = empty_cuts(items_.size(), categorical_);
  for (std::size_t f = 0; f < items_.size(); ++f) {
    const Items& items = items_[f];
    if (!std::all_of(items.begin(), items.end(), [](const Item& i) { return i.exact(); })) {
      Walk found = walk(f);
      if (categorical_[f] || std::count(found.open.begin(), found.open.end(), 1) > 0)
        throw std::invalid_argument("cuts need finer counts");
      cuts.of_feature[f] = std::move(found.cuts);
      cuts.has_missing[f] = absent_[f].nan;
      continue;
    }
    std::vector<Value> values;
    for (const Item& item : items) values.push_back({item.value(), item.mass});
    choose_bins(cuts, f, std::move(values), absent_[f], max_bins_);
  }
  return cuts;
}

}  // namespace edgewise
