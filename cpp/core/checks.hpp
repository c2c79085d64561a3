// The gate of the core: inputs are checked here, once, for everything that its loops take for
// granted. All functions throw std::invalid_argument with a message.
#pragma once

#include <cstddef>
#include <span>

#include "binning.hpp"
#include "summary.hpp"
#include "types.hpp"

namespace edgewise {

// A fit needs a row and a column.
void need_rows_and_columns(std::size_t n_rows, std::size_t n_columns);

// Every number is finite.
void need_finite(std::span<const double> numbers, const char* name);

// One weight per row, finite and not negative; one at least is positive if there are any.
void need_weights(std::span<const double> weights, std::size_t n_rows);

// Labels are classes.
void need_labels(std::span<const Label> labels, std::size_t n_classes);

// Codes lie in the bins of their columns, (n_columns, n_rows).
void need_codes(std::span<const Code> codes, std::size_t n_rows, const Cuts& cuts);

// The same of columns that list some rows, ascending.
void need_lists(std::span<const std::int64_t> start, std::span<const Row> rows,
                std::span<const Code> codes, std::size_t n_rows, const Cuts& cuts);

// A matrix has the columns that the cuts know.
void need_columns(std::size_t n_columns, const Cuts& cuts);

// Records that may come from anywhere, such as a pickle.
void check(const Summary& summary);
void check(const Cuts& cuts);
void check(const Tree& tree);

// A tree tests no feature beyond the first n.
void need_features(const Tree& tree, std::size_t n_features);

// The leaves of a tree, which has seen n_rows rows, move classes that exist.
void need_moves(const Tree& tree, std::size_t n_rows, std::size_t n_classes);

}  // namespace edgewise
