"""The attributes of ONNX's TreeEnsemble, version 5 of ai.onnx.ml.

The operator can test sets of categories itself (BRANCH_MEMBER), but onnxruntime turns such a test
into a chain of equality tests, copies the left subtree for every member and then fuses chains:
models with equal leaves come out wrong. So a set becomes a further column of the matrix, 0 for the
rows in it and 1 for the others, and the trees hold nothing but thresholds. A part is so many trees
that their sets make no more than MOST_SETS columns, which bounds the memory that a row needs.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._contents import Contents

MOST_SETS = 1024  # columns of a part: 8 KB for a row
TENSORS = frozenset(["nodes_modes", "nodes_splits", "leaf_weights"])
_LEQ = 0  # the mode of a node that compares with a threshold

Ints = NDArray[np.integer[Any]]


class SetColumns(NamedTuple):
    """The sets of one feature that a part asks for, one column each."""

    feature: int
    outside: NDArray[np.uint8]  # (n_categories + 1, n_sets): 1 if not in the set; last, of others


class Part(NamedTuple):
    """Trees for one operator, and the columns that they need beside those of X."""

    fields: dict[str, NDArray[Any]]
    columns: list[SetColumns]


class Sets:
    """The sets of a model, equal ones once."""

    def __init__(self, contents: Contents) -> None:
        nodes = np.flatnonzero(np.isnan(contents.trees.threshold))
        self.feature: list[int] = []
        self.members: list[NDArray[np.float64]] = []
        self.of_node = np.full(len(contents.trees.threshold), -1)
        number: dict[tuple[int, bytes], int] = {}
        for node, values in zip(nodes, contents.sets(), strict=False):  # no nodes: one empty set
            feature, members = int(contents.trees.feature[node]), values + 0.0  # without -0.0
            key = feature, members.tobytes()
            if key not in number:
                number[key] = len(number)
                self.feature.append(feature)
                self.members.append(members)
            self.of_node[node] = number[key]

    def categories(self) -> dict[int, NDArray[np.float64]]:
        """By feature: all members of its sets, ascending; never none."""
        of_feature: dict[int, list[NDArray[np.float64]]] = {}
        for feature, members in zip(self.feature, self.members, strict=True):
            of_feature.setdefault(feature, [np.zeros(1)]).append(members)
        return {j: np.unique(np.concatenate(of_feature[j])) for j in sorted(of_feature)}

    def columns(
        self, asked: Ints, categories: dict[int, NDArray[np.float64]]
    ) -> tuple[list[SetColumns], dict[int, int]]:
        """Of the sets `asked`; and the place of each set's column among all of them."""
        columns, place = [], dict[int, int]()
        for feature, known in categories.items():
            numbers = [int(s) for s in asked if self.feature[s] == feature]
            place |= {s: len(place) + i for i, s in enumerate(numbers)}
            if numbers:
                outside = np.ones((len(known) + 1, len(numbers)), dtype=np.uint8)
                for i, s in enumerate(numbers):
                    outside[np.searchsorted(known, self.members[s]), i] = 0
                columns.append(SetColumns(feature, outside))
        return columns, place


def parts(contents: Contents, sets: Sets) -> Iterator[Part]:
    """The trees of a model in their order; the initial scores come first, as trees of one leaf."""
    categories, trees = sets.categories(), contents.trees
    for first, last in _ranges(sets, trees.node_start):
        of_node = sets.of_node[trees.node_start[first] : trees.node_start[last]]
        columns, place = sets.columns(np.unique(of_node[of_node >= 0]), categories)
        fields = _Fields(contents.n_features, place)
        if first == 0:
            for k, value in enumerate(trees.start):
                fields.add_leaf_only(k, float(value))
        for t in range(first, last):
            tree = _Tree(contents, t, sets.of_node)
            for m in range(tree.classes.shape[1]):  # a leaf has one value: a copy for each class
                fields.add(tree, tree.classes[:, m], tree.values[:, m])
        yield Part(fields.arrays(), columns)


def _ranges(sets: Sets, node_start: Ints) -> Iterator[tuple[int, int]]:
    """First and last tree of every part; a tree with too many sets has a part of its own."""
    first, seen, n_trees = 0, set[int](), len(node_start) - 1
    for t in range(n_trees):
        asked = set(sets.of_node[node_start[t] : node_start[t + 1]].tolist()) - {-1}
        if len(seen | asked) > MOST_SETS and t > first:
            yield first, t
            first, seen = t, set()
        seen |= asked
    yield first, n_trees


class _Tree:
    """One of our trees."""

    def __init__(self, contents: Contents, t: int, set_of_node: Ints) -> None:
        model = contents.trees
        nodes = slice(int(model.node_start[t]), int(model.node_start[t + 1]))
        self.feature = model.feature[nodes]
        self.left = model.left[nodes].astype(np.int64)
        self.threshold = model.threshold[nodes]
        self.missing_left = model.missing_left[nodes]
        self.set = set_of_node[nodes]
        values = slice(int(model.value_start[t]), int(model.value_start[t + 1]))
        width = int(model.width[t])
        self.classes = model.classes[values].reshape(-1, width)
        self.values = model.values[values].reshape(-1, width)


class _Fields:
    """Collects the operator's arrays: trees one after the other, inner nodes and leaves apart."""

    def __init__(self, n_features: int, place_of_set: dict[int, int]) -> None:
        self._column_of_set = {s: n_features + i for s, i in place_of_set.items()}
        self._parts: dict[str, list[Any]] = {}
        self._n_inner = self._n_leaves = 0

    def _extend(self, **parts: Any) -> None:
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(np.atleast_1d(part))

    def add_leaf_only(self, k: int, value: float) -> None:
        """A tree of one leaf: a node both of whose branches lead to it."""
        self._extend(
            tree_roots=self._n_inner,
            nodes_featureids=0,
            nodes_modes=_LEQ,
            nodes_splits=0.0,
            nodes_missing_value_tracks_true=0,
            nodes_truenodeids=self._n_leaves,
            nodes_trueleafs=1,
            nodes_falsenodeids=self._n_leaves,
            nodes_falseleafs=1,
            leaf_targetids=k,
            leaf_weights=value,
        )
        self._n_inner += 1
        self._n_leaves += 1

    def add(self, tree: _Tree, classes: Ints, values: NDArray[np.float64]) -> None:
        """A tree; its leaves have the given classes and values, by number."""
        inner = tree.feature >= 0
        if not inner.any():
            self.add_leaf_only(int(classes[0]), float(values[0]))
            return
        number = np.where(inner, np.cumsum(inner) - 1 + self._n_inner, tree.left + self._n_leaves)
        left, sets = tree.left[inner], tree.set[inner]
        columns = [self._column_of_set.get(int(s), -1) for s in sets]
        self._extend(
            tree_roots=self._n_inner,
            nodes_featureids=np.where(sets >= 0, columns, tree.feature[inner]),
            nodes_modes=np.full(len(left), _LEQ),
            nodes_splits=np.where(sets >= 0, 0.5, tree.threshold[inner]),
            nodes_missing_value_tracks_true=np.where(sets >= 0, 0, tree.missing_left[inner]),
            nodes_truenodeids=number[left],
            nodes_trueleafs=~inner[left],
            nodes_falsenodeids=number[left + 1],
            nodes_falseleafs=~inner[left + 1],
            leaf_targetids=classes,
            leaf_weights=values,
        )
        self._n_inner += len(left)
        self._n_leaves += len(values)

    def arrays(self) -> dict[str, NDArray[Any]]:
        types = {"nodes_modes": np.uint8, "nodes_splits": np.float64, "leaf_weights": np.float64}
        return {
            name: np.concatenate(parts).astype(types.get(name, np.int64))
            for name, parts in self._parts.items()
        }
