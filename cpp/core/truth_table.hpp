// Truth tables: the predictions of M classifiers for n examples, as counts of patterns of correct
// and wrong. A vote of the classifiers cannot distinguish the examples of a pattern.
//
// Bit j of a pattern says whether classifier j is right. Counts are integers and weights are summed
// as integers of 128 bits, so a table does not depend on the number of threads or the order of the
// examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "threads.hpp"

namespace edgewise {

struct Answers {
  const std::int8_t* predictions;  // (n_rows, n_classifiers), -1 or +1
  const std::int8_t* labels;       // (n_rows), -1 or +1
  std::size_t n_rows, n_classifiers;
};

// The patterns that occur, ascending, and how many examples (or which weight) each has.
template <class T>
struct Cells {
  std::vector<std::uint64_t> pattern;
  std::vector<T> total;
};

constexpr std::size_t kMostClassifiers = 60;

Cells<std::int64_t> tabulate(const Answers& answers, const Team& team);

// Weights are finite and not negative. A weight is rounded to 2^-86 of the heaviest, so that those
// of at least 2^-33 of it count exactly, and a sum is rounded once, at the end. Patterns of weight
// zero are left out.
Cells<double> tabulate_weighted(const Answers& answers, std::span<const double> weights,
                                const Team& team);

}  // namespace edgewise
