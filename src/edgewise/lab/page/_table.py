"""The answers about a truth table of three classifiers: AdaBoost's path, the minimiser, the cells.

A vote with coefficients beta has four margins X_l = V_l beta (`_three`). Divided by their sum, the
coefficients are a point b of the plane b_0 + b_1 + b_2 = 1, on which X_0 = 1 and X_l = 1 - 2 b_l:
the lines b_l = 1/2 cut it into the seven sets of votes that decide alike. A vote whose coefficients
have a negative sum decides everywhere against the one drawn in its place.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._ground.errors import InvalidDataError
from ..truth_table import BoostingPath, TruthTable
from . import _asked
from ._triangle import cells

Reals = NDArray[np.float64]

V = np.array([[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]], dtype=np.float64)
_PATTERNS = np.stack([V, -V], axis=1)  # (4, 2, 3)
_TIE = 1e-12  # a margin that is none: the minimiser is not known better
_LEAST_ROOM, _MOST_ROOM = 0.25, 1.5  # of the picture around the triangle, in shares


class _Example(NamedTuple):
    name: str
    counts: tuple[tuple[int, int], ...]
    story: str


_EXAMPLES = (
    _Example(
        "AdaBoost stops too early",
        ((38, 15), (19, 1), (18, 8), (19, 8)),
        "After three rounds no classifier is better than chance. AdaBoost stops with 42 errors, "
        "where one outweighs the two others; the minimiser goes with the majority and makes 32, "
        "the fewest there are.",
    ),
    _Example(
        "A coefficient below zero",
        ((39, 9), (9, 2), (6, 13), (7, 15)),
        "Every classifier is better than chance, yet the first should count against its own "
        "opinion. AdaBoost's coefficients cannot fall; with negated classifiers it gets there.",
    ),
    _Example(
        "A convex risk is not the errors",
        ((46, 1), (7, 13), (2, 10), (13, 16)),
        "The minimiser of the exponential risk makes 40 errors where 26 are possible: the best "
        "vote is not where the convex risk is least.",
    ),
    _Example(
        "A vote without error",
        ((40, 0), (12, 0), (10, 0), (9, 0)),
        "The majority is never wrong, so the risk falls forever in its direction: there is no "
        "minimum.",
    ),
    _Example(
        "Twins",
        ((30, 6), (0, 0), (0, 0), (14, 9)),
        "The first two classifiers always agree. Only the sum of their coefficients counts: there "
        "are many minimisers, and the shortest is shown.",
    ),
)


def examples() -> list[dict[str, Any]]:
    """Tables in which something can be seen."""
    return [example._asdict() for example in _EXAMPLES]


def answer(given: Any) -> dict[str, Any]:
    """Everything the page shows about a table."""
    asked = _asked.table(given)
    table = TruthTable.from_cells(_PATTERNS.reshape(8, 3), asked.counts.ravel())
    path = table.adaboost(
        asked.n_rounds, rule=asked.rule, reuse=asked.reuse, negations=asked.negations
    )
    minimum = _minimum(table, asked.loss)
    best = table.zero_one_minimum()
    votes = {"adaboost": path.beta, "minimiser": minimum["beta"], "zero_one": best.beta}
    frame = _frame([*path.betas, *([] if minimum["beta"] is None else [minimum["beta"]])])
    return {
        "patterns": _PATTERNS,
        "adaboost": _path(table, path, asked.loss),
        "minimum": minimum,
        "zero_one": {"errors": best.errors, "n_cones": best.n_cones},
        "votes": {
            name: None if beta is None else _vote(table, asked, beta)
            for name, beta in votes.items()
        },
        "stability": _stability(table, asked),
        "regions": _regions(table, frame),
        "frame": frame,
    }


def _minimum(table: TruthTable, loss: str) -> dict[str, Any]:
    """The minimiser by Newton's method and in closed form, or the reason why there is none."""
    existence = table.existence
    known = {
        "exists": existence.exists,
        "unique": existence.unique,
        "sufficient": existence.sufficient,
        "full_pairs": existence.full_pairs,
        "direction": existence.direction,
        "beta": None,
    }
    if not existence.exists:
        return known
    found, closed = table.minimise(loss), table.closed_form(loss)
    return known | {
        "beta": found.beta,
        "risk": found.risk,
        "n_iter": found.n_iter,
        "closed_form": closed,
        "difference": float(abs(found.beta - closed).max()),
    }


def _path(table: TruthTable, path: BoostingPath, loss: str) -> dict[str, Any]:
    return {
        "choices": path.choices,
        "errors": path.errors,
        "betas": path.betas,
        "risks": [table.risk(beta, loss) for beta in path.betas],
        "places": [_place(beta) for beta in path.betas],
        "stopped": path.stopped,
    }


def _vote(table: TruthTable, asked: _asked.Table, beta: Reals) -> dict[str, Any]:
    """Return a vote's result in each of the eight cells: 1 correct, -1 wrong, 0 undecided."""
    margins = _PATTERNS @ beta  # (4, 2)
    verdicts = np.where(abs(margins) <= _TIE, 0, np.sign(margins)).astype(int)
    return {
        "beta": beta,
        "margins": margins[:, 0],
        "verdicts": verdicts,
        "errors": int(asked.counts[verdicts <= 0].sum()),
        "risk": table.risk(beta, asked.loss),
        "place": _place(beta),
    }


def _place(beta: Reals) -> dict[str, Any] | None:
    """Return the position of a vote, and whether it decides against the point there, or None."""
    total = float(beta.sum())
    if abs(total) <= _TIE * abs(beta).max():
        return None
    point = beta / total
    return {"point": point, "negated": total < 0} if point.min() >= -_MOST_ROOM else None


def _frame(betas: list[Reals]) -> Reals:
    """The corners of the picture: a triangle with room for all votes that have a place."""
    places = [place for place in map(_place, betas) if place is not None]
    least = min((float(place["point"].min()) for place in places), default=0.0)
    room = max(_LEAST_ROOM, 0.1 - least)
    frame: Reals = (1 + 3 * room) * np.eye(3) - room
    return frame


def _stability(table: TruthTable, asked: _asked.Table) -> dict[str, Any]:
    """Bounds of kappa with the counterexample, or the reason why there are none."""
    try:
        found = table.stability(asked.loss)
    except InvalidDataError as error:
        return {"reason": str(error)}
    changed = np.zeros(8)
    place = {tuple(pattern): i for i, pattern in enumerate(_PATTERNS.reshape(8, 3).tolist())}
    for pattern, share in zip(
        found.counterexample.patterns.tolist(), found.counterexample.counts, strict=True
    ):
        changed[place[tuple(pattern)]] = share
    return {
        "lower": found.lower,
        "upper": found.upper,
        "first_order": found.first_order,
        "pattern": found.pattern,
        "counterexample": changed.reshape(4, 2),
    }


def _regions(table: TruthTable, frame: Reals) -> list[dict[str, Any]]:
    """The sets of votes that decide alike, with the errors they make."""
    return [
        {
            "name": _name(signs),
            "label": _label(signs, polygon),
            "polygon": polygon,
            "errors": table.errors(polygon.mean(axis=0)),
        }
        for signs, polygon in cells(V[1:], frame)
    ]


def _label(signs: tuple[int, ...], polygon: Reals) -> Reals:
    """Return the position of a region's name: inside the triangle, if it reaches there."""
    heavy = np.array(signs) < 0
    if heavy.sum() == 2:
        middle: Reals = polygon.mean(axis=0)
        return middle
    shares: Reals = np.where(heavy, 0.7, 0.15) if heavy.any() else np.full(3, 1 / 3)
    return shares


def _name(signs: tuple[int, ...]) -> str:
    """Who decides, from the signs of X_1, X_2 and X_3: classifier j outweighs where one is < 0."""
    heavy = [j for j, sign in enumerate(signs) if sign < 0]
    if len(heavy) == 2:
        return f"majority with not h{3 - sum(heavy)}"
    return f"h{heavy[0]} alone" if heavy else "majority"
