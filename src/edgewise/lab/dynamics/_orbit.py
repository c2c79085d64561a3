"""The walk of the weights under a step rule, and its record.

With d the weights, j the chosen column and r = (d^T M)_j its edge, AdaBoost is the map

    d'_i = d_i / (1 + M_ij r)          (Rudin, Daubechies & Schapire 2004)

after which the edge of column j is 0. Rules with other votes alpha have d_i proportional to
d0_i exp(-(M lambda)_i), lambda_j being the sum of the votes for column j.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _core
from ..._ground.errors import InvalidParameterError
from ..._ground.params import WHOLE, check, integer, one_of
from ._cycle_map import Choices
from ._margin_matrix import Signs, Weights, check_matrix, check_weights
from ._margins import margins, smooth
from ._rules import (
    Optimal,
    RuleName,
    StepRule,
    TieBreak,
    allowed_columns,
    check_rule,
    check_ties,
    weight_map,
)

_WHY = {
    _core.Stop.no_edge: "no column that the rule may take has an edge large enough",
    _core.Stop.perfect: "the chosen column is right on every example of positive weight",
}
_CHUNK = 4096  # steps whose margins are held in memory at once


@dataclass(frozen=True, eq=False, repr=False)
class Orbit:
    """The record of a walk; row t of each array belongs to kept step t.

    The arrays of steps are empty where nothing was kept (``keep=False``), `weights` also where only
    the choices were.
    """

    matrix: Signs  # (m, n)
    rule: StepRule
    start: Weights  # (m,): before the first step
    weights: Weights  # (T, m): before each step
    choices: Choices  # (T,)
    edges: Weights  # (T,)
    alphas: Weights  # (T,): the vote that the chosen column got
    first_votes: Weights  # (n,): lambda before the first kept step
    votes: Weights  # (n,): lambda after the last step
    final_weights: Weights  # (m,): after the last step
    n_steps: int  # steps taken, those before the first kept one included
    stopped: str | None  # why the walk ended early, if it did

    def __repr__(self) -> str:
        end = f", stopped: {self.stopped}" if self.stopped else ""
        return f"Orbit({self.n_steps} steps, {len(self.choices)} kept, {self.rule}{end})"

    @property
    def margin(self) -> float:
        """The smallest margin of the final votes."""
        return float(margins(self.matrix, self.votes).min())

    def margins(self) -> Weights:
        """The smallest margin after each kept step, (T,)."""
        parts = [scores.min(axis=1) / mass for scores, mass in self._scores()]
        return np.concatenate([np.empty(0), *parts])

    def smooth_margins(self) -> Weights:
        """The smooth margin G after each kept step, (T,); see `smooth_margin`."""
        parts = [smooth(scores, mass, self.start) for scores, mass in self._scores()]
        return np.concatenate([np.empty(0), *parts])

    def _scores(self) -> Iterator[tuple[Weights, Weights]]:
        """Unnormalised margins (T, m) and masses of votes (T,), chunk by chunk."""
        scores, mass = self.matrix @ self.first_votes, self.first_votes.sum()
        for begin in range(0, len(self.choices), _CHUNK):
            alphas = self.alphas[begin : begin + _CHUNK]
            moves = alphas[:, np.newaxis] * self.matrix.T[self.choices[begin : begin + _CHUNK]]
            all_scores, masses = scores + np.cumsum(moves, axis=0), mass + np.cumsum(alphas)
            yield all_scores, masses
            scores, mass = all_scores[-1], masses[-1]


def iterate(
    M: ArrayLike,
    d0: ArrayLike | None = None,
    *,
    n_steps: int = 1000,
    rule: StepRule | RuleName = "optimal",
    ties: TieBreak = "lowest",
    n_transient: int = 0,
    keep: bool | Literal["choices"] = True,
    tie_tolerance: float = 1e-13,
) -> Orbit:
    """Walk `n_steps` steps on the simplex of the weights, and keep the orbit.

    M
        Margin matrix (m, n) of +1 and -1.
    d0
        Weights (m,) to start from; None means equal ones.
    rule
        A name or a rule with its parameters: `Optimal`, `Threshold`, `ArcGV`, `CoordinateAscent`,
        `AdaBoostStar`.
    ties
        Which of several columns with equal edges is taken: "lowest", "highest", or a function that
        gets them in ascending order and returns one.
    n_transient
        Steps to take before the first one that is kept.
    keep
        True: weights, choices, edges and votes of every step; "choices": all but the weights;
        False: only where the walk ends.
    tie_tolerance
        Edges that differ by no more are equal, and an edge no larger is none.

    The walk ends early where no column has an edge (a fixed point), or where the chosen one makes
    no error, since its vote would be infinite; `stopped` says so.
    """
    check(
        "iterate",
        {"n_steps": n_steps, "n_transient": n_transient, "keep": keep},
        {
            "n_steps": integer(0, WHOLE),
            "n_transient": integer(0, WHOLE),
            "keep": one_of(True, False, "choices"),
        },
    )
    check_ties(ties, tie_tolerance)
    signs = check_matrix(M)
    start = check_weights(d0, len(signs))
    walker = Walker(signs, start, check_rule(rule), ties, tie_tolerance)
    walker.skip(n_transient)
    return walker.walk(n_steps, keep=keep)


class Walker:
    """A walk that can be continued; it translates columns and breaks ties for the kernel."""

    def __init__(
        self,
        M: Signs,
        start: Weights,
        rule: StepRule | None = None,
        ties: TieBreak = "lowest",
        tolerance: float = 1e-13,
    ) -> None:
        self.matrix, self.start = M, start
        self.rule: StepRule = rule or Optimal()
        self.columns = allowed_columns(self.rule, M.shape[1])
        self.allowed = np.isin(np.arange(M.shape[1]), self.columns)  # (n,)
        self.n_steps = 0
        self.stop = _core.Stop.none
        self._ties = ties
        self._map = weight_map(M, start, self.rule, ties, tolerance)

    @property
    def stopped(self) -> str | None:
        return _WHY.get(self.stop)

    @property
    def weights(self) -> Weights:
        return self._map.weights

    @property
    def votes(self) -> Weights:
        votes = np.zeros(self.matrix.shape[1])
        votes[self.columns] = self._map.votes
        return votes

    def skip(self, n_steps: int) -> None:
        """Steps of which nothing is kept."""
        self._run(n_steps, {})

    def walk(self, n_steps: int, *, keep: bool | Literal["choices"] = True) -> Orbit:
        """Steps that are kept."""
        record = self._record(n_steps, keep)
        first_votes = self.votes
        done = self._run(n_steps, {k: v for k, v in record.items() if len(v)})
        kept = {name: array[:done] for name, array in record.items()}
        kept["choices"] = self.columns[kept["choices"]].astype(np.int32)
        return Orbit(
            matrix=self.matrix,
            rule=self.rule,
            start=self.start,
            **kept,
            first_votes=first_votes,
            votes=self.votes,
            final_weights=self.weights,
            n_steps=self.n_steps,
            stopped=self.stopped,
        )

    def _record(self, n_steps: int, keep: bool | Literal["choices"]) -> dict[str, NDArray[Any]]:
        n = n_steps if keep else 0
        return {
            "weights": np.empty((n if keep is True else 0, len(self.matrix))),
            "choices": np.empty(n, dtype=np.int32),
            "edges": np.empty(n),
            "alphas": np.empty(n),
        }

    def _run(self, n_steps: int, record: dict[str, NDArray[Any]]) -> int:
        """Steps taken of those wanted."""
        taken, forced = 0, -1
        while taken < n_steps and self.stopped is None:
            rest = {name: array[taken:] for name, array in record.items()}
            done, self.stop = self._map.run(n_steps - taken, forced=forced, **rest)
            taken += done
            if self.stop == _core.Stop.tie:
                forced = self._break_tie()
        self.n_steps += taken
        return taken

    def _break_tie(self) -> int:
        tied = self.columns[self._map.tied]
        assert callable(self._ties)
        chosen = self._ties(tied)
        if chosen not in tied:
            raise InvalidParameterError(
                f"The function given as ties must return one of the columns it gets, {tied}. "
                f"Got {chosen!r}."
            )
        return int(np.searchsorted(self.columns, chosen))
