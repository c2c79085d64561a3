"""AdaBoost's choices from rational weights, without rounding.

Weights in proportion to whole numbers stay so: a step multiplies those of the examples that the
column gets right by the sum of the others, and the other way round. Their digits double with every
step, though, so once they are long the weights are enclosed in intervals instead (mpmath), of as
many digits as it takes to tell the largest edge from the others. Either way every choice is proved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._ground.errors import InvalidDataError
from ..._ground.params import check, integer, one_of
from ._cycle_map import Choices
from ._intervals import Vector, contexts, move, sides
from ._margin_matrix import Signs, check_matrix

Order = NDArray[np.intp]  # columns, in the order in which ties are broken

_LONG = 2000  # bits of a weight in whole numbers
_FIRST_DIGITS = 100
_UNDECIDED = "the largest edge cannot be told from another in {} digits: a tie, or nearly one"


@dataclass(frozen=True, eq=False)
class ExactChoices:
    """Proved choices, and how they were found."""

    choices: Choices  # (T,)
    n_whole: int  # so many of them in whole numbers; only there can a tie be known as one
    digits: int  # of the intervals for the others; 0 if there are none
    stopped: str | None  # why there are fewer than asked for


def exact_choices(
    M: ArrayLike,
    d0: Sequence[Any] | None = None,
    *,
    n_steps: int = 100,
    ties: Literal["lowest", "highest"] = "lowest",
    max_digits: int = 10_000,
) -> ExactChoices:
    """The columns that optimal AdaBoost takes from rational weights, without any rounding.

    `d0` holds integers, fractions or floats (which are fractions); only their ratios matter. Long
    walks need mpmath, of the extra ``lab``.
    """
    check(
        "exact_choices",
        {"n_steps": n_steps, "ties": ties, "max_digits": max_digits},
        {
            "n_steps": integer(0),
            "ties": one_of("lowest", "highest"),
            "max_digits": integer(_FIRST_DIGITS),
        },
    )
    signs = check_matrix(M)
    order = np.arange(signs.shape[1])[:: 1 if ties == "lowest" else -1]
    whole, weights = _in_whole_numbers(signs, _whole(d0, len(signs)), n_steps, order)
    if whole.stopped or len(whole.choices) == n_steps:
        return whole
    return _in_intervals(signs, weights, n_steps, order, whole, max_digits)


def _whole(d0: Sequence[Any] | None, m: int) -> list[int]:
    """Weights in proportion to d0."""
    if d0 is None:
        return [1] * m
    try:
        fractions = [Fraction(x.item() if isinstance(x, np.generic) else x) for x in d0]
    except (TypeError, ValueError, OverflowError):
        raise InvalidDataError(f"The weights d0 must be rational numbers. Got {d0!r}.") from None
    if len(fractions) != m or min(fractions) < 0 or not any(fractions):
        raise InvalidDataError(
            f"The weights d0 must be {m} numbers, one per example, none negative, at least one "
            f"positive. Got {len(fractions)}, from {min(fractions, default=0)} to "
            f"{max(fractions, default=0)}."
        )
    scale = lcm(*(f.denominator for f in fractions))
    return [int(f * scale) for f in fractions]


def _in_whole_numbers(
    M: Signs, weights: list[int], n_steps: int, order: Order
) -> tuple[ExactChoices, list[int]]:
    """Steps until the numbers are long; and the weights then."""
    choices: list[int] = []
    stopped = None
    while len(choices) < n_steps and max(weights).bit_length() <= _LONG:
        by_column = [sides(weights, M[:, j]) for j in order]
        edges = [right - wrong for right, wrong in by_column]
        best = max(range(len(order)), key=edges.__getitem__)  # of equal ones the first in order
        right, wrong = by_column[best]
        if edges[best] <= 0 or wrong == 0:
            stopped = "no column has an edge" if wrong else "a column makes no error"
            break
        column = M[:, order[best]]
        weights = [w * (wrong if s > 0 else right) for w, s in zip(weights, column, strict=True)]
        common = gcd(*weights)
        weights = [w // common for w in weights]
        choices.append(int(order[best]))
    return ExactChoices(np.array(choices, np.int32), len(choices), 0, stopped), weights


def _in_intervals(
    M: Signs, weights: list[int], n_steps: int, order: Order, whole: ExactChoices, max_digits: int
) -> ExactChoices:
    """Goes on from whole numbers, again and again with more digits, until every choice is clear."""
    digits, stopped = _FIRST_DIGITS, None
    wanted = n_steps - len(whole.choices)
    while True:
        intervals = contexts(digits)[1]
        choices = _enclosed(M, [intervals.mpf(w) / sum(weights) for w in weights], wanted, order)
        if len(choices) == wanted:
            break
        if 2 * digits > max_digits:
            stopped = _UNDECIDED.format(digits)
            break
        digits *= 2
    together = np.concatenate([whole.choices, np.array(choices, np.int32)])
    return ExactChoices(together, whole.n_whole, digits, stopped)


def _enclosed(M: Signs, x: Vector, n_steps: int, order: Order) -> list[int]:
    """Steps from weights in intervals, as long as the largest edge is clear."""
    columns = _distinct(M, order)
    choices: list[int] = []
    for _ in range(n_steps):
        edges = [right - wrong for right, wrong in (sides(x, M[:, j]) for j in columns)]
        best = max(range(len(columns)), key=lambda k: edges[k].a)
        others = (edge for k, edge in enumerate(edges) if k != best)
        if not (edges[best].a > 0 and all(edges[best].a > edge.b for edge in others)):
            break
        x = move(x, M[:, columns[best]])
        choices.append(int(columns[best]))
    return choices


def _distinct(M: Signs, order: Order) -> Order:
    """The columns in order, without those equal to an earlier one, which are never taken."""
    first = np.unique(M[:, order], axis=1, return_index=True)[1]
    return order[np.sort(first)]
