// The state of logistic multi-label boosting: scores F_il of every row and label, and residuals.
//
//   L = sum_i w_i sum_l log(1 + exp(-y_il F_il)),   q_il = 1 / (1 + exp(y_il F_il)),
//   g_il = -dL/dF_il = w_i y_il q_il,               h_il = d2L/dF_il^2 = w_i q_il (1 - q_il).
//
// Leaves move few of many labels, and only what they move is computed again. Residuals y q are kept
// in single precision, which keeps the relative precision of small ones; sums over rows are integer
// sums, of the loss too, to which only changes are added.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posterior.hpp"
#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// How far leaves move labels.
struct LabelSteps {
  double shrinkage = 1.0;
  double l2 = 0.0;         // added to sums of h
  double max_delta = 5.0;  // the largest step, before shrinkage
  double noise = 0.0;      // the gain that chance gives a step, times a factor: see `step`
  std::size_t width = 0;   // labels that a leaf moves at most
};

class LabelScores {
 public:
  // `signs` y_il = +-1 (n_rows, n_labels); weights empty (all one) or one per row; `start` are
  // initial scores of the labels.
  LabelScores(std::vector<std::int8_t> signs, std::vector<double> weights,
              std::span<const double> start);

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_labels() const { return n_labels_; }
  const std::vector<double>& scores() const { return scores_; }  // (n_rows, n_labels)

  // sum_l g_il d_lk for directions d (n_labels, n_directions), and sum_l h_il, for all rows.
  void project(const double* directions, std::size_t n_directions, double* g, double* h,
               const Team& team) const;

  // Newton steps of the leaves, of the labels of each that gain most. `drawn` says which rows count
  // (null: all).
  void set_steps(Tree& tree, const LabelSteps& steps, const std::uint8_t* drawn,
                 const Team& team) const;

  void add(const std::vector<Moves>& trees, const Team& team);
  void set_scores(const double* scores, const Team& team);

  // The mean over rows, by weight, and labels.
  double loss() const;

 private:
  double weight(std::size_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }

  std::size_t n_rows_, n_labels_;
  std::vector<std::int8_t> signs_;  // (n_rows, n_labels)
  std::vector<double> weights_;
  double largest_weight_ = 1.0;
  std::vector<double> scores_;   // (n_rows, n_labels)
  std::vector<float> residual_;  // (n_rows, n_labels): y q
  double loss_unit_, weight_sum_;
  std::int64_t loss_ = 0;
};

// Losses of rows of scores (n_rows, n_labels) under signs, each a mean over labels, of scores times
// `factor`: the loss, its slope and its curvature by the logarithm of the factor, (3, n_rows).
void label_losses(const double* scores, const std::int8_t* signs, std::size_t n_rows,
                  std::size_t n_labels, double factor, double* out, const Team& team);

}  // namespace edgewise
