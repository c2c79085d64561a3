"""The margin matrices of the literature, by name.

Rudin, Daubechies & Schapire, "The dynamics of AdaBoost", JMLR 5 (2004): the cases with one error
each, manifolds of cycles, and those where AdaBoost or its non-optimal version misses the maximum
margin. Wang, arXiv 2604.07055 (2026): the one that never cycles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..._ground.errors import InvalidDataError, InvalidParameterError
from ..._ground.params import check, integer, random_state, real
from ._margin_matrix import Signs, Weights, check_matrix
from ._rules import Optimal, StepRule, Threshold


@dataclass(frozen=True, eq=False)
class Example:
    """A matrix with a start, and what happens from there."""

    name: str
    matrix: Signs  # (m, n)
    start: tuple[Any, ...] | None  # (m,); fractions where these matter, None for equal weights
    max_margin: Fraction
    story: str
    rule: StepRule = Optimal()  # noqa: RUF009 - frozen


def one_error_each(m: int = 3) -> Signs:
    """m classifiers on m examples, classifier j wrong on example j only: -1 on the diagonal.

    AdaBoost has at least (m-1)! stable cycles of length m. On each all edges equal the r with
    (1 - r)(1 + r)^(m-1) = 1, and the margin is the maximum, 1 - 2/m.
    """
    check("one_error_each", {"m": m}, {"m": integer(3)})
    return (1 - 2 * np.eye(m)).astype(np.int8)


def repeated_rows(M: ArrayLike, times: Sequence[int]) -> Signs:
    """M with row i repeated times[i] times: examples that every classifier treats alike.

    They may share their weight in any way, so a cycle of M becomes a manifold of cycles.
    """
    signs = check_matrix(M)
    counts = np.asarray(times)
    if counts.shape != (len(signs),) or counts.dtype.kind not in "iu" or (counts < 1).any():
        raise InvalidDataError(
            f"times must be one integer of at least 1 for each of the {len(signs)} rows of M. "
            f"Got {times!r}."
        )
    return np.repeat(signs, counts, axis=0)


def random_matrix(m: int, n: int, *, error_rate: float = 0.5, random_state: Any = None) -> Signs:
    """Independent entries, -1 with probability `error_rate`."""
    _check_random("random_matrix", m, n, error_rate, random_state)
    draws = check_random_state(random_state).random_sample((m, n))
    return np.where(draws < error_rate, -1, 1).astype(np.int8)


def random_weights(m: int, *, random_state: Any = None) -> Weights:
    """Weights drawn evenly from the simplex, (m,)."""
    _check_random("random_weights", m, 1, 0.5, random_state)
    draws: Weights = check_random_state(random_state).dirichlet(np.ones(m))
    return draws


def _check_random(owner: str, m: int, n: int, error_rate: float, seed: Any) -> None:
    check(
        owner,
        {"m": m, "n": n, "error_rate": error_rate, "random_state": seed},
        {
            "m": integer(1),
            "n": integer(1),
            "error_rate": real(0, 1, high_open=True),
            "random_state": random_state(),
        },
    )


def _signs(rows: str) -> Signs:
    """A matrix from lines of + and -."""
    lines = rows.split()
    return np.array([[1 if sign == "+" else -1 for sign in line] for line in lines], dtype=np.int8)


def _eight() -> Example:
    a, b = (3 - sqrt(5)) / 8, (sqrt(5) - 1) / 8
    return Example(
        "8x8",
        _signs(
            """-++++--+
               -++--+++
               +-+++-++
               +-++-+++
               +-+-+++-
               ++-++++-
               ++-+++-+
               ++++--+-"""
        ),
        (a, a, 1 / 6, 1 / 6, 1 / 6, b, b, 0.0),
        Fraction(3, 8),
        "AdaBoost ends in a 3-cycle with the margin 1/3, from here and from equal weights, and "
        "misses the maximum margin 3/8",
    )


def _four_by_five() -> Example:
    return Example(
        "4x5",
        _signs("-+++- +-++- ++-++ +++-+"),
        None,
        Fraction(1, 2),
        "AdaBoost reaches the maximum margin 1/2; always taking the best of the last three "
        "columns, whose edge never falls below 1/2, ends at 1/3",
        Threshold(at_least=0.5, choose="best", columns=(2, 3, 4)),
    )


def _twenty_by_eight() -> Example:
    """Row (r, s) is row r of one small matrix followed by row s of another."""
    left = _signs("++-- -+++ +--+ +-+-")
    right = np.vstack([left, _signs("+-++")])
    a = (137116847818847, 362883152181153, 242004611239991, 257995388760009)
    b = (137116857552466, 362883142447534, 242004593130510, 257995386869490, 20000000)
    return Example(
        "20x8",
        np.array([np.append(r, s) for r in left for s in right]),
        tuple(Fraction(x * y, 10**30) for x in a for y in b),
        Fraction(1, 5),
        "AdaBoost never cycles: its choices come in bursts of five from either half of the "
        "columns, in an order with an irrational frequency. Seen only in exact arithmetic "
        "(exact_choices): in double precision the deviation that steers it is soon rounded away",
    )


def _examples() -> dict[str, Example]:
    ends = "AdaBoost ends in one of {} cycles of length {} and reaches the maximum margin"
    small = [
        Example(
            f"{m}x{m}",
            one_error_each(m),
            None,
            Fraction(m - 2, m),
            ends.format(cycles, m),
        )
        for m, cycles in ((3, "two"), (4, "six"), (5, "at least 24"))
    ]
    manifold = Example(
        "5x3",
        repeated_rows(one_error_each(3), (1, 2, 2)),
        None,
        Fraction(1, 3),
        "the 3x3 case with two examples repeated: a manifold of 3-cycles of dimension two",
    )
    known = [*small, manifold, _eight(), _four_by_five(), _twenty_by_eight()]
    for each in known:
        each.matrix.flags.writeable = False
    return {example.name: example for example in known}


_KNOWN = _examples()
EXAMPLES = tuple(_KNOWN)


def example(name: str) -> Example:
    """A matrix of the literature; `EXAMPLES` lists the names."""
    if name not in _KNOWN:
        raise InvalidParameterError(
            f"The name of an example must be one of {', '.join(map(repr, EXAMPLES))}. Got {name!r}."
        )
    return _KNOWN[name]
