// Probabilities where classes are many: of every row the classes that trees have moved, and one
// number for all others.
//
// Leaves move few classes, so the scores of a row differ from the initial ones in few places. A
// class k that is not in the list of row i has the probability prior_k * rest_i. What adding a tree
// costs follows from the lists, not from the number of classes.
//
// Classes whose probability differs from prior_k * rest_i by less than kNegligible are taken off
// the list, and beyond kMost those that differ least; never the row's label. The rest takes over
// their probability, so that those of the label and of all listed classes do not change;
// docs/determinism.md gives the bound that follows. Every decision depends on one row only, so
// threads and the order of rows do not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "criteria/pair.hpp"
#include "types.hpp"

namespace edgewise {

struct Moves;

// The classes' probabilities before the first tree: multiples of 2^-50, so that sums are exact.
struct Prior {
  explicit Prior(std::span<const double> start);

  std::size_t n_classes() const { return share.size(); }

  std::vector<double> share;  // (n_classes)
  double total = 0.0;
};

// A row's list: classes ascending. Others have the probability rest * prior.
struct ListedRow {
  const std::int32_t* classes;
  const double* p;
  std::size_t n;
  double rest;
};

// What a tree's leaves multiply: of every leaf the classes that it moves, ascending.
struct ListedFactors {
  explicit ListedFactors(const Moves& moves);

  const std::uint16_t* leaf_of_row;
  std::vector<std::size_t> start;  // (n_leaves + 1)
  std::vector<std::int32_t> classes;
  std::vector<double> factor;
};

class ClassLists {
 public:
  static constexpr double kNegligible = 0x1p-24;
  static constexpr std::size_t kMost = 512;

  ClassLists(std::span<const Label> labels, std::span<const double> start);

  const Prior& prior() const { return prior_; }
  double of(std::size_t row, int k) const;

  ListedRow row(std::size_t i) const {
    const Block& block = blocks_[i / kRows];
    const std::size_t at = block.start[i % kRows];
    return {block.classes.data() + at, block.p.data() + at, block.start[i % kRows + 1] - at,
            block.rest[i % kRows]};
  }

  // Fetch where a row's list is, and then the list, before they are needed.
  void fetch_place(std::size_t i) const {
    __builtin_prefetch(&blocks_[i / kRows].start[i % kRows]);
    __builtin_prefetch(&blocks_[i / kRows].rest[i % kRows]);
  }
  void fetch(std::size_t i) const {
    const Block& block = blocks_[i / kRows];
    const std::size_t at = block.start[i % kRows], n = block.start[i % kRows + 1] - at;
    __builtin_prefetch(block.classes.data() + at);
    __builtin_prefetch(block.classes.data() + at + n / 4);
    __builtin_prefetch(block.classes.data() + at + n / 2);
    __builtin_prefetch(block.classes.data() + at + n - n / 4);
    __builtin_prefetch(block.p.data() + at);
  }

  // Adds trees to rows [begin, end), where begin is a multiple of kRows and end is, too, or the
  // last row's. `others` (n_rows) receives the sums over the classes that are not the label.
  void add(const std::vector<ListedFactors>& trees, std::size_t begin, std::size_t end,
           std::span<const Label> labels, double* others);

  static constexpr std::size_t kRows = 64;  // kept together

 private:
  struct Block {
    std::uint32_t start[kRows + 1] = {};
    double rest[kRows];
    std::vector<std::int32_t> classes;
    std::vector<double> p;
  };
  struct Scratch;

  void merge(ListedRow row, const ListedFactors& tree, std::size_t leaf, Scratch& out) const;
  double bound_of_most(Scratch& row, double rest) const;
  double normalise(Scratch& row, double& rest, Label label) const;

  Prior prior_;
  std::vector<Block> blocks_;
};

// Sums of a node over lists: `g`, `h` and `size` hold what listed classes have beyond what they
// would have off the list, and two numbers make up for that. All of it is linear in the rows.
struct RestUnits {
  double unit, most;  // per 1.0 of a weight; what a row may add

  RestUnits(double scale, std::size_t n_total);

  std::int64_t first(double rest, double weight) const { return units(rest * weight); }
  std::int64_t second(double rest, double weight) const { return units(rest * rest * weight); }

 private:
  std::int64_t units(double x) const;
};

// The sums of every class, in units of which there are `scale` per 1.0.
ClassSums completed(const ClassSums& sums, const Prior& prior, const RestUnits& units,
                    double scale);

}  // namespace edgewise
