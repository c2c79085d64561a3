"""The grower of trees that vote: binned data and limits, and the draws of every round."""

from collections.abc import Collection
from typing import Any

import numpy as np

from .. import _core
from .._boosting.constraints import Interactions
from .._boosting.grower import Tree
from .._boosting.sampling import Draw, Sampler
from .._data.groups import for_core
from .._data.rows import Rows
from .._data.targets import Labels
from .._data.weights import Weights

NEGLIGIBLE = 1 / 64
NO_LIMIT = Interactions()
MANY_ROWS = 2000  # with fewer rows, leaving some out saves nothing


def negligible_weight(n_rows: int) -> float:
    """Share of the mean weight below which rows do not count in the search."""
    return NEGLIGIBLE if n_rows >= MANY_ROWS else 0.0


class VoteGrower:
    """Grows base classifiers on the training rows with given weights.

    Round m draws features and cuts; round None uses all features.
    """

    def __init__(
        self,
        rows: Rows,
        *,
        max_bins: int,
        categorical: list[int],
        limits: dict[str, Any],
        sampler: Sampler,
        seed: int,
        n_threads: int,
        interactions: Interactions = NO_LIMIT,
    ) -> None:
        self.n_threads = n_threads
        self.seed = seed
        self._limits = limits | interactions.limits()  # as the core's GrowLimits names them
        self._limits["negligible"] = negligible_weight(len(rows.X))
        self._together = interactions
        self._sampler = sampler
        X = rows.X
        self._n_features = X.shape[1]
        self._data = _core.BinnedData(
            X, None, max_bins, n_threads, categorical, for_core(rows.groups)
        )

    def rng(self, m: int | None) -> np.random.Generator:
        """Random numbers of round m; they do not depend on the round in which a fit begins."""
        return np.random.default_rng([self.seed] if m is None else [self.seed, m])

    def _limits_of_round(
        self, m: int | None, max_leaf_nodes: int | None = None, beside: Collection[int] = ()
    ) -> _core.GrowLimits:
        """Limits of round m; features `beside` the tree's own are on its paths already."""
        draw = Draw() if m is None else self._sampler.of_round(m)
        features = draw.features or []
        if beside:
            features = self._together.beside(beside, features or range(self._n_features))
        changed = {} if max_leaf_nodes is None else {"max_leaf_nodes": max_leaf_nodes}
        return _core.GrowLimits(
            **self._limits | changed | draw.limits() | {"features": features},
        )

    def vote_trees(self, signed_weights: Weights, m: int | None) -> list[Tree]:
        """One binary tree for each column of the signed weights (n, n_classes)."""
        limits = self._limits_of_round(m)
        return _core.grow_vote_trees(self._data, signed_weights, limits, self.n_threads)

    def hamming_tree(self, signed_weights: Weights, m: int | None) -> Tree:
        """One tree for all labels, of factorised stumps."""
        limits = self._limits_of_round(m)
        return _core.grow_hamming_tree(self._data, signed_weights, limits, self.n_threads)

    def stump(self, signed_weights: Weights, m: int | None, beside: Collection[int] = ()) -> Tree:
        """A stump that may be multiplied by stumps on the features `beside` it."""
        limits = self._limits_of_round(m, max_leaf_nodes=2, beside=beside)
        return _core.grow_hamming_tree(self._data, signed_weights, limits, self.n_threads)

    def gini_tree(self, codes: Labels, weights: Weights, n_classes: int, m: int | None) -> Tree:
        """One tree for all classes."""
        limits = self._limits_of_round(m)
        return _core.grow_gini_tree(self._data, codes, weights, n_classes, limits, self.n_threads)
