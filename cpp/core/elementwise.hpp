// exp and log of arrays of any doubles, with the same bits on every machine.
#pragma once

#include <cstddef>

namespace edgewise {

// out[i] = exp(x[i]); 0, infinity and NaN where the true value is.
void exp_all(const double* x, double* out, std::size_t n);

// out[i] = log(x[i]); minus infinity for 0, NaN for negative numbers.
void log_all(const double* x, double* out, std::size_t n);

}  // namespace edgewise
