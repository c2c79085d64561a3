// The criteria of class trees: the second channel of their splits.
#pragma once

#include "least_squares.hpp"
#include "newton.hpp"

namespace edgewise {

enum class Criterion { newton, least_squares };

// f(c), c of the criterion's type.
template <class F>
auto with_criterion(Criterion criterion, F f) {
  return criterion == Criterion::newton ? f(Newton{}) : f(LeastSquares{});
}

}  // namespace edgewise
