// Joint columns: neighbouring columns with few bins share a code, so that one addition to a
// histogram stands for several. In surveys, letters or board games, sixteen columns of sixteen bins
// become eight joint columns. The sums of the columns follow from those of the joint bins, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array.hpp"

namespace edgewise {

struct JointColumns {
  static constexpr std::size_t kColumns = 8;  // that a joint one may stand for

  std::vector<std::size_t> first;    // (size + 1): columns [first[j], first[j + 1]) share j
  std::vector<std::size_t> start;    // (size + 1): bins [start[j], start[j + 1]) are those of j
  std::vector<std::uint32_t> radix;  // (columns): bins of a column; the last one's vary fastest
  Array<std::uint16_t> codes;        // (n_rows, size)

  std::size_t size() const { return first.empty() ? 0 : first.size() - 1; }

  // Whether sums of n rows come cheaper by way of joint bins, which must be set to zero and read.
  bool pays(std::size_t n) const {
    return size() > 0 && n * (radix.size() - size()) > 2 * start.back();
  }
};

// Joins columns that have `radix` bins each. Without codes; none where that would save little.
JointColumns join_columns(std::vector<std::uint32_t> radix);

// The sums of a joint column's bins, which are changed, to those of its columns: added to
// places[c] for the c-th.
template <class Bin>
void part_joint_bins(const std::uint32_t* radix, std::size_t n_columns, std::size_t n_bins,
                     Bin* bins, Bin** places) {
  for (std::size_t c = n_columns; c-- > 0;) {
    n_bins /= radix[c];
    for (std::size_t a = 0; a < n_bins; ++a) {
      const Bin* from = bins + a * radix[c];
      Bin sum{};
      for (std::uint32_t b = 0; b < radix[c]; ++b) {
        const Bin v = from[b];
        places[c][b] += v;
        sum += v;
      }
      bins[a] = sum;
    }
  }
}

}  // namespace edgewise
