// The state of logistic boosting: class probabilities p of every training row.
//
// Adding a tree to the scores F multiplies a row's probabilities by exp(leaf value) and normalises
// again, so exponentials are taken once per leaf, never once per row, and F itself is not needed:
//   p_ik  <-  p_ik exp(v_ik) / sum_s p_is exp(v_is).
// The state is a fold over the trees: replaying them gives the same bits.
//
// Probabilities are kept row after row for trees that look at all classes of a row, or class after
// class for trees that look at one class of all rows. The arithmetic is the same, bit for bit.
// Where classes are many, rows have lists of the classes that trees have moved (class_lists.hpp).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "array.hpp"
#include "class_lists.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// How one tree moves the scores of the training rows: row i is in leaf leaf_of_row[i].
struct Moves {
  const std::uint16_t* leaf_of_row;
  std::size_t width;                      // classes moved by each leaf
  std::span<const std::int32_t> classes;  // (n_leaves, width)
  std::span<const double> values;

  explicit Moves(const Tree& tree)
      : leaf_of_row(tree.leaf_of_row.data()),
        width(static_cast<std::size_t>(tree.width)),
        classes(tree.classes),
        values(tree.values) {}
  Moves(const std::uint16_t* leaves, std::size_t w, std::span<const std::int32_t> c,
        std::span<const double> v)
      : leaf_of_row(leaves), width(w), classes(c), values(v) {}
};

// How probabilities are kept: row after row, class after class (as class trees read them), or as
// lists of classes.
enum class Layout { by_row, by_class, lists };

class Posterior {
 public:
  // Places from a row to the next and from a class to the next.
  struct Stride {
    std::size_t row, of_class;
  };

  // Labels in 0..n_classes-1; weights empty (all one) or one per row; `start` are initial scores F.
  // Rows that are a `part` of the data may be none.
  Posterior(std::vector<Label> labels, std::vector<double> weights, std::span<const double> start,
            Layout layout, bool part = false);

  std::size_t n_rows() const { return labels_.size(); }
  int n_classes() const { return n_classes_; }
  Label label(Row row) const { return labels_[row]; }
  const Label* labels() const { return labels_.data(); }
  double weight(Row row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  bool weighted() const { return !weights_.empty(); }
  const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }
  double of(Row row, int k) const {
    return lists_ ? lists_->of(row, k) : p_[place(row, static_cast<std::size_t>(k))];
  }
  const ClassLists* lists() const { return lists_ ? &*lists_ : nullptr; }

  // All classes of a row; needs Layout::by_row.
  const double* of_row(Row row) const { return p_.data() + place(row, 0); }

  // Sums of the probabilities of the wrong classes (n_rows).
  const double* others() const { return others_.data(); }

  // r_ik - p_ik without cancellation: for the true class, the sum of the other probabilities.
  double residual(Row row, int k) const { return labels_[row] == k ? others_[row] : -of(row, k); }

  // Writes the residuals of class k of rows [begin, end); needs Layout::by_class.
  void residuals(int k, std::size_t begin, std::size_t end, double* out) const;

  // Adds the trees' leaf values to the scores.
  void add(const std::vector<Moves>& trees, const Team& team);

  // Mean log loss of every class's rows times their share, i.e. sum_{y_i = k} -w_i log p_ik / W:
  // their sum is the mean log loss. Sums are exact integers.
  std::vector<double> class_losses(const Team& team) const;

  // Mean log loss of some rows, which need not be those that trees are grown from.
  double loss_of(std::span<const Row> rows) const;

  // Mean log loss after adding the trees, without adding them; not with lists.
  double loss_after(const std::vector<Moves>& trees, const Team& team) const;

  // The integer sums behind both, in units per 1.0: for rows that are a part of the data.
  std::vector<std::int64_t> class_loss_sums(double unit, const Team& team) const;
  std::int64_t loss_sum_after(const std::vector<Moves>& trees, double unit, const Team& team) const;

  // Room for the probabilities (lists stay where they are), and their move there.
  std::size_t room() const;
  void settle(Room& room);

  // Units for the losses of n rows, the heaviest of weight `largest`.
  static double loss_unit(std::size_t n, double largest);

 private:
  double loss_unit() const { return loss_unit(n_rows(), largest_weight_); }
  std::size_t place(std::size_t row, std::size_t k) const {
    return row * stride_.row + k * stride_.of_class;
  }
  void normalise(std::size_t begin, std::size_t end);
  void add_to_lists(const std::vector<Moves>& trees, const Team& team);
  void copy(std::size_t begin, std::size_t n, double* out) const;

  int n_classes_;
  std::vector<Label> labels_;
  std::vector<double> weights_;
  double largest_weight_ = 1.0;
  double total_weight_;
  Stride stride_;
  Array<double> p_;       // (n_rows, n_classes), or (n_classes, n_rows)
  Array<double> others_;  // (n_rows): sum of p over the wrong classes
  std::optional<ClassLists> lists_;
};

// Of rows with lists of classes; null of others.
inline const Prior* prior_of(const Posterior& posterior) {
  return posterior.lists() ? &posterior.lists()->prior() : nullptr;
}

}  // namespace edgewise
