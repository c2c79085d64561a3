"""Step rules: which column a step takes, and with which vote.

AdaBoost's vote for a column with edge r is alpha = artanh(r), half the log odds of being right.
The rules that approach the maximum margin shorten it: alpha = artanh(r) - artanh(g).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ..._ground.errors import InvalidParameterError
from ..._ground.params import Rule as Check
from ..._ground.params import check, either, integer, one_of, real
from ._margin_matrix import Signs, Weights
from ._margins import max_margin

# Breaks a tie: from the tied columns in ascending order, the one to take.
TieBreak = Literal["lowest", "highest"] | Callable[[NDArray[np.intp]], int]


@dataclass(frozen=True)
class Optimal:
    """AdaBoost as the papers define it: the column with the largest edge, alpha = artanh(r)."""

    name = "optimal"


@dataclass(frozen=True)
class Threshold:
    """Non-optimal AdaBoost: some column with an edge of at least `at_least`, alpha = artanh(r).

    at_least
        None means the maximum margin of M, which some column reaches whatever the weights
        (duality).
    choose
        "first": the lowest such column; "best": the one with the largest edge; "weakest": the one
        with the smallest edge that will do.
    columns
        Only these may be taken; None means all.
    """

    at_least: float | None = None
    choose: Literal["first", "best", "weakest"] = "first"
    columns: Sequence[int] | None = None
    name = "threshold"

    def __post_init__(self) -> None:
        number = real(-1, 1, high_open=True)
        none: Check = (lambda v: v is None, "None")
        rules = {
            "at_least": either(none, number),
            "choose": one_of("first", "best", "weakest"),
        }
        check("Threshold", vars(self), rules)


@dataclass(frozen=True)
class ArcGV:
    """arc-gv (Breiman 1999): g is the smallest margin so far, 0 while that is negative."""

    name = "arc-gv"


@dataclass(frozen=True)
class CoordinateAscent:
    """Approximate coordinate ascent (Rudin, Schapire, Daubechies 2007, Algorithm 2).

    g is the smooth margin G(lambda), 0 while that is negative.
    """

    name = "ascent"


@dataclass(frozen=True)
class AdaBoostStar:
    """AdaBoost* (Raetsch & Warmuth 2005): g is the smallest edge so far, less `nu`.

    After 2 ln(m) / nu^2 steps the margin is within nu of the maximum.
    """

    nu: float = 0.01
    name = "adaboost-star"

    def __post_init__(self) -> None:
        check("AdaBoostStar", vars(self), {"nu": real(0, 1, high_open=True)})


StepRule = Optimal | Threshold | ArcGV | CoordinateAscent | AdaBoostStar
RuleName = Literal["optimal", "threshold", "arc-gv", "ascent", "adaboost-star"]

RULES: dict[str, type[StepRule]] = {
    rule.name: rule for rule in (Optimal, Threshold, ArcGV, CoordinateAscent, AdaBoostStar)
}
_VOTES = {
    "arc-gv": _core.VoteRule.arc_gv,
    "ascent": _core.VoteRule.ascent,
    "adaboost-star": _core.VoteRule.adaboost_star,
}
_CHOICES = {
    "first": _core.Choice.first,
    "best": _core.Choice.best,
    "weakest": _core.Choice.weakest,
}


def check_rule(rule: StepRule | RuleName) -> StepRule:
    """A rule from its name or as it is."""
    if isinstance(rule, Optimal | Threshold | ArcGV | CoordinateAscent | AdaBoostStar):
        return rule
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    raise InvalidParameterError(
        f"The rule must be one of {', '.join(map(repr, RULES))}, or one of the objects "
        f"{', '.join(kind.__name__ for kind in RULES.values())}. Got {rule!r}."
    )


def check_ties(ties: TieBreak, tolerance: float) -> None:
    """Check the rule and the tolerance of ties."""
    function: Check = (callable, "a function of the tied columns that returns one of them")
    check(
        "iterate",
        {"ties": ties, "tie_tolerance": tolerance},
        {"ties": either(one_of("lowest", "highest"), function), "tie_tolerance": real(0, 0.01)},
    )


def allowed_columns(rule: StepRule, n: int) -> NDArray[np.intp]:
    """The columns that a rule may take, ascending."""
    if not isinstance(rule, Threshold) or rule.columns is None:
        return np.arange(n)
    whole = integer(0, n - 1)[0]
    columns = list(rule.columns)
    if not columns or not all(map(whole, columns)):
        raise InvalidParameterError(
            f"The columns of Threshold must be at least one integer from 0 to {n - 1}, the columns "
            f"of M. Got {rule.columns!r}."
        )
    return np.unique(np.asarray(columns, dtype=np.intp))


def weight_map(
    M: Signs, d: Weights, rule: StepRule, ties: TieBreak, tolerance: float
) -> _core.WeightMap:
    """The kernel for a rule; its columns are those of M[:, allowed_columns(rule)]."""
    columns = allowed_columns(rule, M.shape[1])
    settings: dict[str, Any] = {"choice": _core.Choice.best, "threshold": 0.0}
    if isinstance(rule, Threshold):
        least = max_margin(M).value if rule.at_least is None else float(rule.at_least)
        settings = {"choice": _CHOICES[rule.choose], "threshold": least}
    return _core.WeightMap(
        np.ascontiguousarray(M[:, columns]),
        np.ascontiguousarray(d),
        vote=_VOTES.get(rule.name, _core.VoteRule.adaboost),
        ties=_ties(ties),
        tolerance=float(tolerance),
        nu=float(getattr(rule, "nu", 0.01)),
        **settings,
    )


def _ties(ties: TieBreak) -> _core.Ties:
    if callable(ties):
        return _core.Ties.stop
    return _core.Ties.lowest if ties == "lowest" else _core.Ties.highest
