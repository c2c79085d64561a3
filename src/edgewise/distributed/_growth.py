"""Trees grown by asking blocks: the core's drivers choose, the blocks answer.

Each yields steps for the one who asks, here or on a worker, to put to all blocks, and is sent their
answers; what it takes and returns can be sent too.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from .. import _core
from .._boosting.grower import Tree
from ._asker import Asker
from ._block import Answer, Array, Step

Targets = list[tuple[int, int]]


def grow_class_trees(
    asker: Asker, targets: Targets, newton: bool, scales: Array
) -> Generator[Step, Answer, tuple[list[Tree], Array]]:
    """One tree per target, without values, and the sums of their leaves."""
    driver: Any = _core.ClassTreesDriver(asker.data, asker.limits, scales)
    driver.take_roots(*(yield ("roots", targets, newton, scales)).sums, asker.n_threads)
    while len(requests := driver.next()):
        driver.take(*(yield ("expand", requests)).sums, asker.n_threads)
    trees: list[Tree] = driver.finish()
    sums, covers = (yield ("leaves", targets, scales, forest_of(trees))).sums
    _core.set_covers(trees, covers)
    return trees, sums


def grow_pair_tree(
    asker: Asker, n_classes: int, vector: bool, n_rows: int, largest: float, root: Array
) -> Generator[Step, Answer, tuple[Tree, Array, Array]]:
    """A tree, the pairs of its leaves (none if all classes move), and their sums."""
    driver: Any = _core.PairTreeDriver(asker.data, asker.limits, n_classes, vector)
    driver.take_root(n_rows, largest, root)
    while any(map(len, requests := driver.next())):
        driver.take(*(yield ("answer_pairs", *requests)).sums, asker.n_threads)
    tree: Tree = driver.finish()
    pairs = np.empty(0, dtype=np.int32) if vector else driver.pairs
    sums, covers = (yield ("pair_leaves", forest_of([tree]), pairs)).sums
    _core.set_covers([tree], covers)
    return tree, pairs, sums


def grow_hamming_tree(
    asker: Asker, n_classes: int, scale: _core.EdgeScale
) -> Generator[Step, Answer, tuple[Tree, Array]]:
    """A tree, and the sums of its leaves."""
    driver: Any = _core.HammingTreeDriver(asker.data, asker.limits, n_classes, scale.unit)
    driver.take_root((yield ("root", scale)).sums[0], asker.n_threads)
    while len(requests := driver.next()):
        driver.take((yield ("expand", requests)).sums[0], asker.n_threads)
    tree: Tree = driver.finish()
    sums, covers = (yield ("leaves", forest_of([tree]), scale.fine)).sums
    _core.set_covers([tree], covers)
    return tree, sums


def forest_of(trees: list[Tree]) -> dict[str, Array]:
    """The arrays of trees, to be sent."""
    store = _core.ForestStore()
    store.append(trees)
    return store.arrays()
