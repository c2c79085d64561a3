"""AdaBoost.MH, for several classes and for several labels per row.

Kégl, "Open problem: a (missing) boosting-type convergence result for AdaBoost.MH with factorized
multi-class classifiers" (COLT 2014), Appendix B, to which "line n" refers; originally Schapire and
Singer, "Improved boosting algorithms using confidence-rated predictions" (1999).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._control import Control
from ._hamming_tree import LeafVotes, votes_of
from ._mh_bases import Base, BaseClassifier, BaseOptions, fit_base
from ._mh_votes import MIN_EDGE, Votes, Weights, coefficients, first_weights, weights
from ._tree import Array, Table

HISTORY = ("edge", "alpha", "z", "hamming_loss", "vote_mass")


@dataclass(frozen=True)
class MHFit:
    rounds: list[tuple[Array, BaseClassifier]]  # h(x) = coefficients (K,) times outputs (K,)
    scores: Array  # f, (n, K) of the training rows
    history: dict[str, Array]  # (rounds,) each: HISTORY and "bound", the product of z
    stop_reason: str  # "rounds", "no edge" or "edge 1"

    def decision_function(self, X: Any) -> Array:  # (n, d) -> (n, K)
        X = np.asarray(X, dtype=float)
        F = np.zeros((len(X), self.scores.shape[1]))
        for coefficient, classifier in self.rounds:
            F = F + coefficient * classifier.predict(X)
        return F


def adaboost_mh(
    X: Any,
    Y: Any,
    *,
    n_estimators: int,
    base: Base = "hamming_tree",
    votes: Votes = "binary",
    initial_weights: Weights = "balanced",
    learning_rate: float = 1.0,
    max_leaf_nodes: int = 8,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    leaf_votes: LeafVotes = "stump",
    n_factors: int = 3,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
    control: Control | None = None,
    smoothing: float | None = None,
) -> MHFit:
    """Fit AdaBoost.MH to labels Y (n, K) of -1 and +1, with any number of +1 per row.

    Deviations: the shares of right and wrong in eq. 11 are smoothed by s = 0.01 / n (n is the sum
    of the sample weights), so that an edge of 1 has a finite alpha; it ends the fit. Ternary and
    real votes are chosen after the base classifier, which has the largest edge with binary votes
    (the least energy, eq. 6, only if they stay binary). Weights are computed from the scores, so
    that they neither overflow nor lose their sum. One tree per class has no vote mass: NaN.
    """
    table, Y = Table(X, categorical, control), np.asarray(Y, dtype=float)
    w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    s = 0.01 / w.sum() if smoothing is None else smoothing
    options = BaseOptions(max_leaf_nodes, max_depth, min_samples_leaf, leaf_votes, n_factors)
    W_1 = first_weights(Y, w, initial_weights)  # line 1
    f, told, reason = np.zeros(Y.shape), [], "rounds"
    rounds: list[tuple[Array, BaseClassifier]] = []
    while len(rounds) < n_estimators and reason == "rounds":  # line 2
        W = weights(W_1, f * Y)  # line 6
        key = table.control.cut_key(len(rounds))
        classifier = fit_base(base, table, W * Y, options, key)  # line 3
        H = classifier.predict(table.X)  # (n, K)
        right, wrong = (W * (H * Y > 0)).sum(axis=0), (W * (H * Y < 0)).sum(axis=0)  # eqs. 8, 7
        alpha, v = coefficients(right, wrong, votes, s)
        edge = np.sign(v) @ (right - wrong)  # eq. 10
        if edge <= MIN_EDGE:
            reason = "no edge"
            break
        if not W[np.sign(v) * H * Y <= 0].any():
            reason = "edge 1"
        h = learning_rate * alpha * v  # (K,), line 4
        f = f + h * H  # line 7
        rounds.append((h, classifier))
        Z = (W * np.exp(-h * H * Y)).sum()  # eq. 4
        hamming_loss = W_1[votes_of(f) != Y].sum()  # eq. 1
        mass = np.nan if classifier.votes is None else np.abs((W * Y) @ classifier.votes).sum()
        told.append((edge, alpha, Z, hamming_loss, mass))  # the last is eq. 14
    history = dict(zip(HISTORY, np.reshape(told, (-1, len(HISTORY))).T, strict=True))
    history["bound"] = np.exp(np.cumsum(np.log(history["z"])))
    return MHFit(rounds, f, history, reason)
