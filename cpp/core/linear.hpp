// The two products of multinomial logistic regression: scores from coefficients, and the gradient
// of the coefficients from residuals. Columns hold small integers, a column after the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "threads.hpp"

namespace edgewise {

inline constexpr double kColumnUnit = 2048;  // of a column's integers

struct Columns {
  const std::int16_t* values;  // (n_columns, n_rows)
  std::size_t n_columns, n_rows;
};

// scores (n_rows, n_classes) = columns^T coefficients / kColumnUnit, column after column.
void linear_scores(const Columns& x, const double* coefficients, std::size_t n_classes,
                   double* scores, const Team& team);

// gradient (n_columns, n_classes) = columns residuals / kColumnUnit. Residuals (n_rows, n_classes)
// are between -1 and 1; they are rounded to integers, so that the order of the rows, in which
// threads add them, does not matter. Throws std::invalid_argument if one is not.
void linear_gradient(const Columns& x, const double* residuals, std::size_t n_classes,
                     double* gradient, const Team& team);

}  // namespace edgewise
