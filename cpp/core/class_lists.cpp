#include "class_lists.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "fixed_point.hpp"
#include "math.hpp"
#include "posterior.hpp"

namespace edgewise {
namespace {

constexpr double kShareUnits = 0x1p50;
constexpr double kFloor = 1e-290;  // as in the posterior

}  // namespace

Prior::Prior(std::span<const double> start) : share(start.size()) {
  std::transform(start.begin(), start.end(), share.begin(), exp_portable);
  double sum = 0.0;
  for (const double s : share) sum += s;
  for (double& s : share) {
    s = static_cast<double>(std::max<std::int64_t>(1, to_integer(s / sum * kShareUnits))) /
        kShareUnits;
    total += s;
  }
}

ListedFactors::ListedFactors(const Moves& moves) : leaf_of_row(moves.leaf_of_row), start{0} {
  std::vector<std::pair<std::int32_t, double>> of_leaf;
  for (std::size_t begin = 0; begin < moves.values.size(); begin += moves.width) {
    of_leaf.clear();
    for (std::size_t m = begin; m < begin + moves.width; ++m)
      if (moves.values[m] != 0.0) of_leaf.emplace_back(moves.classes[m], moves.values[m]);
    std::sort(of_leaf.begin(), of_leaf.end());
    for (std::size_t j = 0; j < of_leaf.size(); ++j) {
      const double factor_of = exp_portable(of_leaf[j].second);
      if (j > 0 && of_leaf[j].first == of_leaf[j - 1].first) {
        factor.back() *= factor_of;
      } else {
        classes.push_back(of_leaf[j].first);
        factor.push_back(factor_of);
      }
    }
    start.push_back(classes.size());
  }
}

struct ClassLists::Scratch {
  std::vector<std::int32_t> classes;
  std::vector<double> p, differences;

  void clear() { classes.clear(), p.clear(); }
  void put(std::int32_t k, double value) { classes.push_back(k), p.push_back(value); }
};

ClassLists::ClassLists(std::span<const Label> labels, std::span<const double> start)
    : prior_(start), blocks_((labels.size() + kRows - 1) / kRows) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Block& block = blocks_[i / kRows];
    block.rest[i % kRows] = 1.0 / prior_.total;
    block.classes.push_back(labels[i]);
    block.p.push_back(prior_.share[static_cast<std::size_t>(labels[i])] / prior_.total);
    block.start[i % kRows + 1] = static_cast<std::uint32_t>(block.classes.size());
  }
}

double ClassLists::of(std::size_t i, int k) const {
  const ListedRow list = row(i);
  const std::int32_t* at = std::lower_bound(list.classes, list.classes + list.n, k);
  if (at != list.classes + list.n && *at == k) return list.p[at - list.classes];
  return list.rest * prior_.share[static_cast<std::size_t>(k)];
}

void ClassLists::merge(ListedRow row, const ListedFactors& tree, std::size_t leaf,
                       Scratch& out) const {
  out.clear();
  std::size_t m = tree.start[leaf];
  const std::size_t end = tree.start[leaf + 1];
  auto join = [&] {
    const std::int32_t k = tree.classes[m];
    out.put(k, row.rest * prior_.share[static_cast<std::size_t>(k)] * tree.factor[m++]);
  };
  for (std::size_t j = 0; j < row.n; ++j) {
    while (m < end && tree.classes[m] < row.classes[j]) join();
    const bool moved = m < end && tree.classes[m] == row.classes[j];
    out.put(row.classes[j], moved ? row.p[j] * tree.factor[m++] : row.p[j]);
  }
  while (m < end) join();
}

// The difference from the rest that kMost of the listed classes have at least; zero if there are no
// more of them.
double ClassLists::bound_of_most(Scratch& row, double rest) const {
  if (row.p.size() <= kMost) return 0.0;
  row.differences.clear();
  for (std::size_t j = 0; j < row.p.size(); ++j)
    row.differences.push_back(
        std::abs(row.p[j] - rest * prior_.share[static_cast<std::size_t>(row.classes[j])]));
  const auto last = row.differences.begin() + static_cast<std::ptrdiff_t>(kMost);
  std::nth_element(row.differences.begin(), last, row.differences.end(), std::greater{});
  return std::nextafter(*last, 1e300);
}

// Takes off the list what hardly differs from the rest, which takes over its probability, and makes
// the sum one; returns the sum over the classes that are not the label.
double ClassLists::normalise(Scratch& row, double& rest, Label label) const {
  double listed = 0.0, unlisted = prior_.total;
  for (std::size_t j = 0; j < row.p.size(); ++j) {
    listed += row.p[j];
    unlisted -= prior_.share[static_cast<std::size_t>(row.classes[j])];
  }
  const double least = std::max(kNegligible * (listed + rest * unlisted), bound_of_most(row, rest));
  std::size_t kept = 0;
  double off = rest * unlisted;
  listed = 0.0;
  for (std::size_t j = 0; j < row.p.size(); ++j) {
    const std::int32_t k = row.classes[j];
    const double share = prior_.share[static_cast<std::size_t>(k)];
    if (k != label && std::abs(row.p[j] - rest * share) < least) {
      unlisted += share;
      off += row.p[j];
      continue;
    }
    listed += row.p[j];
    row.classes[kept] = k;
    row.p[kept++] = row.p[j];
  }
  row.classes.resize(kept), row.p.resize(kept);
  const double inverse = 1.0 / (listed + off);
  if (unlisted > 0.0) rest = off / unlisted;
  rest = std::max(rest * inverse, kFloor);
  double others = rest * unlisted;
  for (std::size_t j = 0; j < kept; ++j) {
    row.p[j] = std::max(row.p[j] * inverse, kFloor);
    if (row.classes[j] != label) others += row.p[j];
  }
  return others;
}

void ClassLists::add(const std::vector<ListedFactors>& trees, std::size_t begin, std::size_t end,
                     std::span<const Label> labels, double* others) {
  Scratch now, next, all;
  for (std::size_t b = begin; b < end; b += kRows) {
    Block& block = blocks_[b / kRows];
    all.clear();
    std::uint32_t start[kRows + 1] = {};
    for (std::size_t i = b; i < std::min(end, b + kRows); ++i) {
      ListedRow list = row(i);
      for (const ListedFactors& tree : trees) {
        merge(list, tree, tree.leaf_of_row[i], next);
        std::swap(now, next);
        list = {now.classes.data(), now.p.data(), now.p.size(), list.rest};
      }
      if (trees.empty()) {
        now.classes.assign(list.classes, list.classes + list.n);
        now.p.assign(list.p, list.p + list.n);
      }
      others[i] = normalise(now, block.rest[i - b], labels[i]);
      all.classes.insert(all.classes.end(), now.classes.begin(), now.classes.end());
      all.p.insert(all.p.end(), now.p.begin(), now.p.end());
      start[i - b + 1] = static_cast<std::uint32_t>(all.classes.size());
    }
    std::copy(std::begin(start), std::end(start), block.start);
    block.classes.assign(all.classes.begin(), all.classes.end());
    block.p.assign(all.p.begin(), all.p.end());
  }
}

// A sum of n terms stays below 2^61. A row's rest is large only where nearly all of the prior is
// listed; there it is cut off, and what is not listed counts for less than it is.
RestUnits::RestUnits(double scale, std::size_t n_total)
    : unit(scale * 256.0),
      most(std::ldexp(1.0, std::min(50, 61 - static_cast<int>(std::bit_width(n_total))))) {}

std::int64_t RestUnits::units(double x) const { return to_integer(std::min(x * unit, most)); }

ClassSums completed(const ClassSums& sums, const Prior& prior, const RestUnits& units,
                    double scale) {
  ClassSums whole = sums;
  const double first = static_cast<double>(sums.rest) * (scale / units.unit);
  const double second = static_cast<double>(sums.rest_squared) * (scale / units.unit);
  for (std::size_t k = 0; k < prior.n_classes(); ++k) {
    const double p = prior.share[k] * first;
    const auto size = static_cast<std::int64_t>(p + 0.5);
    whole.g[k] -= size;
    whole.size[k] += size;
    whole.h[k] += static_cast<std::int64_t>(p - prior.share[k] * prior.share[k] * second + 0.5);
  }
  return whole;
}

}  // namespace edgewise
