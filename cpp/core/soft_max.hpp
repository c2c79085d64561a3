// Probabilities from scores, and the losses of labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "threads.hpp"
#include "types.hpp"

namespace edgewise {

// Row-wise soft-max, in place: scores (n_rows, n_classes) become probabilities.
void softmax(double* scores, std::size_t n_rows, int n_classes, const Team& team);

// The k largest values of every row and their columns, (n_rows, k), the largest first and the lower
// column first where they are equal.
void top_k(const double* values, std::size_t n_rows, int n_columns, std::size_t k,
           std::int32_t* columns, double* largest, const Team& team);

// -log p of the label of every row, under the soft-max of scores (n_rows, n_classes).
void log_losses(const double* scores, int n_classes, std::span<const Label> labels, double* losses,
                const Team& team);

}  // namespace edgewise
