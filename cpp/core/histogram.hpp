// Histograms: for every feature and bin, the exact sum of the statistics of a node's rows.
#pragma once

#include <vector>

#include "binned.hpp"
#include "fixed_point.hpp"
#include "vectors.hpp"

namespace edgewise {

// One place of a histogram. The plain one is a packed sum; the counted one also counts rows and
// is used only when min_samples_leaf asks for it. Both are summed by a single addition.
struct PlainBin {
  Packed sum = 0;

  static PlainBin row(Packed v) { return {v}; }
  void operator+=(PlainBin o) { sum += o.sum; }
  void operator-=(PlainBin o) { sum -= o.sum; }
  Packed gh() const { return sum; }
  bool empty() const { return sum == 0; }
};

struct CountedBin {
  Long2 sum{};  // packed statistics, rows

  static CountedBin row(Packed v) { return {Long2{v, 1}}; }
  void operator+=(CountedBin o) { sum += o.sum; }
  void operator-=(CountedBin o) { sum -= o.sum; }
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
                     Bin* histogram) {
  for (int f = 0; f < data.n_features; ++f)
    for (std::size_t i = 0; i < n; ++i)
      histogram[data.offset[static_cast<std::size_t>(f)] + data.code(rows[i], f)] +=
          Bin::row(stats[i]);
}

// Adds rows[i] with statistic stats[i], i < n, to `histogram` (n_places). In the sparse layout the
// usual bins are left out: see complete_histogram.
template <class Bin>
void add_to_histogram(const BinnedData& data, const Row* rows, const Packed* stats, std::size_t n,
                      Bin* __restrict histogram) {
  constexpr std::size_t kAhead = 8;  // rows fetched before they are needed
  for (const Block& block : data.blocks) {
    Bin* places = histogram + block.base;
    if (data.sparse) {
      const std::uint64_t* start = block.start.data();
      const std::uint16_t* entries = block.entries.data();
      for (std::size_t i = 0; i < n; ++i) {
        if (i + kAhead < n) __builtin_prefetch(entries + start[rows[i + kAhead]]);
        const Bin v = Bin::row(stats[i]);
        const std::uint16_t* end = entries + start[rows[i] + 1];
        for (const std::uint16_t* e = entries + start[rows[i]]; e < end; ++e) places[*e] += v;
      }
    } else {
      const auto d = static_cast<std::size_t>(data.n_features);
      const auto width = static_cast<std::size_t>(block.last - block.first);
      const Code* codes = data.codes.data() + block.first;
      std::uint32_t offset[1024];
      const std::size_t known = std::min<std::size_t>(width, 1024);
      for (std::size_t f = 0; f < known; ++f)
        offset[f] = data.offset[static_cast<std::size_t>(block.first) + f] - block.base;
      for (std::size_t i = 0; i < n; ++i) {
        if (i + kAhead < n) __builtin_prefetch(codes + rows[i + kAhead] * d);
        const Bin v = Bin::row(stats[i]);
        const Code* row = codes + rows[i] * d;
        std::size_t f = 0;
        for (; f + 4 <= known; f += 4) {
          places[offset[f] + row[f]] += v;
          places[offset[f + 1] + row[f + 1]] += v;
          places[offset[f + 2] + row[f + 2]] += v;
          places[offset[f + 3] + row[f + 3]] += v;
        }
        for (; f < known; ++f) places[offset[f] + row[f]] += v;
        for (; f < width; ++f)
          places[data.offset[static_cast<std::size_t>(block.first) + f] - block.base + row[f]] += v;
      }
    }
  }
}

// Sparse layout: the usual bin holds the node's total minus all other bins.
template <class Bin>
void complete_histogram(const BinnedData& data, Bin total, Bin* histogram) {
  if (!data.sparse) return;
  for (int f = 0; f < data.n_features; ++f) {
    const auto begin = data.offset[static_cast<std::size_t>(f)];
    const auto end = data.offset[static_cast<std::size_t>(f) + 1];
    const auto usual = begin + data.usual[static_cast<std::size_t>(f)];
    Bin rest = total;
    for (auto b = begin; b < end; ++b) rest -= histogram[b];
    histogram[usual] += rest;
  }
}

}  // namespace edgewise
