"""SAMME: AdaBoost for K classes with one multi-class tree per round.

Zhu, Zou, Rosset and Hastie, "Multi-class AdaBoost" (2009); here in the form of Geist, "Soft-max
boosting" (2015), Alg. 4, whose steps the comments name, and with the ends of a fit and the floor of
the weights that scikit-learn's AdaBoostClassifier has.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _gini_tree
from ._control import Control
from ._tree import Array, Table, Tree

FLOOR = float(np.finfo(float).eps)  # a positive weight does not fall below it
HISTORY = ("error", "alpha")


@dataclass(frozen=True)
class SAMMEFit:
    rounds: list[tuple[float, Tree]]  # alpha, tree
    scores: Array  # psi, (n, K) of the training rows
    history: dict[str, Array]  # (rounds,) each: HISTORY
    stop_reason: str  # "rounds", "no error" or "no better than chance"

    def decision_function(self, X: Any) -> Array:  # (n, d) -> (n, K)
        X = np.asarray(X, dtype=float)
        psi = np.zeros((len(X), self.scores.shape[1]))
        for alpha, tree in self.rounds:
            psi = psi + alpha * np.eye(psi.shape[1])[_gini_tree.classes(tree, X)]
        return psi


def samme(
    X: Any,
    y: Any,
    *,
    n_estimators: int,
    learning_rate: float = 1.0,
    max_leaf_nodes: int = 12,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
    control: Control | None = None,
) -> SAMMEFit:
    """Fit SAMME to labels 0 .. K-1.

    As in scikit-learn: a tree without error gets the weight 1 and ends the fit; a tree whose error
    is 1 - 1/K or more is dropped and ends the fit; alpha is multiplied by the learning rate. Unlike
    there, a first tree of that kind is no error but leaves all scores at zero.
    """
    table, y = Table(X, categorical, control), np.asarray(y)
    indicators = np.eye(y.max() + 1)[y]  # (n, K)
    K = indicators.shape[1]
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    psi, told, reason = np.zeros(indicators.shape), [], "rounds"
    rounds: list[tuple[float, Tree]] = []
    while len(rounds) < n_estimators and reason == "rounds":
        w = np.where(w > 0, np.maximum(w / w.sum(), FLOOR), 0.0)
        tree = _gini_tree.grow(
            table,
            w[:, None] * indicators,
            max_leaf_nodes,
            max_depth,
            min_samples_leaf,
            table.control.cut_key(len(rounds)),
        )
        h = _gini_tree.classes(tree, table.X)
        error = np.average(h != y, weights=w)  # epsilon_t
        alpha = 1.0
        if error <= 0:
            reason = "no error"
        elif error >= 1 - 1 / K:
            reason = "no better than chance"
            break
        else:
            alpha = learning_rate * (np.log((1 - error) / error) + np.log(K - 1))
        w = w * np.exp(-alpha * (h == y))  # w_t but for a factor; normalised above
        psi = psi + alpha * np.eye(K)[h]  # psi_t
        rounds.append((float(alpha), tree))
        told.append((error, alpha))
    history = dict(zip(HISTORY, np.reshape(told, (-1, len(HISTORY))).T, strict=True))
    return SAMMEFit(rounds, psi, history, reason)
