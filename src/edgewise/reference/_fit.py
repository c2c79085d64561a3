"""The inputs and the results of every algorithm of this package.

Scores F (n, K) give probabilities p by the multinomial logit model ("The Multinomial Logit
Probability Model" of Li's slides); the loss of a row is -log p of its class. `Fit` is the result:
the starting scores and, round by round, trees whose leaves hold shrunken steps in all K scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ._tree import Array, Tree

Init = Literal["prior", "zero"]


@dataclass(frozen=True)
class Fit:
    init: Array  # (K,)
    rounds: list[list[Tree]]
    scores: Array  # (n, K) of the training rows
    history: dict[str, Array]  # (n_estimators,) each; "loss" is the weighted mean after the round

    def decision_function(self, X: Any) -> Array:
        X = np.asarray(X, dtype=float)
        F = np.tile(self.init, (len(X), 1))
        for trees in self.rounds:
            F = moved(F, trees, X)
        return F


def prepare(X: Any, y: Any, sample_weight: Any, init: Init) -> tuple[Array, Array, Array, Array]:
    """X (n, d), indicators r (n, K), weights w (n,), starting scores (K,).

    Labels are 0 .. K-1; every class has a positive weight.
    """
    y = np.asarray(y)
    r = np.eye(y.max() + 1)[y]
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    log_prior = np.log(w @ r / w.sum()) if init == "prior" else np.zeros(r.shape[1])
    return np.asarray(X, dtype=float), r, w, log_prior - log_prior.mean()


def log_softmax(F: Array) -> Array:
    F = F - F.max(axis=1, keepdims=True)
    return np.asarray(F - np.log(np.exp(F).sum(axis=1, keepdims=True)))


def class_losses(F: Array, r: Array, w: Array) -> Array:
    """L_k, the weighted sum of -log p_k over the rows of class k, (K,)."""
    return np.asarray(w @ np.where(r > 0, -log_softmax(F), 0.0))


def moved(F: Array, trees: Sequence[Tree], X: Array) -> Array:
    """The scores F of the rows X after the steps of one round's trees."""
    for tree in trees:
        F = F + tree.predict(X)
    return F
