// The leaves of 32 rows at once, from bins of one byte: from the deepest node of a tree to its
// root, every row takes over the leaf found on the side it goes to. Rows do not depend on each
// other, so a node costs a few instructions for 32 rows, whereas a walk costs as many for each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "types.hpp"

namespace edgewise {

inline constexpr std::size_t kRowsAbreast = 32;
inline constexpr std::size_t kMostByteLeaves = 256;  // a byte numbers them

// An inner node: where it finds the leaves below its two sides, and where it leaves its own.
struct Choice {
  std::uint32_t column;
  std::uint16_t left, right, own;  // places of 32 bytes
  Code bin;                        // a code at most this goes left,
  Code missing;                    // and so does this one; = bin if none
};

// The choices of a tree whose nodes have children after their parents; a leaf has feature -1 and
// its number in `left`. column_of(node) and codes_of(node) = (bin, missing) say what to compare.
template <class ColumnOf, class CodesOf>
std::vector<Choice> choices_of(std::span<const std::int32_t> feature,
                               std::span<const std::int32_t> left, ColumnOf column_of,
                               CodesOf codes_of) {
  std::vector<std::uint16_t> place(feature.size());
  std::size_t n_inner = 0;
  for (std::size_t i = 0; i < feature.size(); ++i) {
    const std::size_t inner = kMostByteLeaves + n_inner;
    n_inner += feature[i] >= 0;
    place[i] =
        static_cast<std::uint16_t>(feature[i] >= 0 ? inner : static_cast<std::size_t>(left[i]));
  }
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < feature.size(); ++i) {
    if (feature[i] < 0) continue;
    const auto child = static_cast<std::size_t>(left[i]);
    const auto [bin, missing] = codes_of(i);
    choices.push_back({column_of(i), place[child], place[child + 1], place[i], bin, missing});
  }
  return choices;
}

// One thread's memory: leaves by place.
class LeafBoard {
 public:
  LeafBoard();

  // Finds the leaves of n rows, a multiple of 32, whose codes begin at columns[choice.column]. A
  // tree without choices has one leaf, 0.
  void leaves(std::span<const Choice> choices, const Code* const* columns, std::size_t n,
              std::uint8_t* out);

 private:
  std::vector<std::uint8_t> board_;
};

}  // namespace edgewise
