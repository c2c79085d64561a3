#include "choices.hpp"

#include <algorithm>
#include <cstring>

#include "clones.hpp"

namespace edgewise {
namespace {

typedef std::uint8_t Byte32 __attribute__((vector_size(32)));

inline Byte32 load32(const std::uint8_t* p) {
  Byte32 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

EDGEWISE_CLONES void choose_leaves(const Choice* choices, std::size_t n_choices,
                                   const Code* const* columns, std::size_t n, std::uint8_t* board,
                                   std::uint8_t* out) {
  for (std::size_t at = 0; at < n; at += kRowsAbreast) {
    Byte32 leaf = load32(board);
    for (std::size_t c = n_choices; c-- > 0;) {
      const Choice& choice = choices[c];
      const Byte32 codes = load32(columns[choice.column] + at);
      const auto goes_left = (codes <= choice.bin) | (codes == choice.missing);
      leaf = goes_left ? load32(board + choice.left * kRowsAbreast)
                       : load32(board + choice.right * kRowsAbreast);
      std::memcpy(board + choice.own * kRowsAbreast, &leaf, sizeof leaf);
    }
    std::memcpy(out + at, &leaf, sizeof leaf);
  }
}

}  // namespace

// The place of a leaf holds its number, 32 times; those of inner nodes come after the leaves'.
LeafBoard::LeafBoard() : board_(2 * kMostByteLeaves * kRowsAbreast) {
  for (std::size_t leaf = 0; leaf < kMostByteLeaves; ++leaf)
    std::fill_n(board_.begin() + static_cast<std::ptrdiff_t>(leaf * kRowsAbreast), kRowsAbreast,
                static_cast<std::uint8_t>(leaf));
}

void LeafBoard::leaves(std::span<const Choice> choices, const Code* const* columns, std::size_t n,
                       std::uint8_t* out) {
  choose_leaves(choices.data(), choices.size(), columns, n, board_.data(), out);
}

}  // namespace edgewise
