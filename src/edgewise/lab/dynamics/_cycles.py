"""Cycles of AdaBoost's weights.

A sequence of columns j_1 .. j_T with edges r_1 .. r_T is a cycle where, for every example i of
positive weight (Rudin, Daubechies & Schapire 2004),

    prod_t (1 + M_{i,j_t} r_t) = 1 .

An example for which the product is larger loses its weight. A walk shows the columns, Newton's
method on the map of these T steps then gives the weights, and the rule itself has to walk the cycle
that comes out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _core
from ..._ground.errors import InvalidDataError, InvalidParameterError
from ..._ground.params import check, integer
from ._certify import Certificate, certify
from ._cycle_map import (
    SAME,
    Choices,
    fixed_point,
    least_lead,
    same_columns,
    shortest_period,
    stability,
    walk_given,
)
from ._margin_matrix import Signs, Weights, check_matrix, check_weights
from ._margins import margins, max_margin
from ._orbit import Walker
from ._rules import Optimal, RuleName, StepRule, Threshold, TieBreak, check_rule, check_ties

_FIRST_LOOK = 1000  # steps before the first search for a period; the pause then grows fourfold
_CLOSED = 1e-11  # largest error of a closed cycle, in weights and in the cycle condition
_HARDLY = 1e-9  # the weight of an example that may be on its way out
_PASSED_OVER = 1e-14  # lead of a better column that rounding explains


@dataclass(frozen=True, eq=False, repr=False)
class Cycle:
    """A cycle of T steps; row t belongs to step t.

    Columns that agree on the support make the same step, and the one that was taken stands for all.
    """

    matrix: Signs  # (m, n)
    rule: Optimal | Threshold
    weights: Weights  # (T, m)
    choices: Choices  # (T,)
    edges: Weights  # (T,)
    residual: float  # largest |prod_t (1 + M r) - 1| over the support
    eigenvalues: NDArray[np.complex128]  # (m,): of the Jacobian, the largest first
    manifold_dimension: int  # of the cycles with the same choices; 0 where it is isolated
    is_stable: bool | None  # nearby weights come back, to the cycle or its manifold; None: open
    gap: float  # least lead of a chosen edge over those of columns that differ on the support
    n_steps: int  # steps of the walk that led here

    def __repr__(self) -> str:
        stable = {True: "stable", False: "not stable", None: "stability open"}[self.is_stable]
        return f"Cycle(length {self.length}, margin {self.margin:.6g}, {stable})"

    @property
    def length(self) -> int:
        """Steps until the weights return."""
        return len(self.choices)

    @property
    def support(self) -> NDArray[np.intp]:
        """The examples of positive weight; all have the same, smallest margin."""
        return np.flatnonzero(self.weights[0])

    @property
    def spectral_radius(self) -> float:
        """Largest modulus of an eigenvalue of the cycle's Jacobian; 1 on a manifold of cycles.

        The cycle is stable if no eigenvalue has a modulus of 1 or more, but for one equal to 1 for
        each dimension of the manifold. It is open (None) where columns that agree on the support
        differ on an example without weight, and its fate depends on which of them are taken.
        """
        return float(abs(self.eigenvalues[0]))

    @property
    def votes(self) -> Weights:
        """The limit of lambda / |lambda|_1, (n,), where no two columns agree on the support."""
        votes = np.bincount(self.choices, np.arctanh(self.edges), self.matrix.shape[1])
        normal: Weights = votes / votes.sum()
        return normal

    @property
    def margin(self) -> float:
        """The smallest margin that the votes tend to, which is that of the support.

        -sum_t ln(1 - r_t^2) / sum_t ln((1 + r_t) / (1 - r_t)), by the cycle condition. An example
        of smaller margin would in the end have all the weight.
        """
        return float(-np.log1p(-(self.edges**2)).sum() / (2 * np.arctanh(self.edges).sum()))

    def certify(self, digits: int = 50) -> Certificate:
        """Prove in interval arithmetic that there is such a cycle, to `digits` digits.

        Needs mpmath, of the extra ``lab``. See `Certificate` for what is proved.
        """
        return certify(self.matrix, self.weights[0], self.choices, self.rule, digits)


@dataclass(frozen=True)
class NoCycle:
    """The reason why no cycle was found; false, whereas a cycle is true.

    outcome: "no error", some column is right on all examples of positive weight; "no edge", the
    weights come to rest where no column has an edge; "not found", any other reason.
    """

    reason: str
    outcome: Literal["no error", "no edge", "not found"] = "not found"
    n_steps: int = 0
    margin: float = float("nan")  # the smallest of the votes of the walk

    def __bool__(self) -> bool:
        return False


def find_cycle(
    M: ArrayLike,
    d0: ArrayLike | None = None,
    *,
    rule: StepRule | RuleName = "optimal",
    ties: TieBreak = "lowest",
    max_steps: int = 1_000_000,
    max_length: int = 1000,
    tie_tolerance: float = 1e-13,
) -> Cycle | NoCycle:
    """The cycle that the weights tend to from `d0`, or a `NoCycle` with the reason.

    ``if cycle:`` tells the two apart. `max_steps` bounds the walk, `max_length` the cycle. The rule
    must be a map of the weights alone: "optimal" or `Threshold`. See `iterate` for the rest.
    """
    rules = {"max_steps": integer(1), "max_length": integer(1)}
    check("find_cycle", {"max_steps": max_steps, "max_length": max_length}, rules)
    check_ties(ties, tie_tolerance)
    checked = check_rule(rule)
    if not isinstance(checked, Optimal | Threshold):
        raise InvalidParameterError(
            "find_cycle needs a rule that makes the next weights from the weights alone: "
            f"'optimal' or 'threshold'. Got {checked.name!r}, which also looks at the votes."
        )
    signs = check_matrix(M)
    walker = Walker(signs, check_weights(d0, len(signs)), checked, ties, tie_tolerance)
    window = min(2 * max_length, max_steps)
    for pause in _pauses(max_steps, window):
        walker.skip(pause)
        start = walker.weights
        choices = walker.walk(window, keep="choices").choices
        if walker.stopped:
            perfect = walker.stop == _core.Stop.perfect
            return _no_cycle(walker, walker.stopped, "no error" if perfect else "no edge")
        for candidate in _candidates(start, choices, walker):
            if not isinstance(candidate, Cycle) or candidate.edges.max() < SAME:
                continue  # edges of 0 are where walks without margin tend to, not a cycle
            if _is_taken(candidate, ties, tie_tolerance):
                return candidate
    if max_margin(signs[:, walker.columns]).value < SAME:
        reason = "the edges tend to 0, since the maximum margin is not positive"
        return _no_cycle(walker, reason, "no edge")
    return _no_cycle(walker, f"no cycle of at most {max_length} steps in {walker.n_steps} steps")


def cycle_from_choices(
    M: ArrayLike, choices: ArrayLike, *, n_passes: int = 1000
) -> Cycle | NoCycle:
    """The cycle of optimal AdaBoost that takes these columns over and over, if there is one.

    The columns are imposed on equal weights for up to `n_passes` passes; Newton's method does the
    rest. Each column must then have the largest edge in its turn.
    """
    check("cycle_from_choices", {"n_passes": n_passes}, {"n_passes": integer(1)})
    signs = check_matrix(M)
    columns = _check_choices(choices, signs.shape[1])
    walker = Walker(signs, check_weights(None, len(signs)))
    d = walker.start
    for _ in range(n_passes):
        before, (_, edges, d) = d, walk_given(signs, d, columns)
        if not (np.isfinite(d).all() and (abs(edges) < 1).all()):
            return NoCycle("imposed on equal weights, the columns lead to a vote without bound")
        if abs(d - before).max() < 1e-6:
            break
    cycle = _polish(d, columns, walker)
    if isinstance(cycle, Cycle) and cycle.gap < -_PASSED_OVER:
        return NoCycle(f"a column with an edge larger by {-cycle.gap:g} would be taken instead")
    return cycle


def _check_choices(choices: ArrayLike, n: int) -> Choices:
    columns = np.asarray(choices)
    if columns.ndim != 1 or not len(columns) or columns.dtype.kind not in "iu":
        raise InvalidDataError(f"choices must be a list of columns of M. Got {choices!r}.")
    if columns.min() < 0 or columns.max() >= n:
        raise InvalidDataError(
            f"choices must be columns of M, from 0 to {n - 1}. "
            f"Got {columns.min()} to {columns.max()}."
        )
    return columns.astype(np.int32)


def _pauses(max_steps: int, window: int) -> Iterator[int]:
    """Steps to skip before each look at a window, until the steps are spent."""
    pause = min(_FIRST_LOOK, max_steps - window)
    left = max_steps
    while pause >= 0:
        yield pause
        left -= pause + window
        pause = min(4 * (pause + window), left - window)


def _candidates(d: Weights, choices: Choices, walker: Walker) -> Iterator[Cycle | NoCycle]:
    """The cycle with these choices, then the one without the examples that hardly count.

    Columns that differ only on such examples look equal to the walk once the edges differ by less
    than the tolerance of ties, and the weights then decay no further. A better column is passed
    over on such a cycle; the limit, without those examples, is the true one.
    """
    period = shortest_period(choices)
    if not period:
        return
    seen = choices[:period]
    yield _polish(d, seen, walker)
    counts = walk_given(walker.matrix, d, seen)[0].max(axis=0) > _HARDLY
    if not counts.all():
        yield _polish(np.where(counts, d, 0.0) / d[counts].sum(), seen, walker)


def _no_cycle(
    walker: Walker,
    reason: str,
    outcome: Literal["no error", "no edge", "not found"] = "not found",
) -> NoCycle:
    votes = walker.votes
    margin = margins(walker.matrix, votes).min() if votes.any() else float("nan")
    return NoCycle(reason, outcome, walker.n_steps, float(margin))


def _polish(d: Weights, choices: Choices, walker: Walker) -> Cycle | NoCycle:
    """The closed cycle near d, with the shortest period of its weights."""
    M = walker.matrix
    d, error = fixed_point(M, d, choices)
    if not error < _CLOSED:
        return _no_cycle(walker, f"the steps do not close: the weights miss by {error:.1e}")
    edges = walk_given(M, d, choices)[1]
    if not ((edges > 0) & (edges < 1)).all():
        return _no_cycle(walker, "an edge on the cycle is not between 0 and 1")
    gained = -np.log1p(M[:, choices] * edges).sum(axis=1)  # (m,): logarithm, after all steps
    present = d > 0
    if (gained[(walker.start > 0) & ~present] > SAME).any():
        return _no_cycle(walker, "an example of hardly any weight is about to win it back")
    alike = np.array([np.argmax(same_columns(M[present], j)) for j in choices])
    choices = choices[: shortest_period(np.tile(alike, 2))]
    weights, edges, _ = walk_given(M, d, choices)
    products = np.log1p(M[present][:, choices] * edges).sum(axis=1)
    residual = float(abs(np.expm1(products)).max())
    if residual > _CLOSED * len(choices):
        return _no_cycle(walker, f"the cycle condition is missed by {residual:.1e}")
    return Cycle(
        matrix=M,
        rule=cast(Optimal | Threshold, walker.rule),
        weights=weights,
        choices=choices,
        edges=edges,
        residual=residual,
        **stability(M, d, choices, edges)._asdict(),
        gap=least_lead(M, weights, choices, walker.allowed),
        n_steps=walker.n_steps,
    )


def _is_taken(cycle: Cycle, ties: TieBreak, tolerance: float) -> bool:
    """Return whether the rule itself walks the cycle and returns to its start."""
    best = isinstance(cycle.rule, Optimal) or cycle.rule.choose == "best"
    if best and cycle.gap < -_PASSED_OVER:
        return False
    walker = Walker(cycle.matrix, cycle.weights[0], cycle.rule, ties, tolerance)
    taken = walker.walk(cycle.length, keep="choices").choices
    if len(taken) < cycle.length or abs(walker.weights - cycle.weights[0]).max() > 1e-9:
        return False
    rows = cycle.matrix[cycle.support]
    return bool((rows[:, taken] == rows[:, cycle.choices]).all())
