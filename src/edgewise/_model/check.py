"""Checks of a model's arrays, because the core trusts them.

Every index, length and number is checked here before the core uses it: starts are monotone, the
nodes of a tree form a tree, and leaves, features and classes exist.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.checks import MOST_FEATURES
from .._ground.errors import ModelFormatError

Arrays = Mapping[str, NDArray[Any]]
Ints = NDArray[np.int64]

TYPES: dict[str, np.dtype[Any]] = {
    "start": np.dtype("f8"),
    "round_start": np.dtype("i8"),
    "node_start": np.dtype("i8"),
    "value_start": np.dtype("i8"),
    "width": np.dtype("i4"),
    "feature": np.dtype("i4"),
    "left": np.dtype("i4"),
    "threshold": np.dtype("f8"),
    "missing_left": np.dtype("u1"),
    "gain": np.dtype("f8"),
    "cover": np.dtype("f8"),
    "classes": np.dtype("i4"),
    "values": np.dtype("f8"),
    "set_start": np.dtype("i8"),
    "set_values": np.dtype("f8"),
}
PER_NODE = ("feature", "left", "threshold", "missing_left", "gain", "cover")
PER_VALUE = ("classes", "values")

MOST_NODES = 2**31  # largest index of a node
MOST_LEAVES = 65535  # leaves of a tree, as an index of 16 bits
LARGEST_SUM = 1e250  # largest score or gain, so that all results stay finite


def need(condition: Any, words: str) -> None:
    if not condition:
        raise ModelFormatError(f"Not a valid model: {words}.")


def check_model(arrays: Arrays, n_features: Any) -> None:
    """Raise ModelFormatError unless the core can use the arrays for X with n_features columns."""
    need(
        type(n_features) is int and 1 <= n_features <= MOST_FEATURES,
        f"the number of features must be an integer from 1 to {MOST_FEATURES}; got {n_features!r}",
    )
    check_types(arrays, TYPES)
    _check_lengths(arrays)
    tree = np.repeat(np.arange(len(arrays["width"])), np.diff(arrays["node_start"]))  # (n_nodes)
    _check_nodes(arrays, n_features, tree)
    _check_children(arrays, tree)
    _check_leaves(arrays, tree)
    _check_numbers(arrays)
    _check_sets(arrays)


def check_types(arrays: Arrays, types: Mapping[str, np.dtype[Any]]) -> None:
    """Check that the arrays are those named in `types`, as vectors of these types."""
    for name, dtype in types.items():
        array = arrays.get(name)
        need(array is not None, f"the array {name!r} is missing")
        need(
            isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == 1,
            f"the array {name!r} must be a vector of type {dtype.name}",
        )
    unknown = sorted(map(str, arrays.keys() - types.keys()))
    need(not unknown, f"unknown array {''.join(unknown[:1])!r}")


def check_starts(name: str, starts: Ints, end: int, *, least: int = 0) -> None:
    """Check the starts of pieces of at least `least` entries that cover 0 .. end."""
    need(
        len(starts) > 0
        and starts[0] == 0
        and starts[-1] == end
        and starts.min() >= 0
        and starts.max() <= end  # before differences, which could overflow
        and (np.diff(starts) >= least).all(),
        f"{name!r} must rise from 0 to {end}",
    )


def _check_lengths(a: Arrays) -> None:
    n_trees, n_nodes, n_values = len(a["width"]), len(a["feature"]), len(a["values"])
    need(n_nodes <= MOST_NODES, f"there may be at most {MOST_NODES} nodes")
    need(all(len(a[name]) == n_nodes for name in PER_NODE), "arrays of nodes differ in length")
    need(len(a["classes"]) == n_values, "'classes' and 'values' differ in length")
    for name in ("node_start", "value_start"):
        need(len(a[name]) == n_trees + 1, f"{name!r} must have an entry per tree and one more")
    check_starts("round_start", a["round_start"], n_trees)
    check_starts("node_start", a["node_start"], n_nodes, least=1)
    check_starts("value_start", a["value_start"], n_values)


def _check_nodes(a: Arrays, n_features: int, tree: Ints) -> None:
    feature = a["feature"]
    need(
        ((feature >= -1) & (feature < n_features)).all(),
        f"a node's feature must be from 0 to {n_features - 1}, or -1 for a leaf",
    )
    need((a["missing_left"] <= 1).all(), "'missing_left' must hold only 0 and 1")
    need(
        not np.isnan(a["threshold"][feature < 0]).any(), "the threshold of a leaf must be a number"
    )


def _check_children(a: Arrays, tree: Ints) -> None:
    """Check that children come after their parent, and every node but the roots has one parent."""
    node_start = a["node_start"]
    inner = np.flatnonzero(a["feature"] >= 0)
    left = a["left"][inner].astype(np.int64) + node_start[:-1][tree[inner]]
    need(
        ((left > inner) & (left + 1 < node_start[1:][tree[inner]])).all(),
        "the children of a node must come after it, in the same tree",
    )
    n_nodes = len(a["feature"])
    parents = np.bincount(left, minlength=n_nodes) + np.bincount(left + 1, minlength=n_nodes)
    parents[node_start[:-1]] += 1
    need((parents == 1).all(), "every node but the root must be the child of exactly one node")


def _check_leaves(a: Arrays, tree: Ints) -> None:
    """Check that leaves are numbered from 0 in every tree and have values."""
    n_trees, leaf = len(a["width"]), np.flatnonzero(a["feature"] < 0)
    n_leaves = np.bincount(tree[leaf], minlength=n_trees)
    need(n_leaves.max(initial=0) <= MOST_LEAVES, f"a tree may have at most {MOST_LEAVES} leaves")
    number = a["left"][leaf].astype(np.int64)
    words = "the leaves of a tree must be numbered from 0, each number once"
    need(((number >= 0) & (number < n_leaves[tree[leaf]])).all(), words)
    place = number + (np.cumsum(n_leaves) - n_leaves)[tree[leaf]]
    need((np.bincount(place, minlength=len(leaf)) == 1).all(), words)
    n_classes = len(a["start"])
    width = a["width"].astype(np.int64)
    need(((width >= 1) & (width <= n_classes)).all(), f"'width' must be from 1 to {n_classes}")
    need(
        (np.diff(a["value_start"]) == n_leaves * width).all(),
        "a tree must have 'width' values for each of its leaves",
    )
    classes = a["classes"]
    need(
        ((classes >= 0) & (classes < n_classes)).all(),
        f"the classes that leaves move must be from 0 to {n_classes - 1}",
    )


def _check_numbers(a: Arrays) -> None:
    for name in ("start", "values", "gain"):
        need(np.isfinite(a[name]).all(), f"{name!r} must hold finite numbers")
        with np.errstate(over="ignore"):
            total = np.abs(a[name]).sum()
        need(
            total <= LARGEST_SUM,
            f"the sizes of the numbers in {name!r} must sum to at most {LARGEST_SUM:g}",
        )
    cover = a["cover"]
    need(((cover >= 0) & (cover <= 1)).all(), "'cover' must hold shares, from 0 to 1")


def _check_sets(a: Arrays) -> None:
    """Check that every node of threshold NaN has an ascending set of categories."""
    set_start, values = a["set_start"], a["set_values"]
    n_sets = np.count_nonzero(np.isnan(a["threshold"]))
    need(len(set_start) == n_sets + 1, "there must be a set for every node of threshold NaN")
    check_starts("set_start", set_start, len(values))
    need(not np.isnan(values).any(), "a category must be a number")
    within = np.ones(max(len(values) - 1, 0), dtype=bool)
    first = set_start[1:-1]
    within[first[(first > 0) & (first < len(values))] - 1] = False  # between two sets
    need((values[1:] > values[:-1])[within].all(), "the categories of a set must ascend")
