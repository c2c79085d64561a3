"""Truth tables: everything a weighted vote of given classifiers can know about its examples.

M classifiers h_j and labels y in {-1, +1} sort n examples into cells s = (y h_1(x), ..., y h_M(x)),
of which at most min(n, 2^M) are occupied. The risk of the vote sign(sum_j beta_j h_j) is

    R(beta) = 1/n sum_s c_s phi(s beta)

with the counts c_s; once they are known, nothing else depends on the examples: neither the
minimum over beta, nor the least number of errors, nor AdaBoost's path, nor their stability.

J. M. Brossier and O. Lafitte, "Supervised learning using truth tables", SIAM AN22 (2022);
J. M. Brossier, O. Lafitte and L. Rethore, "When analytic calculus cracks AdaBoost code",
arXiv 2308.01070. docs/lab_truth_table.md has the equations and what the slides misprint.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._ground import params as p
from ..._ground.errors import InvalidDataError, InvalidParameterError
from . import _answers, _stability, _three, _zero_one
from ._adaboost import BoostingPath, adaboost
from ._display import ThreeClassifierDisplay
from ._existence import Existence, decide
from ._losses import CustomLoss, ExponentialLoss, LogisticLoss, Loss, loss_of
from ._minimise import Minimum, Trace, minimise
from ._pairs import Pairs, Reals, pair_up
from ._stability import Stability, Support
from ._zero_one import ZeroOneMinimum

__all__ = [
    "BoostingPath",
    "CustomLoss",
    "Existence",
    "ExponentialLoss",
    "LogisticLoss",
    "Loss",
    "Minimum",
    "Pairs",
    "Stability",
    "ThreeClassifierDisplay",
    "Trace",
    "TruthTable",
    "ZeroOneMinimum",
    "loss_of",
]

_MAX_ITER = {"newton": 200, "relaxation": 20_000}


@dataclass(frozen=True, eq=False)
class TruthTable:
    """The occupied cells of some classifiers and their weights.

    Made by `from_predictions` or `from_cells`.

    Attributes
    ----------
    codes : the cells, ascending: bit j is set where classifier j is right.
    counts : the number (integers) or weight (real numbers) of the examples of each.
    n_classifiers : M, at most 60.
    """

    codes: NDArray[np.uint64]
    counts: NDArray[np.int64] | NDArray[np.float64]
    n_classifiers: int

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        H: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Self:
        """The table of labels y (n,) and predictions H (n, M), both of the same two values.

        Entries of -1 and +1 as int8 are read where they lie. The table does not depend on the
        number of threads `n_jobs` or the order of the examples, weighted or not.
        """
        p.check("from_predictions", {"n_jobs": n_jobs}, {"n_jobs": p.n_jobs()})
        codes, counts = _answers.count(y, H, sample_weight, n_jobs)
        return cls(codes, counts, np.shape(H)[1])

    @classmethod
    def from_cells(cls, patterns: ArrayLike, counts: ArrayLike) -> Self:
        """The table of given cells, (n_cells, M) of -1 and +1, and their counts.

        +1: the classifier is right. Cells may come in any order and more than once.
        """
        given = np.asarray(patterns)
        if given.ndim != 2 or len(given) == 0:
            raise InvalidDataError(
                f"patterns must be a matrix with at least one row. Got shape {given.shape}."
            )
        _answers.check_number(given.shape[1])
        weights: NDArray[Any] = _answers.check_weights(counts, len(given), "counts")
        codes = _answers.codes_of(_answers.check_signs(given, "patterns"))
        whole = np.asarray(counts).dtype.kind in "iub"
        return cls._merged(
            codes, np.asarray(counts, np.int64) if whole else weights, given.shape[1]
        )

    @classmethod
    def _merged(cls, codes: NDArray[np.uint64], counts: NDArray[Any], n_classifiers: int) -> Self:
        distinct, place = np.unique(codes, return_inverse=True)
        totals = np.zeros(len(distinct), dtype=counts.dtype)
        np.add.at(totals, place, counts)
        there = totals > 0
        return cls(distinct[there], totals[there], n_classifiers)

    # --- what it holds ----------------------------------------------------------------------

    @property
    def n_cells(self) -> int:
        """Occupied cells."""
        return len(self.codes)

    @property
    def total(self) -> float:
        """The number or weight of all examples."""
        return float(self.counts.sum())

    @cached_property
    def patterns(self) -> NDArray[np.int8]:
        """The cells as rows of -1 (wrong) and +1 (right), (n_cells, n_classifiers)."""
        return _answers.patterns_of(self.codes, self.n_classifiers)

    @cached_property
    def pairs(self) -> Pairs:
        """Opposite cells together: rows V, and weights m of V and n of -V."""
        return pair_up(self.patterns, self.counts.astype(np.float64))

    def __add__(self, other: "TruthTable") -> "TruthTable":
        """The table of the examples of both."""
        if not isinstance(other, TruthTable):
            return NotImplemented
        if other.n_classifiers != self.n_classifiers:
            raise InvalidDataError(
                "Only tables of the same classifiers can be added. Got tables of "
                f"{self.n_classifiers} and {other.n_classifiers}."
            )
        return TruthTable._merged(
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.counts, other.counts]),
            self.n_classifiers,
        )

    def smoothed(self, pseudo_count: float = 1.0) -> "TruthTable":
        """The table with `pseudo_count` more in both cells of every occupied pair.

        All occupied pairs are then full, so that there is a minimum.
        """
        p.check("smoothed", {"pseudo_count": pseudo_count}, {"pseudo_count": p.real(0.0)})
        pairs = self.pairs
        return TruthTable.from_cells(
            np.vstack([pairs.V, -pairs.V]), np.concatenate([pairs.m, pairs.n]) + pseudo_count
        )

    def __repr__(self) -> str:
        return (
            f"<TruthTable: {self.n_classifiers} classifiers, {self.n_cells} occupied cells, "
            f"total {self.total:g}>"
        )

    # --- risks ------------------------------------------------------------------------------

    def risk(self, beta: ArrayLike, loss: Any = "exponential") -> float:
        """The mean loss of the vote with coefficients beta."""
        return self.pairs.risk(self._coefficients(beta), loss_of(loss)) / self.total

    def errors(self, beta: ArrayLike) -> float:
        """The number or weight of the examples that the vote gets wrong; a tie is an error."""
        margins = self.patterns @ self._coefficients(beta)
        return float(self.counts[margins <= 0].sum())

    def _coefficients(self, beta: ArrayLike) -> Reals:
        coefficients = np.asarray(beta, dtype=np.float64)
        if coefficients.shape != (self.n_classifiers,) or not np.isfinite(coefficients).all():
            raise InvalidDataError(
                f"beta must hold {self.n_classifiers} finite numbers, one for each classifier. "
                f"Got {beta!r}."
            )
        return coefficients

    @cached_property
    def existence(self) -> Existence:
        """Existence and uniqueness of the minimum of the risk; the same for every loss."""
        return decide(self.pairs)

    def minimise(
        self,
        loss: Any = "exponential",
        *,
        method: str = "newton",
        tol: float = 1e-11,
        max_iter: int | None = None,
    ) -> Minimum:
        """The minimum of the mean risk over beta.

        Parameters
        ----------
        loss : "exponential", "logistic", a callable phi, or a Loss.
        method : "newton", or "relaxation": one coefficient at a time, round and round.
        tol : the distance to the minimiser, estimated by a Newton step, at which to stop.
        max_iter : steps of Newton's method or sweeps of relaxation, at most.
        """
        phi = loss_of(loss)
        rules: Mapping[str, p.Rule] = {
            "method": p.one_of("newton", "relaxation"),
            "tol": p.real(0.0),
            "max_iter": p.integer(1, none=True),
        }
        p.check("minimise", {"method": method, "tol": tol, "max_iter": max_iter}, rules)
        self._need_minimum()
        most = max_iter if max_iter is not None else _MAX_ITER[method]
        return minimise(self.pairs, phi, method, rank=self.existence.rank, tol=tol, max_iter=most)

    def _need_minimum(self) -> None:
        direction = self.existence.direction
        if direction is not None:
            raise InvalidDataError(
                "The risk of this table has no minimum: along the coefficients "
                f"{direction.tolist()} no margin falls and some grow for ever, because that vote "
                "makes no error where it decides. A table without such a vote is wanted; "
                "smoothed() makes one."
            )

    def closed_form(self, loss: Any = "exponential") -> Reals:
        """The minimiser of a table of three classifiers, from one scalar equation.

        For the exponential and the logistic loss; of several minimisers the shortest.
        """
        name = loss_of(loss).name
        if self.n_classifiers != 3 or name not in ("exponential", "logistic"):
            raise InvalidParameterError(
                "There is a closed form for three classifiers with the loss 'exponential' or "
                f"'logistic'. Got {self.n_classifiers} classifiers and the loss {name!r}."
            )
        self._need_minimum()
        return _three.minimiser(self.pairs, name)

    def zero_one_minimum(self, *, time_limit: float | None = None) -> ZeroOneMinimum:
        """The least errors of any weighted vote, and the convex cone of votes that make them.

        Up to six classifiers by enumeration of all cones, above by mixed-integer programming, for
        which `time_limit` is in seconds.
        """
        rule = p.real(0.0)
        p.check(
            "zero_one_minimum",
            {"time_limit": time_limit},
            {"time_limit": (lambda v: v is None or rule[0](v), rule[1] + " or None")},
        )
        return _zero_one.minimum(self.pairs, time_limit)

    def adaboost(
        self,
        n_rounds: int | None = None,
        *,
        rule: str = "greedy",
        reuse: bool = True,
        negations: bool = False,
    ) -> BoostingPath:
        """AdaBoost's path through the table.

        Parameters
        ----------
        n_rounds : rounds, as many as classifiers by default.
        rule : "greedy" takes the classifier of least weighted error, "historical" the next one.
        reuse : whether a classifier may be taken again.
        negations : whether the negated classifiers are there too. Only then does boosting converge
            to the minimiser; without them it ends where all classifiers are no better than chance.
        """
        rounds = self.n_classifiers if n_rounds is None else n_rounds
        rules: Mapping[str, p.Rule] = {
            "n_rounds": p.integer(1),
            "rule": p.one_of("greedy", "historical"),
            "reuse": p.boolean(),
            "negations": p.boolean(),
        }
        given = {"n_rounds": rounds, "rule": rule, "reuse": reuse, "negations": negations}
        p.check("adaboost", given, rules)
        return adaboost(self.pairs, rounds, rule, reuse=reuse, negations=negations)

    def stability(self, loss: Any = "exponential", *, cells: Support = "all") -> Stability:
        """Bounds of kappa: how much the frequencies of cells may change before a sign does.

        Parameters
        ----------
        loss : as in `minimise`.
        cells : "all": the frequencies of all 2^M cells may change, and the signs of all count (the
            definition; up to 12 classifiers). "occupied": those that are occupied.
        """
        phi = loss_of(loss)
        p.check("stability", {"cells": cells}, {"cells": p.one_of("all", "occupied")})
        self._need_unique()
        pairs = self._frequencies(cells)
        beta = minimise(
            pairs, phi, "newton", rank=self.n_classifiers, tol=1e-11, max_iter=_MAX_ITER["newton"]
        ).beta
        everything = np.concatenate([pairs.m, pairs.n])
        changeable = np.ones(len(everything), bool) if cells == "all" else everything > 0
        table = _stability.Perturbed(pairs, phi, beta, changeable)
        return self._bounds(table, cells)

    def _need_unique(self) -> None:
        self._need_minimum()
        if not self.existence.unique:
            raise InvalidDataError(
                "Stability is defined for tables with one minimiser. This one has many: its "
                f"{self.n_classifiers} classifiers are linearly dependent, of rank "
                f"{self.existence.rank}."
            )

    def _frequencies(self, cells: Support) -> Pairs:
        """Pairs with frequencies instead of counts: the occupied ones, or all."""
        n_cells = 2**self.n_classifiers if cells == "all" else 2 * len(self.pairs.m)
        if n_cells > _stability.MOST_CELLS:
            raise InvalidParameterError(
                f"Stability is computed for at most {_stability.MOST_CELLS} cells. Got {n_cells} "
                f"with cells={cells!r}"
                + ("; cells='occupied' has fewer." if cells == "all" else ".")
            )
        frequencies = self.counts / self.total
        if cells == "occupied":
            return pair_up(self.patterns, frequencies)
        dense = np.zeros(n_cells)
        dense[self.codes.astype(np.intp)] = frequencies
        every = np.arange(n_cells, dtype=np.uint64)
        return pair_up(_answers.patterns_of(every, self.n_classifiers), dense)

    def _bounds(self, table: _stability.Perturbed, cells: Support) -> Stability:
        if abs(table.X).min() <= 1e-12:  # on the boundary: any change will do
            tied = int(abs(table.X).argmin())
            delta = np.zeros_like(table.p)
            found: tuple[float, Reals, int | None] = (0.0, delta, tied)
            lower, estimate = 0.0, 0.0
        else:
            estimates = _stability.first_order(table)
            estimate = float(estimates.min())
            found = _stability.upper_bound(table, estimates)
            lower = _stability.lower_bound(table, found[0])
        upper, delta, pair = found
        patterns = np.vstack([table.pairs.V, -table.pairs.V])
        return Stability(
            lower=lower,
            upper=upper,
            first_order=estimate,
            cells=cells,
            counterexample=TruthTable.from_cells(patterns, np.maximum(table.p + delta, 0.0)),
            pattern=None if pair is None else table.pairs.V[pair].astype(np.int8),
        )
