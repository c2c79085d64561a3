#include "histogram.hpp"

#include <array>
#include <type_traits>

namespace edgewise {
namespace {

constexpr std::size_t kAhead = 12;  // rows fetched before they are needed

// Dense layout: one block of features.
template <class Bin>
void add_dense_block(const BinnedData& data, const Block& block, const Row* rows,
                     const Packed* stats, std::size_t n, Bin* __restrict places) {
  const auto d = static_cast<std::size_t>(data.n_features);
  const auto width = static_cast<std::size_t>(block.last - block.first);
  const std::size_t stride = data.stride;
  const Code* codes = data.codes.data() + block.first;
  const std::uint32_t* offset = data.offset.data() + block.first;
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) __builtin_prefetch(codes + rows[i + kAhead] * d);
    const Bin v = Bin::row(stats[i]);
    const Code* row = codes + rows[i] * d;
    if (stride) {
      Bin* place = places;
      std::size_t f = 0;
      for (; f + 4 <= width; f += 4, place += 4 * stride) {
        place[row[f]] += v;
        place[stride + row[f + 1]] += v;
        place[2 * stride + row[f + 2]] += v;
        place[3 * stride + row[f + 3]] += v;
      }
      for (; f < width; ++f, place += stride) place[row[f]] += v;
    } else {
      for (std::size_t f = 0; f < width; ++f) places[offset[f] - block.base + row[f]] += v;
    }
  }
}

// Adds rows to `bins`, those of kWidth joint columns from `first` on.
template <std::size_t kWidth, class Bin>
void add_joint_rows(const JointColumns& joint, std::size_t first, const Row* rows,
                    const Packed* stats, std::size_t n, Bin* __restrict bins) {
  const std::size_t stride = joint.size();
  const std::uint16_t* codes = joint.codes.data() + first;
  const std::size_t* start = joint.start.data() + first;
  const auto at = [&](std::size_t j) { return bins + (start[std::min(j, kWidth - 1)] - start[0]); };
  Bin *const a = at(0), *const b = at(1), *const c = at(2), *const d = at(3);
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) __builtin_prefetch(codes + rows[i + kAhead] * stride);
    const Bin v = Bin::row(stats[i]);
    const std::uint16_t* row = codes + rows[i] * stride;
    a[row[0]] += v;
    if constexpr (kWidth > 1) b[row[1]] += v;
    if constexpr (kWidth > 2) c[row[2]] += v;
    if constexpr (kWidth > 3) d[row[3]] += v;
  }
}

// Dense layout, by way of joint bins; as many joint columns at a time as leave room in the nearest
// cache.
template <class Bin>
void add_joint(const BinnedData& data, const Row* rows, const Packed* stats, std::size_t n,
               Bin* __restrict histogram) {
  constexpr std::size_t kBins = 1200;
  const JointColumns& joint = data.joint;
  Bin bins[kBins];
  for (std::size_t first = 0, last = 0; first < joint.size(); first = last) {
    while (last < std::min(joint.size(), first + 4) &&
           joint.start[last + 1] - joint.start[first] <= kBins)
      ++last;
    std::fill_n(bins, joint.start[last] - joint.start[first], Bin{});
    constexpr auto kernels = std::array{add_joint_rows<1, Bin>, add_joint_rows<2, Bin>,
                                        add_joint_rows<3, Bin>, add_joint_rows<4, Bin>};
    kernels[last - first - 1](joint, first, rows, stats, n, bins);
    for (std::size_t j = first; j < last; ++j) {
      const std::size_t from = joint.first[j], to = joint.first[j + 1];
      Bin* places[JointColumns::kColumns];
      for (std::size_t f = from; f < to; ++f) places[f - from] = histogram + data.offset[f];
      part_joint_bins(&joint.radix[from], to - from, joint.start[j + 1] - joint.start[j],
                      bins + joint.start[j] - joint.start[first], places);
    }
  }
}

// Sparse layout, rows of any length.
template <class Bin>
void add_listed_rows(const Block& block, const Row* rows, const Packed* stats, std::size_t n,
                     Bin* __restrict places) {
  const std::uint32_t* start = block.start.data();
  const std::uint16_t* entries = block.entries.data();
  for (std::size_t i = 0; i < n; ++i) {
    if (i + 2 * kAhead < n) __builtin_prefetch(start + rows[i + 2 * kAhead]);
    if (i + kAhead < n) __builtin_prefetch(entries + start[rows[i + kAhead]]);
    const Bin v = Bin::row(stats[i]);
    const std::uint16_t* end = entries + start[rows[i] + 1];
    for (const std::uint16_t* e = entries + start[rows[i]]; e < end; ++e) places[*e] += v;
  }
}

// Sparse layout, rows of one length.
template <class Bin>
void add_equal_rows(const Block& block, const Row* rows, const Packed* stats, std::size_t n,
                    Bin* __restrict places) {
  const std::size_t width = block.width;
  const std::uint16_t* entries = block.entries.data();
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) __builtin_prefetch(entries + rows[i + kAhead] * width);
    const Bin v = Bin::row(stats[i]);
    const std::uint16_t* e = entries + rows[i] * width;
    std::size_t j = 0;
    for (; j + 4 <= width; j += 4) {
      places[e[j]] += v;
      places[e[j + 1]] += v;
      places[e[j + 2]] += v;
      places[e[j + 3]] += v;
    }
    for (; j < width; ++j) places[e[j]] += v;
  }
}

// One column; of_row (n_rows) holds nothing where a row is not asked for.
template <class Bin>
void add_column(const Column& column, const std::vector<Bin>& of_row, Bin* __restrict places) {
  if (!column.all) {
    for (std::size_t e = 0; e < column.n; ++e) places[column.codes[e]] += of_row[column.rows[e]];
    return;
  }
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    const Code code = column.at(static_cast<Row>(i));
    if (code != column.usual) places[code] += of_row[i];
  }
}

// Sparse and wide: rows have next to nothing in a block, but columns list their rows one after the
// other. Every column has places of its own, so threads do not meet.
template <class Bin>
void add_by_columns(const BinnedData& data, const Row* rows, const Packed* stats, std::size_t n,
                    Bin* __restrict histogram, const Team* team) {
  std::vector<Bin> of_row(data.n_rows);
  for (std::size_t i = 0; i < n; ++i) of_row[rows[i]] = Bin::row(stats[i]);
  const auto add = [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t f = begin; f < end; ++f)
      add_column(data.column(static_cast<int>(f)), of_row, histogram + data.offset[f]);
  };
  const auto d = static_cast<std::size_t>(data.n_features);
  team ? team->range(d, 64, add) : add(0, d, 0);
}

}  // namespace

template <class Bin>
void naive_histogram(const BinnedData& data, const Row* rows, const Packed* stats, std::size_t n,
                     Bin* histogram) {
  for (int f = 0; f < data.n_features; ++f)
    for (std::size_t i = 0; i < n; ++i)
      histogram[data.offset[static_cast<std::size_t>(f)] + data.code(rows[i], f)] +=
          Bin::row(stats[i]);
}

template <class Bin>
void add_to_histogram(const BinnedData& data, const Row* rows, const Packed* stats, std::size_t n,
                      Bin* __restrict histogram, const Team* team) {
  if (data.joint.pays(n)) return add_joint(data, rows, stats, n, histogram);
  if (data.pays_by_columns(n)) return add_by_columns(data, rows, stats, n, histogram, team);
  for (const Block& block : data.blocks) {
    Bin* places = histogram + block.base;
    if (data.sparse && block.width > 0) {
      add_equal_rows(block, rows, stats, n, places);
    } else if (data.sparse) {
      add_listed_rows(block, rows, stats, n, places);
    } else {
      add_dense_block(data, block, rows, stats, n, places);
    }
  }
}

template <class Bin>
void complete_histogram(const BinnedData& data, const std::vector<int>& features, Bin total,
                        Bin* histogram) {
  if (!data.sparse) return;
  for (const int f : features) {
    const auto begin = data.offset[static_cast<std::size_t>(f)];
    const auto end = data.offset[static_cast<std::size_t>(f) + 1];
    const auto usual = begin + data.usual[static_cast<std::size_t>(f)];
    Bin rest = total;
    for (auto b = begin; b < end; ++b) rest -= histogram[b];
    histogram[usual] += rest;
  }
}

template <class Bin>
void drop_hopeless(const BinnedData& data, const Bin* histogram, Bin total, int min_samples,
                   std::vector<int>& features) {
  if (!data.sparse) return;
  std::erase_if(features, [&](int f) {
    const auto u = static_cast<std::size_t>(f);
    const Bin others = difference(total, histogram[data.offset[u] + data.usual[u]]);
    if constexpr (std::is_same_v<Bin, CountedBin>) return others.n() < min_samples;
    return others.empty();
  });
}

void drop_hopeless(const BinnedData& data, const Row* rows, std::size_t n, int min_samples,
                   std::vector<int>& features) {
  if (!data.pays_to_count(n)) return;
  std::vector<std::uint32_t> count(static_cast<std::size_t>(data.n_features));
  for (const Block& block : data.blocks) {
    const std::uint32_t* column = data.column_at.data() + block.base;
    for (std::size_t i = 0; i < n; ++i)
      for (const std::uint16_t place : block.of(rows[i])) ++count[column[place]];
  }
  std::erase_if(features, [&](int f) {
    return count[static_cast<std::size_t>(f)] < static_cast<std::uint32_t>(min_samples);
  });
}

#define EDGEWISE_HISTOGRAMS(Bin)                                                                  \
  template void naive_histogram(const BinnedData&, const Row*, const Packed*, std::size_t, Bin*); \
  template void add_to_histogram(const BinnedData&, const Row*, const Packed*, std::size_t,       \
                                 Bin* __restrict, const Team*);                                   \
  template void complete_histogram(const BinnedData&, const std::vector<int>&, Bin, Bin*);        \
  template void drop_hopeless(const BinnedData&, const Bin*, Bin, int, std::vector<int>&);

EDGEWISE_HISTOGRAMS(PlainBin)
EDGEWISE_HISTOGRAMS(CountedBin)
#undef EDGEWISE_HISTOGRAMS

}  // namespace edgewise
