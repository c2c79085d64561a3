// The state of AdaBoost.MH: weights over rows and labels, in the log domain.
//
//   log w_il = log w_il^(1) - y_il f_l(x_i),
//
// so that no number of rounds overflows or underflows. After every round the weights are scaled to
// sum to one; the sum is an exact integer sum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posterior.hpp"
#include "threads.hpp"

namespace edgewise {

class LabelWeights {
 public:
  // `signs` y_il = +-1 (n_rows, n_classes); a row's initial weight is `positive` for its labels
  // with y = +1 and `negative` for the others; none of those in use may be zero.
  LabelWeights(const std::vector<std::int8_t>& signs, std::span<const double> positive,
               std::span<const double> negative, const Team& team);

  // Of rows that are a part of the data: the weights are not there before `settle`.
  LabelWeights(std::vector<std::int8_t> signs, std::span<const double> positive,
               std::span<const double> negative, std::size_t n_classes);

  std::size_t n_rows() const { return positive_.size(); }
  std::size_t n_classes() const { return n_classes_; }

  // w_il y_il, (n_rows, n_classes), sum of sizes one.
  const std::vector<double>& signed_weights() const { return signed_; }

  // Adds base classifiers: f += h.
  void add(const std::vector<Moves>& trees, const Team& team);

  // The same for a base classifier given by its outputs h (n_rows, n_classes).
  void add_outputs(const double* outputs, const Team& team);

  // sum of the initial weights where sign(f_l(x_i)) != y_il; f = 0 is wrong.
  double hamming_loss(const Team& team) const;

  // log of the exponential risk: sum of w^(1) exp(-y f).
  double log_risk() const { return log_risk_; }

  // Vote mass of eq. (14): sum_i |sum_l w_il v_l y_il|.
  double vote_mass(std::span<const double> votes, const Team& team) const;

  // The same for rows that are a part of the data, step by step: add to the margins; the largest
  // log w; the sum of w / exp(shift) in units; the weights, `sum` being that of all rows.
  void add_to_margins(const std::vector<Moves>& trees, const Team& team);
  double largest_log(const Team& team);
  std::int64_t exponentials(double shift, double unit, const Team& team);
  void settle(double shift, double sum, const Team& team);
  std::int64_t hamming_sum(double unit, const Team& team) const;
  std::int64_t vote_mass_sum(std::span<const double> votes, double unit, const Team& team) const;

  // Margins y_il f_l(x_i), (n_rows, n_classes).
  const std::vector<double>& margins() const { return margins_; }

 private:
  double initial(std::size_t at) const {
    const std::size_t row = at / n_classes_;
    return signs_[at] > 0 ? positive_[row] : negative_[row];
  }
  void refresh(const Team& team);

  std::size_t n_classes_;
  std::vector<std::int8_t> signs_;                   // (n_rows, n_classes)
  std::vector<double> positive_, negative_;          // (n_rows): initial weights
  std::vector<double> margins_, signed_;             // (n_rows, n_classes)
  std::vector<double> log_positive_, log_negative_;  // (n_rows)
  double log_risk_ = 0.0;
};

}  // namespace edgewise
