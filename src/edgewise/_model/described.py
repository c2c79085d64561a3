"""Trees as text and columns, with the names of features, classes and categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data import dates
from .model import Model

MOST_CATEGORIES = 8  # of a set that are printed
MOST_CLASSES = 6  # of a leaf that are printed


@dataclass(frozen=True)
class Names:
    """Names for the numbers of a model."""

    features: Sequence[str]
    classes: Sequence[str]
    categories: dict[int, NDArray[Any]]  # by feature: the values that its numbers represent
    times: Mapping[int, str] = field(default_factory=dict)  # by feature: what its seconds are

    def set_of(self, feature: int, numbers: NDArray[np.float64]) -> list[str]:
        """The categories of a set."""
        table = self.categories.get(feature)
        if table is None:
            return [number(v) for v in numbers]
        return [str(table[int(v)]) for v in numbers]

    def value_of(self, feature: int, value: float) -> str:
        """A number of a feature, or the date that it stands for."""
        kind = self.times.get(feature)
        return number(value) if kind is None else dates.iso(value, kind)


@dataclass(frozen=True)
class Node:
    """A node of a tree; a leaf has no feature."""

    number: int  # in its tree
    parent: int  # -1: none
    depth: int
    feature: int  # -1: none
    threshold: float  # NaN where there is a set, and for a leaf
    categories: list[str] | None  # that go left, of a split that has a set
    missing_left: bool
    left: int  # children; -1: none
    right: int
    gain: float
    cover: float
    classes: NDArray[np.int32]  # that a leaf moves
    values: NDArray[np.float64]  # by how much

    @property
    def is_leaf(self) -> bool:
        return self.feature < 0

    def question(self, names: Names) -> str:
        """Return the question of a node; rows for which it holds go left."""
        feature = names.features[self.feature]
        if self.categories is None:
            return f"{feature} <= {names.value_of(self.feature, self.threshold)}"
        return f"{feature} in {braces(self.categories)}"

    def moves(self, names: Names) -> list[str]:
        """Return the moves of a leaf, the largest first: a class and a signed number each."""
        order = np.argsort(-np.abs(self.values), kind="stable")
        order = order[self.values[order] != 0]
        shown = [f"{names.classes[self.classes[i]]} {self.values[i]:+.4g}" for i in order]
        rest = len(shown) - MOST_CLASSES
        return shown if rest <= 0 else [*shown[:MOST_CLASSES], f"{rest} more"]


def number(value: float) -> str:
    return f"{value:.6g}"


def braces(categories: Sequence[str]) -> str:
    """A set as text, shortened if it is long."""
    shown = ", ".join(categories[:MOST_CATEGORIES])
    rest = len(categories) - MOST_CATEGORIES
    return f"{{{shown}}}" if rest <= 0 else f"{{{shown}, {rest} more}}"


class Reader:
    """Reads trees from the arrays of a model."""

    def __init__(self, model: Model, names: Names) -> None:
        self.model = model
        self.names = names
        # Sets are in the order of the nodes that have one.
        self._set_of_node = np.cumsum(np.isnan(model.threshold)) - 1

    def round_of(self, tree: int) -> int:
        return int(np.searchsorted(self.model.round_start, tree, side="right")) - 1

    def nodes(self, tree: int) -> list[Node]:
        m = self.model
        begin, end = (int(i) for i in m.node_start[tree : tree + 2])
        parent, depth = [-1] * (end - begin), [0] * (end - begin)
        nodes = []
        for i in range(end - begin):
            nodes.append(self._node(tree, begin, i, parent[i], depth[i]))
            for child in (nodes[-1].left, nodes[-1].right):
                if child >= 0:  # children come after their parent
                    parent[child], depth[child] = i, depth[i] + 1
        return nodes

    def _node(self, tree: int, begin: int, i: int, parent: int, depth: int) -> Node:
        m, at = self.model, begin + i
        feature, left = int(m.feature[at]), int(m.left[at])
        moved = slice(0, 0)
        if feature < 0:
            first = int(m.value_start[tree]) + left * int(m.width[tree])
            moved = slice(first, first + int(m.width[tree]))
        return Node(
            number=i,
            parent=parent,
            depth=depth,
            feature=feature,
            threshold=float(m.threshold[at]) if feature >= 0 else np.nan,
            categories=self._categories(at, feature),
            missing_left=bool(m.missing_left[at]),
            left=left if feature >= 0 else -1,
            right=left + 1 if feature >= 0 else -1,
            gain=float(m.gain[at]),
            cover=float(m.cover[at]),
            classes=m.classes[moved],
            values=m.values[moved],
        )

    def _categories(self, at: int, feature: int) -> list[str] | None:
        m = self.model
        if feature < 0 or not np.isnan(m.threshold[at]):
            return None
        s = self._set_of_node[at]
        return self.names.set_of(feature, m.set_values[m.set_start[s] : m.set_start[s + 1]])


# --- text -------------------------------------------------------------------------------------


def tree_text(reader: Reader, tree: int, max_depth: int | None) -> str:
    """One tree: a line for every node, children below their parent."""
    nodes, names = reader.nodes(tree), reader.names
    lines = [f"tree {tree} (round {reader.round_of(tree)})"]
    open_nodes = [(nodes[0], "", "")]  # with the prefixes of their line and of the lines below
    while open_nodes:
        node, turn, below = open_nodes.pop()
        if node.is_leaf:
            words = ", ".join(node.moves(names)) or "nothing"
        elif max_depth is not None and node.depth >= max_depth:
            words = f"... {_n_leaves(nodes, node)} leaves"
        else:
            words = f"{node.question(names)}? (missing: {'yes' if node.missing_left else 'no'})"
            open_nodes.append((nodes[node.right], f"{below}└─ no: ", f"{below}   "))
            open_nodes.append((nodes[node.left], f"{below}├─ yes: ", f"{below}│  "))
        gain = "" if node.is_leaf else f", gain {node.gain:.4g}"
        lines.append(f"{turn}{words}  [{node.cover:.1%}{gain}]")
    return "\n".join(lines)


def _n_leaves(nodes: list[Node], node: Node) -> int:
    below = [node]
    n_leaves = 0
    while below:
        last = below.pop()
        n_leaves += last.is_leaf
        below += [] if last.is_leaf else [nodes[last.left], nodes[last.right]]
    return n_leaves


# --- columns ----------------------------------------------------------------------------------


def node_columns(reader: Reader) -> dict[str, list[Any]]:
    """All nodes of all trees, one per row."""
    names = reader.names
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "round tree node parent depth feature threshold categories missing left right gain "
            "cover"
        ).split()
    }
    moves: list[list[float]] = [[] for _ in names.classes]
    for tree in range(reader.model.n_trees):
        for node in reader.nodes(tree):
            row = _row(node, names) | {"round": reader.round_of(tree), "tree": tree}
            for name, column in columns.items():
                column.append(row[name])
            of_class = np.zeros(len(moves)) if node.is_leaf else np.full(len(moves), np.nan)
            np.add.at(of_class, node.classes, node.values)
            for column, value in zip(moves, of_class.tolist(), strict=True):
                column.append(value)
    titles = (f"score of {name}" for name in names.classes)
    return columns | dict(zip(titles, moves, strict=True))


def _row(node: Node, names: Names) -> dict[str, Any]:
    return {
        "node": node.number,
        "parent": node.parent,
        "depth": node.depth,
        "feature": None if node.is_leaf else names.features[node.feature],
        "threshold": node.threshold,
        "categories": None if node.categories is None else ", ".join(node.categories),
        "missing": None if node.is_leaf else ("left" if node.missing_left else "right"),
        "left": node.left,
        "right": node.right,
        "gain": node.gain,
        "cover": node.cover,
    }
