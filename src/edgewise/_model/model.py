"""The model: initial scores and trees, as plain arrays.

A model contains everything that prediction needs. Trees are stored one after the other;
`round_start` gives the first tree of each round. A leaf stores only the classes it moves. A node
that splits a categorical feature has the threshold NaN and a set of categories; sets are in the
order of these nodes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.sparse import Matrix
from .._data.weights import Weights
from .check import PER_NODE, PER_VALUE, check_model

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """Scores are `start` plus the leaf values of all trees, added in order."""

    start: Scores  # (n_classes)
    n_features: int
    round_start: NDArray[np.int64]  # (n_rounds + 1): first tree of each round
    node_start: NDArray[np.int64]  # (n_trees + 1)
    value_start: NDArray[np.int64]  # (n_trees + 1)
    width: NDArray[np.int32]  # (n_trees): classes moved by each leaf
    feature: NDArray[np.int32]  # (n_nodes): -1 for a leaf
    left: NDArray[np.int32]  # (n_nodes): left child (right is next to it), or number of the leaf
    threshold: NDArray[np.float64]  # (n_nodes): left if x <= threshold; NaN: if x is in the set
    missing_left: NDArray[np.uint8]  # (n_nodes)
    gain: NDArray[np.float64]  # (n_nodes): decrease of the quadratic model of the loss
    cover: NDArray[np.float64]  # (n_nodes): share of the training weight that reaches the node
    classes: NDArray[np.int32]  # (n_values)
    values: NDArray[np.float64]  # (n_values)
    set_start: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    set_values: NDArray[np.float64] = field(
        default_factory=lambda: np.zeros(0)
    )  # ascending in sets
    _forest: list[_core.Forest] = field(default_factory=list, repr=False, compare=False)
    _explained: list[_core.ExplainedForest] = field(default_factory=list, repr=False, compare=False)

    @property
    def n_rounds(self) -> int:
        return len(self.round_start) - 1

    @property
    def n_trees(self) -> int:
        return len(self.width)

    @property
    def n_classes(self) -> int:
        return len(self.start)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name; models with equal arrays are equal."""
        names = [n for n in self.__dataclass_fields__ if n != "n_features" and n[0] != "_"]
        return {name: getattr(self, name) for name in names}

    def _arrays_of_trees(self) -> dict[str, NDArray[Any]]:
        """The arrays of the core's forest: all but the initial scores and the rounds."""
        arrays = self.arrays()
        return {name: a for name, a in arrays.items() if name not in ("start", "round_start")}

    def scores(self, X: Matrix, n_threads: int) -> Scores:
        """(n_rows, n_classes)"""
        out = np.empty((len(X), self.n_classes))
        out[:] = self.start
        self.forest.add_scores(X, 0, int(self.round_start[-1]), out, n_threads)
        return out

    def staged_scores(self, X: Matrix, n_threads: int) -> Iterator[Scores]:
        """Scores after every round; the same array each time."""
        out = np.tile(self.start, (len(X), 1))
        for first, last in zip(self.round_start[:-1], self.round_start[1:], strict=True):
            self.forest.add_scores(X, int(first), int(last), out, n_threads)
            yield out

    def replay(self, X: Matrix, posterior: _core.Posterior, n_threads: int) -> None:
        """Add all rounds of this model to the state of a fit on X."""
        for first, last in zip(self.round_start[:-1], self.round_start[1:], strict=True):
            self.forest.replay(X, int(first), int(last), posterior, n_threads)

    def shapley_values(self, X: Matrix, n_threads: int) -> Scores:
        """Return the contribution of each feature to the scores: (n_rows, n_features, n_classes)

        The sum over the features is the row's scores minus `expected_scores`.
        """
        out = np.zeros((len(X), self.n_features, self.n_classes))
        self.explained.add_shapley_values(X, out, n_threads)
        return out

    def expected_scores(self) -> Scores:
        """Mean scores if rows go left and right in the shares of the training rows: (n_classes)"""
        out = self.start.copy()
        self.explained.add_expected_scores(out)
        return out

    def gain_by_class(self) -> Scores:
        """`gain_by_feature`, divided among the classes by the steps of the leaves below a split.

        (n_classes, n_features)
        """
        out = np.zeros((self.n_classes, self.n_features))
        self.explained.add_gain_by_class(out)
        return out

    def gain_by_feature(self) -> Scores:
        """Total gain of the splits on each feature: (n_features)"""
        inner = self.feature >= 0
        return np.bincount(
            self.feature[inner], weights=self.gain[inner], minlength=self.n_features
        ).astype(np.float64)

    def first_rounds(self, n_rounds: int) -> "Model":
        """The model after `n_rounds` rounds."""
        n_trees = int(self.round_start[n_rounds])
        n_nodes = int(self.node_start[n_trees])
        n_values = int(self.value_start[n_trees])
        cut: dict[str, Any] = {name: getattr(self, name)[:n_nodes] for name in PER_NODE}
        cut |= {name: getattr(self, name)[:n_values] for name in PER_VALUE}
        cut["round_start"] = self.round_start[: n_rounds + 1]
        cut["node_start"] = self.node_start[: n_trees + 1]
        cut["value_start"] = self.value_start[: n_trees + 1]
        n_sets = np.count_nonzero(np.isnan(cut["threshold"]))
        cut["set_start"] = self.set_start[: n_sets + 1]
        cut["set_values"] = self.set_values[: self.set_start[n_sets]]
        return replace(self, width=self.width[:n_trees], _forest=[], _explained=[], **cut)

    def rescaled(self, factor: Scores, shift: Scores) -> "Model":
        """The model whose scores are `factor` times this one's plus `shift`, both (n_classes)."""
        values = self.values * factor[self.classes]
        return replace(
            self, start=factor * self.start + shift, values=values, _forest=[], _explained=[]
        )

    def followed_by(self, other: "Model") -> "Model":
        """This model's rounds, then those of `other`."""
        return Model.joined([self, other], self.start)

    @classmethod
    def joined(cls, models: Sequence["Model"], start: Scores) -> "Model":
        """The rounds of all models, one model after the other, from the scores `start`."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(model, name) for model in models])
            for name in ("width", *PER_NODE, *PER_VALUE, "set_values")
        }
        for name in ("round_start", "node_start", "value_start", "set_start"):
            of_models = [getattr(model, name) for model in models]
            before = np.cumsum([0] + [int(starts[-1]) for starts in of_models])
            arrays[name] = np.concatenate(
                [[0], *(starts[1:] + n for starts, n in zip(of_models, before, strict=False))]
            ).astype(np.int64)
        return cls(start=start, n_features=models[0].n_features, **arrays)

    @property
    def forest(self) -> _core.Forest:
        """The core's form of the trees, made on first use."""
        if not self._forest:
            self._forest.append(_core.Forest(**self._arrays_of_trees()))
        return self._forest[0]

    @property
    def explained(self) -> _core.ExplainedForest:
        """The core's form of the trees with their covers, made on first use."""
        if not self._explained:
            self._explained.append(_core.ExplainedForest(**self._arrays_of_trees()))
        return self._explained[0]

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_features: int) -> "Model":
        """Make a model of untrusted arrays, after checking them for the core."""
        check_model(arrays, n_features)
        fields: dict[str, Any] = dict(arrays)
        return cls(n_features=n_features, **fields)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_forest": [], "_explained": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = {k: v for k, v in state.items() if k != "n_features" and k[0] != "_"}
        check_model(arrays, state.get("n_features"))
        self.__dict__.update(state, _forest=[], _explained=[])


class ModelBuilder:
    """Collects trees round by round, without memory for rounds that are never run."""

    def __init__(
        self,
        start: Scores,
        n_features: int,
        weights: Weights | None = None,
        n_threads: int = 1,
    ) -> None:
        self._start = start
        self._n_features = n_features
        self._weights = weights  # (n), of the training rows
        self._n_threads = n_threads
        self._store = _core.ForestStore()
        self._round_start = [0]

    @property
    def n_rounds(self) -> int:
        return len(self._round_start) - 1

    def append(self, trees: list[_core.Tree]) -> None:
        _core.find_covers(trees, self._weights, self._n_threads)
        self._store.append(trees)
        self._round_start.append(self._round_start[-1] + len(trees))

    def add_scores(
        self, trees: list[_core.Tree], X: Matrix, scores: Scores, n_threads: int
    ) -> None:
        """Adds the trees' leaf values on X to scores (n, n_classes)."""
        _core.add_tree_scores(trees, X, scores, n_threads)

    def model(self) -> Model:
        return Model(
            start=self._start,
            n_features=self._n_features,
            round_start=np.array(self._round_start, dtype=np.int64),
            **self._store.arrays(),
        )
