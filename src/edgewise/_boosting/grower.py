"""The grower: the core's trees for the current state of a fit.

An engine holds what stays the same from round to round (binned data, limits, threads) and the one
thing that changes, the posterior: the class probabilities of the training rows.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._data.groups import for_core
from .._data.rows import Rows
from .._data.sparse import Matrix
from .._data.weights import Weights
from .._model.model import Model

Criterion = Literal["newton", "least_squares"]
Layout = Literal["by_row", "by_class", "lists"]
T = TypeVar("T")
Tree = _core.Tree
ALONE = -1  # in place of a base class: there is none
NOTHING_LEFT = 1e-12  # mean training log loss below which rounds change nothing


def binned(rows: Rows, max_bins: int, categorical: list[int], n_threads: int) -> _core.BinnedData:
    return _core.BinnedData(
        rows.X, rows.weights, max_bins, n_threads, categorical, for_core(rows.groups)
    )


def grown(grow: Callable[[T], list[Tree]], drawn: T | None, everything: T) -> list[Tree]:
    """Grow trees on the drawn rows and features; on everything if these trees have no split."""
    if drawn is not None:
        trees = grow(drawn)
        if not all(tree.moves_nothing for tree in trees):
            return trees
    return grow(everything)


class Growing:
    """The constants of all rounds: binned data, limits, threads."""

    def __init__(
        self,
        rows: Rows,
        *,
        max_bins: int,
        categorical: list[int],
        limits: _core.GrowLimits,
        n_threads: int,
        limits_of_round: Callable[[int], _core.GrowLimits] | None = None,
        data: _core.BinnedData | None = None,
    ) -> None:
        """`data` contains the rows if they are already binned."""
        self.n_threads = n_threads
        self.n_rounds = 0
        self._limits = limits
        self._limits_of_round = limits_of_round
        self._data = data or binned(rows, max_bins, categorical, n_threads)

    def _grown(self, grow: Callable[[_core.GrowLimits], list[Tree]]) -> list[Tree]:
        drawn = self._limits_of_round and self._limits_of_round(self.n_rounds)
        return grown(grow, drawn, self._limits)


class Engine(Growing):
    """Grows trees from the posterior and adds them to it.

    For class trees the posterior is stored class by class; for pair trees row by row or, with many
    classes, as lists of the classes that matter.
    """

    def __init__(self, rows: Rows, start: Weights, *, layout: Layout, **growing: Any) -> None:
        super().__init__(rows, **growing)
        self.n_classes = len(start)
        self.posterior = _core.Posterior(
            rows.codes, rows.weights, np.ascontiguousarray(start), layout
        )
        self._pair_grower: _core.PairTreeGrower | None = None

    def class_trees(
        self,
        targets: Sequence[tuple[int, int]],
        criterion: Criterion,
        *,
        shrinkage: float,
        factor: float = 1.0,
    ) -> list[Tree]:
        """One tree for each (class, base class), from the same probabilities.

        A leaf moves the class by `shrinkage` times `factor` times its Newton step, and the base
        class by the negative; without a base class (ALONE) only the class moves.
        """
        return self._grown(
            lambda limits: _core.grow_class_trees(
                self._data,
                self.posterior,
                list(targets),
                criterion,
                limits,
                factor,
                shrinkage,
                self.n_threads,
            )
        )

    def pair_tree(self, leaf: Literal["pair", "vector"], shrinkage: float) -> Tree:
        """One tree that chooses a pair of classes at every node."""
        if self._pair_grower is None:
            self._pair_grower = _core.PairTreeGrower(self._data, self.posterior, self._limits)
        grower = self._pair_grower
        return self._grown(
            lambda limits: [grower.grow(leaf == "vector", shrinkage, self.n_threads, limits)]
        )[0]

    def add(self, trees: Sequence[Tree]) -> None:
        """Moves the scores of the training rows."""
        self.posterior.add(list(trees), self.n_threads)
        self.n_rounds += 1

    def replay(self, model: Model, X: Matrix) -> None:
        """Restore the posterior after the rounds of `model`."""
        model.replay(X, self.posterior, self.n_threads)
        self.n_rounds += model.n_rounds

    def loss(self) -> float:
        """Mean log loss."""
        return float(self.class_losses().sum())

    def nothing_left(self, loss: float) -> bool:
        return loss < NOTHING_LEFT

    def class_losses(self) -> Weights:
        """Each class's share of the mean log loss."""
        return np.array(self.posterior.class_losses(self.n_threads))

    def loss_after(self, trees: Sequence[Tree]) -> float:
        """Mean log loss if `trees` were added."""
        return self.posterior.loss_after(list(trees), self.n_threads)


def set_leaves(tree: Tree, values: Weights, classes: ArrayLike) -> None:
    """Set the moves of a tree's leaves.

    `values` (n_leaves, width) are those of `classes`, which are given for every leaf or, as
    (width), once for all leaves.
    """
    of_leaves = np.broadcast_to(np.asarray(classes, dtype=np.int32), values.shape)
    _core.set_leaves(tree, np.ascontiguousarray(values), np.ascontiguousarray(of_leaves))
