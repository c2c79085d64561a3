"""Weights and votes of AdaBoost.MH.

First weights: Kégl (COLT 2014), eq. 2. Votes that abstain or are real: the library MultiBoost
(Benbouzid et al., JMLR 2012); real ones are Schapire and Singer's (1999), class by class.
"""

from typing import Any, Literal

import numpy as np

from ._tree import Array

Votes = Literal["binary", "ternary", "real"]
Weights = Literal["balanced", "uniform"]
MIN_EDGE = 1e-10  # a smaller edge or step in the energy is rounding


def label_matrix(y: Any) -> Array:
    """Labels 0 .. K-1 as signs, (n, K)."""
    return np.asarray(2.0 * np.eye(np.max(y) + 1)[np.asarray(y)] - 1.0)


def first_weights(Y: Array, w: Array, kind: Weights) -> Array:
    """The weights of the first round, (n, K), summing to 1; "balanced" is eq. 2.

    Half of a row's weight goes to its labels +1, half to its labels -1; where a row has only one
    kind, that kind gets all.
    """
    W = np.ones(Y.shape)
    if kind == "balanced":
        W = sum(side / np.maximum(side.sum(axis=1, keepdims=True), 1) for side in (Y > 0, Y < 0))
    W = W / W.sum(axis=1, keepdims=True)
    return np.asarray(W * w[:, None] / w.sum())


def weights(W_1: Array, margins: Array) -> Array:
    """W_1 exp(-margins), normalised to the sum 1; only differences of margins matter."""
    loss = np.where(W_1 > 0, -margins, -np.inf)
    W = W_1 * np.exp(loss - loss.max())
    return np.asarray(W / W.sum())


def abstention(right: Array, wrong: Array) -> Array:
    """Votes 0 or 1 by the greedy rule: silence the class that lowers the energy most, and so on.

    The energy is 2 sqrt(eps+ eps-) + eps0, of the shares right, wrong and silenced.
    """

    def energy(v: Array) -> float:
        return float(2 * np.sqrt((v @ right) * (v @ wrong)) + (1 - v) @ (right + wrong))

    v = np.ones(len(right))
    while True:
        tried = [v * (np.arange(len(v)) != label) for label in np.flatnonzero(v)]
        best = min((u for u in tried if u @ right > u @ wrong), key=energy, default=v)
        if energy(best) >= energy(v) - MIN_EDGE:
            return v
        v = best


def coefficients(right: Array, wrong: Array, votes: Votes, s: float) -> tuple[float, Array]:
    """alpha and the factors v (K,) of the K outputs, from the classwise shares mu+ and mu-."""
    if votes == "real":  # every class has an alpha of its own
        return 1.0, 0.5 * np.log((right + s) / (wrong + s))
    v = abstention(right, wrong) if votes == "ternary" else np.ones(len(right))
    return float(0.5 * np.log((v @ right + s) / (v @ wrong + s))), v  # eq. 11
