// Histograms: for every feature and bin, the exact sum of the statistics of a node's rows.
//
// The kernels are compiled once for each kind of bin, in histogram.cpp: other objects, compiled
// with other flags, see only their declarations.
#pragma once

#include <algorithm>
#include <vector>

#include "binned.hpp"
#include "fixed_point.hpp"
#include "threads.hpp"
#include "vectors.hpp"

namespace edgewise {

// One place of a histogram. The plain one is a packed sum; the counted one also counts rows and
// is used only when min_samples_leaf asks for it. Both are summed by a single addition.
struct PlainBin {
  Packed sum = 0;

  static PlainBin rows(Packed v, std::size_t /*n*/) {
    PlainBin bin;
    bin.sum = v;
    return bin;
  }
  static PlainBin row(Packed v) { return rows(v, 1); }
  // Unsigned, since places that nobody reads may overflow.
  void operator+=(PlainBin o) { sum = static_cast<Packed>(bits(sum) + bits(o.sum)); }
  void operator-=(PlainBin o) { sum = static_cast<Packed>(bits(sum) - bits(o.sum)); }
  Packed gh() const { return sum; }
  bool empty() const { return sum == 0; }

 private:
  static std::uint64_t bits(Packed v) { return static_cast<std::uint64_t>(v); }
};

struct CountedBin {
  Long2 sum{};  // packed statistics, rows

  static CountedBin rows(Packed v, std::size_t n) {
    return {Long2{v, static_cast<std::int64_t>(n)}};
  }
  static CountedBin row(Packed v) { return rows(v, 1); }
  void operator+=(CountedBin o) { sum = (Long2)((ULong2)sum + (ULong2)o.sum); }
  void operator-=(CountedBin o) { sum = (Long2)((ULong2)sum - (ULong2)o.sum); }
  Packed gh() const { return sum[0]; }
  std::int64_t n() const { return sum[1]; }
  bool empty() const { return sum[1] == 0; }
};

template <class Bin>
Bin difference(Bin a, Bin b) {
  a -= b;
  return a;
}

// The oracle: one addition after the other, straight from the codes. Kept for the tests.
template <class Bin>
void naive_histogram(const BinnedData& data, const Row* rows, const Packed* stats, std::size_t n,
                     Bin* histogram);

// Adds rows[i] with statistic stats[i], i < n, to `histogram` (n_places). In the sparse layout the
// usual bins are left out: see complete_histogram. A team helps where columns can be shared out.
template <class Bin>
void add_to_histogram(const BinnedData& data, const Row* rows, const Packed* stats, std::size_t n,
                      Bin* __restrict histogram, const Team* team = nullptr);

// Sparse layout: the usual bin holds the node's total minus all other bins. Only of some features.
template <class Bin>
void complete_histogram(const BinnedData& data, const std::vector<int>& features, Bin total,
                        Bin* histogram);

// Removes the features that cannot be split, here or in the children: too few rows are in another
// bin than the usual one.
template <class Bin>
void drop_hopeless(const BinnedData& data, const Bin* histogram, Bin total, int min_samples,
                   std::vector<int>& features);

// The same for rows[0..n), whatever their statistics; for trees whose nodes weigh them differently.
// It only saves time, so it is left out where counting would cost more than searching.
void drop_hopeless(const BinnedData& data, const Row* rows, std::size_t n, int min_samples,
                   std::vector<int>& features);

// Calls visit(begin, end) for the ranges of places that hold the places of some features; where
// most features are wanted, for one range of all.
template <class Visit>
void each_range(const BinnedData& data, const std::vector<int>& features, Visit visit) {
  if (4 * features.size() > 3 * static_cast<std::size_t>(data.n_features))
    return visit(std::size_t{0}, std::size_t{data.n_places()});
  for (const int f : features)
    visit(std::size_t{data.offset[static_cast<std::size_t>(f)]},
          std::size_t{data.offset[static_cast<std::size_t>(f) + 1]});
}

// Sets the places of some features to zero; the others may hold anything.
template <class Bin>
void clear_histogram(const BinnedData& data, const std::vector<int>& features,
                     std::vector<Bin>& histogram) {
  if (histogram.size() != data.n_places()) {
    histogram.assign(data.n_places(), Bin{});
    return;
  }
  each_range(data, features, [&](std::size_t begin, std::size_t end) {
    std::fill(histogram.begin() + static_cast<std::ptrdiff_t>(begin),
              histogram.begin() + static_cast<std::ptrdiff_t>(end), Bin{});
  });
}

}  // namespace edgewise
