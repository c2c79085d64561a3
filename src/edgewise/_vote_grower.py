"""The grower of trees that vote: binned data and limits, with features drawn anew every round."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from . import _core
from ._groups import for_core
from ._grower import Tree
from ._input import Labels, Rows, Weights

NEGLIGIBLE = 1 / 64  # share of the mean weight below which rows do not count in the search
MANY_ROWS = 2000  # with fewer, leaving some out saves nothing


class VoteGrower:
    """Grows base classifiers on the training rows, whatever their weights."""

    def __init__(
        self,
        rows: Rows,
        *,
        max_bins: int,
        categorical: list[int],
        limits: tuple[int, int, int],
        max_features: int | float | None,
        seed: int,
        n_threads: int,
    ) -> None:
        self.n_threads = n_threads
        self.seed = seed
        self._limits = limits  # max_leaf_nodes, max_depth, min_samples_leaf
        X = rows.X
        self._n_features = X.shape[1]
        self._n_drawn = n_drawn(max_features, X.shape[1])
        self._negligible = NEGLIGIBLE if len(X) >= MANY_ROWS else 0.0
        self._data = _core.BinnedData(
            X, None, max_bins, n_threads, categorical, for_core(rows.groups)
        )

    def rng(self, m: int) -> np.random.Generator:
        """Random numbers of round m, the same wherever a fit begins."""
        return np.random.default_rng([self.seed, m])

    def _limits_of_round(self, m: int, max_leaf_nodes: int | None = None) -> _core.GrowLimits:
        features: list[int] = []
        if self._n_drawn < self._n_features:
            drawn = self.rng(m).choice(self._n_features, self._n_drawn, replace=False)
            features = sorted(int(f) for f in drawn)
        leaves, depth, samples = self._limits
        most = leaves if max_leaf_nodes is None else max_leaf_nodes
        return _core.GrowLimits(
            most, depth, samples, negligible=self._negligible, features=features
        )

    def vote_trees(self, signed_weights: Weights, m: int) -> list[Tree]:
        """One binary tree for each column of the signed weights (n, n_classes)."""
        limits = self._limits_of_round(m)
        return _core.grow_vote_trees(self._data, signed_weights, limits, self.n_threads)

    def hamming_tree(self, signed_weights: Weights, m: int) -> Tree:
        """One tree for all labels, of factorised stumps."""
        limits = self._limits_of_round(m)
        return _core.grow_hamming_tree(self._data, signed_weights, limits, self.n_threads)

    def stump(self, signed_weights: Weights, m: int) -> Tree:
        limits = self._limits_of_round(m, max_leaf_nodes=2)
        return _core.grow_hamming_tree(self._data, signed_weights, limits, self.n_threads)

    def gini_tree(self, codes: Labels, weights: Weights, n_classes: int, m: int) -> Tree:
        """One tree for all classes."""
        limits = self._limits_of_round(m)
        return _core.grow_gini_tree(self._data, codes, weights, n_classes, limits, self.n_threads)


def n_drawn(max_features: int | float | None, n_features: int) -> int:
    """Features drawn for a round: a number, or a share of them."""
    if max_features is None:
        return n_features
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    return min(max_features, n_features)


def seed_of(random_state: Any) -> int:
    """A number from scikit-learn's kind of random state."""
    return int(check_random_state(random_state).randint(2**31 - 1))
