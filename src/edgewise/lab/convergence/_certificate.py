"""A fitted AdaBoost.MH model, compared with the theory round by round."""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..._boosting.threads import n_threads
from ..._data.features import matrix
from ..._families.best_votes import best_votes, mass_of
from ..._ground import params as p
from ..._ground.errors import InvalidDataError, InvalidParameterError
from ._bounds import bound_for
from ._weighting import Array, check_shares, initial_weights, label_matrix

RECORDED = ("alpha", "edge", "z", "bound", "hamming_loss", "vote_mass")
ENUMERATED = 2**26  # n 2^(K-1): a tenth of a second; above, the best mass is bracketed
ROUNDING = 1e-9  # by which sums of rounded numbers may break an inequality
SHOWN = 12  # rounds in the table


@dataclass(frozen=True, eq=False)
class Certificate:
    """The measurements of each round, and the inequalities of the theory.

    Everything is computed again from the scores; `discrepancy` compares it with `history_`. The
    vote mass of a round that is not factorised is the recorded one, of the root of its tree; one
    tree per class (base="one_vs_all") has no votes in common, and the mass is NaN.
    """

    n_rows: int  # of positive weight
    n_classes: int
    labels: str  # which labels the bound on the mass is for
    mass_bound: float  # the least mass the best votes can have
    smallest_weight: float  # positive entry of the first round's W
    rounds: NDArray[np.int64] = field(repr=False)  # (m): the rounds looked at, from 1
    alpha: Array = field(repr=False)  # (m)
    edge: Array = field(repr=False)  # (m): sum_il w_il y_il h_il / alpha
    factorised: NDArray[np.bool_] = field(repr=False)  # (m): whether h = alpha v phi
    within_one: NDArray[np.bool_] = field(repr=False)  # (m): whether |h| <= alpha
    vote_mass: Array = field(repr=False)  # (m): eq. 14, of the round's votes
    best_mass: Array = field(repr=False)  # (m): of the best votes found
    best_mass_upper: Array = field(repr=False)  # (m): that no votes exceed
    z: Array = field(repr=False)  # (m): eq. 4
    bound: Array = field(repr=False)  # (m): product of Z so far, the exponential risk
    hamming_loss: Array = field(repr=False)  # (m): eq. 1; a score of 0 is wrong
    discrepancy: dict[str, float]  # largest difference from history_, by name

    @property
    def checks(self) -> dict[str, bool]:
        """The inequalities of the theory, and whether they hold in all rounds."""
        small, factorised = self.within_one, self.within_one & self.factorised
        # eq. 6, which is Z where no label is abstained from, over cosh(alpha), which may be huge
        energy = 1 - self.edge * np.tanh(self.alpha)
        scale = 2 / (1 + np.exp(-2 * np.abs(self.alpha))) * np.exp(-np.abs(self.alpha))
        bound = np.full(len(self.rounds), self.mass_bound)
        return {
            "best vote mass >= its bound": _never_above(bound, self.best_mass),
            "vote mass <= best vote mass": _never_above(
                self.vote_mass, self.best_mass_upper, small
            ),
            "edge <= vote mass, where factorised": _never_above(
                self.edge, self.vote_mass, factorised
            ),
            "Z <= cosh(alpha) - edge sinh(alpha)": _never_above(
                np.minimum(self.z, sys.float_info.max) * scale, energy, small
            ),
            "Hamming loss <= product of Z": _never_above(self.hamming_loss, self.bound, unit=0.0),
        }

    @property
    def holds(self) -> bool:
        """Return whether all inequalities hold in all rounds."""
        return all(self.checks.values())

    @property
    def rounds_to_zero(self) -> int | None:
        """Rounds after which no training label can be wrong if no edge is below the least so far.

        Eq. 13 with the smallest weight of the first round in place of 1/(2n(K-1)). None if that
        edge is not positive.
        """
        delta = min(1.0, float(self.edge.min()))
        if delta <= 0:
            return None
        return math.ceil(-2 * math.log(self.smallest_weight) / delta**2) + 1

    def __str__(self) -> str:
        names = "rounds edge vote_mass best_mass z bound hamming_loss".split()
        chosen = np.unique(np.linspace(0, len(self.rounds) - 1, SHOWN).round().astype(int))
        lines = ["".join(f"{name:>13}" for name in names)]
        for k in chosen:
            cells = [f"{getattr(self, name)[k]:13.6g}" for name in names]
            lines.append("".join(cells))
        lines.append(
            f"{self.n_rows} rows, {self.n_classes} classes, {self.labels}: the best vote mass is "
            f"at least {self.mass_bound:.6g}"
        )
        lines += [f"{'holds ' if held else 'BROKEN'}  {name}" for name, held in self.checks.items()]
        return "\n".join(lines)


def certificate(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    every: int = 1,
) -> Certificate:
    """Compare a fitted AdaBoostMHClassifier with the theory, on the rows it was fitted to.

    `sample_weight` must be that of `fit`, times the class weights if there were any. Every
    `every`-th round is looked at, and the last.
    """
    p.check("certificate", {"every": every}, {"every": p.integer(1)})
    history = _history(estimator)
    Y = label_matrix(y, getattr(estimator, "classes_", None))
    rows = matrix(estimator, X, reset=False)
    if len(rows) != len(Y):
        raise InvalidDataError(
            f"X and y must have the same number of rows. Got {len(rows)} and {len(Y)} rows."
        )
    present = check_shares(sample_weight, len(Y)) > 0
    given = None if sample_weight is None else np.asarray(sample_weight, dtype=float)[present]
    rows, Y = rows[present], Y[present]
    W = initial_weights(Y, estimator.initial_weights, given)
    threads = n_threads(getattr(estimator, "n_jobs", None), rows.size)
    scores = estimator.model_.staged_scores(rows, threads)
    last = estimator.model_.n_rounds
    if getattr(estimator, "base", None) == "one_vs_all":  # 1 is recorded, for want of votes
        history["vote_mass"] = np.full_like(history["vote_mass"], np.nan)
    measured = [
        _measure(
            step, W, Y, {name: float(array[step.number - 1]) for name, array in history.items()}
        )
        for step in _steps(scores, W, Y)
        if step.number % every == 0 or step.number == last
    ]
    return _collect(measured, W, Y, history)


class _Step(NamedTuple):
    """A round: the weights it began with, what it added to the scores, and what came of it."""

    number: int  # from 1
    weights: Array  # (n, K), sum 1
    added: Array  # (n, K)
    scores: Array  # (n, K), after the round
    z: float
    bound: float  # the exponential risk after the round, the product of Z


def _history(estimator: Any) -> dict[str, Array]:
    check_is_fitted(estimator)
    history: dict[str, Array] = getattr(estimator, "history_", {})
    missing = [name for name in RECORDED if name not in history]
    if missing or not hasattr(estimator, "model_") or not hasattr(estimator, "initial_weights"):
        raise InvalidParameterError(
            "certificate takes a fitted AdaBoostMHClassifier, whose history_ has "
            f"{', '.join(RECORDED)}. Got {type(estimator).__name__} without "
            f"{', '.join(missing) or 'model_ or initial_weights'}."
        )
    n_rounds = estimator.model_.n_rounds
    if n_rounds == 0:
        raise InvalidDataError("certificate needs a model with a round at least. Got one without.")
    return {name: np.asarray(history[name], dtype=float)[:n_rounds] for name in RECORDED}


def _steps(staged: Iterator[Array], W: Array, Y: Array) -> Iterator[_Step]:
    """The rounds one after the other; weights in the log domain, W_t ~ W exp(-f Y)."""
    log_start = np.log(W)
    before, log_weights, log_risk = np.zeros_like(W), log_start, 0.0
    for number, scores in enumerate(staged, start=1):
        weights, last = np.exp(log_weights - log_risk), log_risk
        log_weights = log_start - scores * Y
        log_risk = _log_sum_exp(log_weights)
        with np.errstate(over="ignore"):  # scores that were not boosted may have any risk
            z, bound = np.exp(log_risk - last), np.exp(log_risk)
        yield _Step(number, weights, scores - before, scores, float(z), float(bound))
        before = scores.copy()  # the model goes on in the same array


def _log_sum_exp(x: Array) -> float:
    top = float(x.max())
    return top + math.log(np.exp(x - top).sum())


def _measure(step: _Step, W: Array, Y: Array, recorded: dict[str, float]) -> dict[str, Any]:
    """The figures of one round, by the names of the certificate's fields."""
    outputs = _whole(step.added / (recorded["alpha"] or 1.0))  # (n, K)
    signed = step.weights * Y
    votes = _votes_of(outputs)
    few = len(Y) * 2.0 ** (Y.shape[1] - 1) <= ENUMERATED
    best = best_votes(signed, method="exact" if few else "bracket", n_starts=8)
    return {
        "rounds": step.number,
        "alpha": recorded["alpha"],
        "edge": (signed * outputs).sum(),
        "factorised": votes is not None,
        "within_one": np.abs(outputs).max() <= 1 + ROUNDING,
        "vote_mass": recorded["vote_mass"] if votes is None else mass_of(signed, votes),
        "best_mass": best.mass,
        "best_mass_upper": best.upper,
        "z": step.z,
        "bound": step.bound,
        "hamming_loss": W[step.scores * Y <= 0].sum(),
    }


def _whole(outputs: Array) -> Array:
    """Outputs that are whole numbers up to the rounding of the scores, made whole."""
    near = np.rint(outputs)
    return near if np.abs(outputs - near).max() < 1e-6 else outputs


def _votes_of(outputs: Array) -> Array | None:
    """The votes v of outputs v_l phi_i, where phi is -1, 0 or +1; None if they are not of the kind.

    v or -v: their mass is the same.
    """
    row, label = np.unravel_index(np.abs(outputs).argmax(), outputs.shape)
    votes = outputs[row]
    if votes[label] == 0:
        return None
    phi = _whole(outputs[:, label] / votes[label])
    same = np.allclose(outputs, np.outer(phi, votes), rtol=0, atol=1e-6)
    return votes if same and np.isin(phi, (-1, 0, 1)).all() else None


def _collect(
    measured: list[dict[str, Any]], W: Array, Y: Array, history: dict[str, Array]
) -> Certificate:
    columns = {name: np.array([one[name] for one in measured]) for name in measured[0]}
    mass_bound, labels = bound_for(Y)
    at = columns["rounds"] - 1
    discrepancy = {
        name: float(np.abs(columns[name] - history[name][at]).max())
        for name in ("edge", "z", "bound", "hamming_loss")
    }
    if columns["factorised"].any():
        differences = np.abs(columns["vote_mass"] - history["vote_mass"][at])
        discrepancy["vote_mass"] = float(differences[columns["factorised"]].max())
    return Certificate(
        n_rows=len(Y),
        n_classes=Y.shape[1],
        labels=labels,
        mass_bound=mass_bound,
        smallest_weight=float(W.min()),
        discrepancy=discrepancy,
        **columns,
    )


def _never_above(
    low: Array, high: Array, where: NDArray[np.bool_] | None = None, *, unit: float = 1.0
) -> bool:
    """Return whether low <= high wherever asked, up to rounding; NaN does not count.

    `unit` is the size of the terms that were added up; 0 if all have the same sign.
    """
    above = low > high + ROUNDING * np.maximum(unit, np.abs(high))
    return not np.any(above if where is None else above & where)
