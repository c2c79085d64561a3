"""Trees grown by requests to blocks: the core's drivers choose, the blocks return sums.

Each generator yields steps, which the driver or a leader sends to all blocks, and receives their
results; its arguments and its result can be sent, too.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._boosting.grower import Criterion, Tree
from .._boosting.sampling import Draw
from ._asker import Asker
from ._block import Answer, Array, Step

Targets = list[tuple[int, int]]


class Sample(NamedTuple):
    """The rows that a round learns from: those whose random numbers are below a bound."""

    seed: int
    m: int
    below: float


class ClassTask(NamedTuple):
    """Class trees to grow; see the local engine."""

    targets: Targets
    criterion: Criterion
    factor: float
    shrinkage: float


class Learned(NamedTuple):
    """The statistics that trees learn from."""

    draw: Draw  # features and cuts
    sample: Sample | None  # None: all rows
    n_rows: int  # that are drawn


def grow_class_trees(
    asker: Asker, learned: Learned, task: ClassTask, scales: Array
) -> Generator[Step, Answer, list[Tree]]:
    """One tree per target."""
    targets, criterion, factor, shrinkage = task
    driver: Any = _core.ClassTreesDriver(
        asker.data, asker.limits(learned.draw), targets, criterion, scales, factor, shrinkage
    )
    answer = yield ("roots", targets, criterion, scales, learned.n_rows, learned.sample)
    driver.take_roots(*answer.sums, asker.n_threads)
    while len(requests := driver.next()):
        answer = yield ("expand", requests, driver.wants_sides)
        driver.take(*answer.sums, asker.n_threads)
    trees: list[Tree] = driver.finish()
    sums, covers = (yield ("leaves", targets, scales, forest_of(trees))).sums
    driver.set_leaves(trees, sums)
    _core.set_covers(trees, covers)
    return trees


def grow_pair_tree(
    asker: Asker,
    learned: Learned,
    vector: bool,
    shrinkage: float,
    largest: float,
    root: Array,
) -> Generator[Step, Answer, Tree]:
    """A tree from the sums of its root."""
    limits = asker.limits(learned.draw)
    start, n_total = asker.options["start"], asker.options["n_total"]
    listed_start = start if asker.options["layout"] == "lists" else None
    driver: Any = _core.PairTreeDriver(
        asker.data, limits, len(start), vector, shrinkage, n_total, largest, listed_start
    )
    driver.take_root(learned.n_rows, root)
    while any(map(len, requests := driver.next())):
        driver.take(*(yield ("answer_pairs", vector, *requests)).sums, asker.n_threads)
    tree: Tree = driver.finish()
    pairs = np.empty(0, dtype=np.int32) if vector else driver.pairs
    sums, covers = (yield ("pair_leaves", forest_of([tree]), vector, pairs)).sums
    driver.set_leaves(tree, sums)
    _core.set_covers([tree], covers)
    return tree


def grow_hamming_tree(
    asker: Asker, draw: Draw, n_classes: int, scale: _core.EdgeScale
) -> Generator[Step, Answer, tuple[Tree, Array]]:
    """A tree, and the sums of its leaves."""
    driver = _core.HammingTreeDriver(asker.data, asker.limits(draw), n_classes, scale.unit)
    driver.take_root((yield ("root", scale)).sums[0], asker.n_threads)
    while len(requests := driver.next()):
        driver.take((yield ("expand", requests)).sums[0], asker.n_threads)
    tree = driver.finish()
    sums, covers = (yield ("leaves", forest_of([tree]), scale.fine)).sums
    _core.set_covers([tree], covers)
    return tree, sums


def forest_of(trees: list[Tree]) -> dict[str, Array]:
    """The arrays of trees, to be sent."""
    store = _core.ForestStore()
    store.append(trees)
    return store.arrays()
