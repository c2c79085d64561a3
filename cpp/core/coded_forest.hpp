// Prediction for many rows at once: their values become bins, cut at the thresholds of the forest
// itself, and 32 rows at a time find their leaves by comparisons of bytes. The leaves, and so the
// scores, are those of walks, bit for bit.
#pragma once

#include <span>
#include <vector>

#include "binning.hpp"
#include "choices.hpp"
#include "matrix.hpp"
#include "types.hpp"

namespace edgewise {

struct ForestArrays;

class CodedForest {
 public:
  explicit CodedForest(const ForestArrays& arrays);

  // Whether converting rows to bins pays for some of the trees.
  bool pays(const Matrix& x, std::size_t n_trees) const {
    return fits_ && !x.is_sparse() && x.rows >= kRowsAbreast && 2 * n_trees >= features_.size();
  }

  // Calls visit(tree, rows, leaves) for every tree in [first, last) and the rows [begin, end).
  template <class Visit>
  void each(const Matrix& x, std::size_t begin, std::size_t end, std::size_t first,
            std::size_t last, Visit visit) const {
    Block block;
    LeafBoard board;
    std::vector<std::uint8_t> leaves(kBlock);
    for (std::size_t b = begin; b < end; b += kBlock) {
      const std::size_t n = std::min(end - b, kBlock);
      encode(x, b, b + n, block);
      for (std::size_t t = first; t < last; ++t) {
        board.leaves(choices_of_tree(t), block.columns.data(), block.n, leaves.data());
        visit(t, b, n, leaves.data());
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 512;  // rows whose bins stay in a near cache

  struct Block {
    std::vector<double> values;
    std::vector<Code> codes;
    std::vector<const Code*> columns;  // (features used)
    std::size_t n = 0;                 // rows, with those that fill up the last 32
  };

  std::span<const Choice> choices_of_tree(std::size_t t) const {
    return std::span(choices_).subspan(start_[t], start_[t + 1] - start_[t]);
  }
  void encode(const Matrix& x, std::size_t begin, std::size_t end, Block& block) const;

  // Whether it supports the forest: no sets of categories, at most 254 thresholds of a feature and
  // 256 leaves of a tree.
  bool fits_ = false;
  std::vector<std::size_t> features_;  // that occur, ascending
  Cuts cuts_;                          // of those
  std::vector<Choice> choices_;
  std::vector<std::size_t> start_{0};  // (n_trees + 1)
};

}  // namespace edgewise
