// Cut points of rows that are never in one place: counts that add up over any partitioning of the
// rows, and a search that requests finer counts near possible cuts.
//
// A value has a key, its bits in the order of the numbers. A summary counts keys. Where a feature
// has more distinct keys than a summary may list, keys that agree in their leading bits are counted
// together: as many low bits are dropped as that takes, which depends on the set of all values and
// not on the order in which parts were merged. The cuts are those that all distinct values would
// give, exactly: see CutSearch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "binning.hpp"
#include "matrix.hpp"
#include "threads.hpp"

namespace edgewise {

using Key = std::uint64_t;

// The finite values of a feature: keys without their `dropped` low bits, which are zero, ascending,
// with their masses (numbers of rows, or weights in fixed point).
struct FeatureSummary {
  std::vector<Key> keys;
  std::vector<std::uint64_t> masses;
  int dropped = 0;
  bool has_nan = false, has_infinity = false;
};

struct Summary {
  static constexpr std::size_t kLeast = 1024;  // that `most` may be

  std::vector<FeatureSummary> of_feature;
  std::size_t most = kLeast;  // keys listed of a feature
  std::uint64_t n_rows = 0;
};

// Ranges of keys of every feature: first and last of each, ascending.
using KeyRanges = std::vector<std::vector<Key>>;

// What is summarised: `largest` is the largest weight of all rows, of this part or of others;
// `within`, if not null, the only keys to count.
struct SummaryOptions {
  const double* weights;  // null: all one
  double largest;
  std::size_t most;
  const KeyRanges* within = nullptr;
};

Summary summarise(const Matrix& x, const SummaryOptions& options, const Team& team);
Summary merged(const Summary& a, const Summary& b);

// Finds the cuts of all rows from a summary of them and finer ones of the ranges it asks for.
class CutSearch {
 public:
  CutSearch(const Summary& summary, int max_bins, const std::vector<int>& categorical);

  // Where finer counts are needed; no range of any feature if the cuts are known.
  KeyRanges open() const;
  // A summary of these ranges; an error if it has other rows.
  void take(const Summary& finer);
  Cuts cuts() const;

 private:
  struct Item {  // values that share the leading bits of a key
    Key key;
    int dropped;
    std::uint64_t mass;

    bool exact() const { return dropped == 0; }
    double value() const;  // if exact
    Key last() const { return key + ((Key{1} << dropped) - 1); }
  };
  using Items = std::vector<Item>;
  struct Walk;

  Walk walk(std::size_t f) const;
  Items refined(std::size_t f, const FeatureSummary& finer) const;

  int max_bins_;
  std::uint64_t n_rows_;
  std::size_t most_;  // keys that summaries list
  std::vector<std::uint8_t> categorical_;
  std::vector<Absent> absent_;
  std::vector<Items> items_;  // of every feature
};

}  // namespace edgewise
