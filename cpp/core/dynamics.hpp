// AdaBoost as an iterated map on the weights of the examples, and its relatives.
//
// M is the margin matrix: +1 where a column (classifier) is right on a row (example), -1 where it
// is wrong. A step from weights d chooses a column; with A and B the weight of the rows that it
// gets right and wrong, the former are multiplied by p and the latter by q, where p A + q B = 1
// and q / p = exp(2 alpha), alpha being the column's vote. AdaBoost has p = 1 / 2A, q = 1 / 2B:
// the map d / (1 + M r) with the edge r = A - B, in a form that keeps the sum of the weights at 1
// (the other form enlarges its error by 1 / (1 - r^2) a step).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "threads.hpp"

namespace edgewise {

class MarginMatrix {
 public:
  MarginMatrix(const std::int8_t* entries, std::size_t rows, std::size_t columns);

  const double* rows() const { return rows_.data(); }
  // The rows that column j gets wrong.
  const std::uint32_t* wrong(std::size_t j) const { return wrong_.data() + start_[j]; }
  std::size_t n_wrong(std::size_t j) const { return start_[j + 1] - start_[j]; }

  std::size_t n_rows, n_columns;
  std::size_t width;  // columns, filled up to whole vectors by columns that are always wrong

 private:
  std::vector<double> rows_;  // (n_rows, width)
  std::vector<std::uint32_t> wrong_;
  std::vector<std::size_t> start_;  // (n_columns + 1)
};

enum class VoteRule { adaboost, arc_gv, ascent, adaboost_star };
enum class Choice { best, first, weakest };
enum class Ties { lowest, highest, stop };
enum class Stop { none, tie, no_edge, perfect };

struct StepRule {
  VoteRule vote = VoteRule::adaboost;
  Choice choice = Choice::best;  // of the columns whose edge reaches the threshold
  Ties ties = Ties::lowest;      // among the best, or the weakest
  double threshold = 0.0;
  double tolerance = 1e-13;  // edges that differ by no more are equal; one no larger is none
  double nu = 0.01;          // of AdaBoost*
};

// Where to write what happens, one entry per step; null where it is not wanted.
struct Record {
  std::int32_t* choices = nullptr;
  double* edges = nullptr;
  double* alphas = nullptr;
  double* weights = nullptr;  // (n_steps, n_rows), before each step
};

// A walk on the simplex. It can be continued, and takes the same steps in one run or in several.
class WeightMap {
 public:
  // `weights` are positive or zero, with sum 1.
  WeightMap(MarginMatrix matrix, std::vector<double> weights, const StepRule& rule);

  struct Done {
    std::int64_t steps;
    Stop stop;
  };
  // Up to n_steps steps; `forced`, if not negative, is the choice of the first of them.
  Done run(std::int64_t n_steps, std::int32_t forced, const Record& record, const Team& team);

  const std::vector<double>& weights() const { return weights_; }
  std::vector<double> votes() const;
  std::vector<std::int32_t> tied() const;  // the columns among which the next choice is free
  std::size_t n_rows() const { return matrix_.n_rows; }
  std::size_t n_columns() const { return matrix_.n_columns; }

 private:
  template <VoteRule V>
  Done walk(std::int64_t n_steps, std::int32_t forced, const Record& record, const Team& team);
  template <VoteRule V>
  double odds_of(double right, double wrong);
  template <VoteRule V>
  void vote(std::size_t j, double odds, double right, double wrong);

  struct Range {
    double low, high;
    bool holds(double edge) const { return low <= edge && edge <= high; }
  };
  Range wanted() const;
  std::int64_t choose() const;
  void write(const Record& record, std::int64_t t, std::size_t j, double edge, double odds) const;
  void refresh();
  void weigh_by_votes();
  double least_score() const;

  MarginMatrix matrix_;
  StepRule rule_;
  std::vector<double> start_;    // (n_rows)
  std::vector<double> weights_;  // (n_rows)
  std::vector<double> edges_;    // (width)
  std::vector<double> scratch_;  // (n_rows)
  std::vector<double> votes_;    // (n_columns), for AdaBoost without what odds_ holds
  std::vector<double> odds_;     // (n_columns): product of exp(2 alpha), entered in votes_ late
  std::vector<double> scores_;   // (n_rows): M times votes; infinite where the weight is zero
  double top_ = 0.0;             // the largest edge
  double mass_ = 0.0;            // sum of the votes; not kept for AdaBoost
  double log_sum_ = 0.0;         // log sum_i (start_i / least start) exp(-scores_i)
  double least_edge_ = 1.0;
  std::int64_t age_ = 0;  // steps since the last refresh
};

// AdaBoost's steps with given columns of M (n_rows, n_columns): moves the weights d (n_rows) and
// multiplies the derivatives J (n_rows, n_rows) from the left by those of each step. In the form of
// degree zero: what a column gets right is divided by twice its sum, and so is the rest by its own.
void follow(const std::int8_t* signs, std::size_t n_rows, std::size_t n_columns,
            std::span<const std::int32_t> choices, double* d, double* J);

}  // namespace edgewise
