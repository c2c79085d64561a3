"""The memory of a fit: upper bounds of the arrays of the core and of Python.

An estimator counts its state and its trees; this module counts the arrays of every fit.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

from .._data.features import MOST_BINS

SLACK = 1.1  # factor for memory that the allocator cannot reuse
FIXED = 4 * 2**20  # of a process, whatever the data
HELD = 2**28  # bytes of histograms that a core's grower keeps
BLOCK = 2**14  # places of a block of the binned data
LANES = 8  # sums that a vector holds
LISTED = 512  # classes on the list of a row, at most
MOVED = 256  # classes that a leaf moves, at most, where rows have lists


class Size(NamedTuple):
    """The size of a fit."""

    n: int
    d: int
    K: int
    entries: float  # of X; n d if it is dense
    is_sparse: bool
    item: int  # bytes of a number of X
    bins: int  # of a feature, at most
    threads: int

    @property
    def places(self) -> float:
        """Places of a histogram; features with similar numbers of bins get equally many."""
        most = self.bins + 1 if not self.is_sparse else self.entries / self.d + 2
        return 1.25 * self.d * min(self.bins + 1, self.n + 1, most)

    @property
    def columns(self) -> int:
        """Of bins."""
        return self.d * -(-(self.bins - 1) // (MOST_BINS - 1))

    @property
    def copy_of_x(self) -> float:
        return (
            self.entries * (self.item + 4) + 12 * self.n
            if self.is_sparse
            else self.item * self.entries
        )


class TreeSize(NamedTuple):
    """The size of a tree."""

    leaves: int  # that it can have
    least_rows: int  # of a leaf


class ForestSize(NamedTuple):
    """The size of a model."""

    rounds: int
    trees: float  # of a round
    width: int  # numbers of a leaf


class Measured:
    """Computes the memory of a fit from that of the state and the trees of the estimator."""

    max_leaf_nodes: Any
    max_depth: int | None
    min_samples_leaf: Any
    max_bins: int
    n_jobs: int | None

    @abstractmethod
    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        """The state of a fit and of growing a tree."""

    @abstractmethod
    def _forest_size(self, size: Size) -> ForestSize:
        """The model."""

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        """Leaves of a tree; 0 means no limit."""
        return self.max_leaf_nodes or 0

    def _least_rows_of(self, n_rows: int) -> int:
        """Least rows of a leaf if the classes are as rare as possible."""
        return int(self.min_samples_leaf)

    def _tree_size(self, size: Size) -> TreeSize:
        least_rows = self._least_rows_of(size.n)
        by_depth = 2 ** min(self.max_depth or 16, 16)
        by_rows = max(1, size.n // least_rows)
        limit = self._leaf_limit(size.n, size.K) or 65535
        return TreeSize(int(min(limit, by_depth, by_rows)), least_rows)

    def _growing_bytes(self, size: Size) -> float:
        """Binned data, the state and what trees need while they grow."""
        return binned(size) + self._state_bytes(size, self._tree_size(size))

    def _fit_bytes(self, size: Size) -> float:
        model = forest(self._forest_size(size), self._tree_size(size))
        return labels(size) + max(binning(size), self._growing_bytes(size)) + model

    def _memory(self, size: Size) -> int:
        """An upper bound of the bytes of a fit."""
        return int(SLACK * self._fit_bytes(size)) + FIXED


# --- arrays of every fit -----------------------------------------------------------------------


def labels(size: Size) -> float:
    """Checks and codes of y and of weights."""
    return 48 * size.n


def binning(size: Size) -> float:
    """Cut points are found from whole columns."""
    if size.is_sparse:
        return 12 * size.n + 13 * size.entries + 16 * size.d + binned(size)
    columns = 8 * min(8, size.d) * size.n
    return size.threads * (columns + 32 * size.n)


def binned(size: Size) -> float:
    """The binned data."""
    blocks = size.places / BLOCK + 1
    starts = 4 * size.n * blocks
    if size.is_sparse:
        return 12 * size.n + 7 * size.entries + starts + 12 * size.places
    joint = size.n * size.columns  # at most: two bytes for two columns, where they have few bins
    return 2.05 * size.n * size.columns + joint + starts + 8 * size.places


def forest(model: ForestSize, tree: TreeSize) -> float:
    """The model; at the end there are two copies and spare capacity."""
    return 3 * model.rounds * model.trees * tree.leaves * (66 + 12 * model.width)


# --- parts of a state -------------------------------------------------------------------------


def histogram(size: Size, tree: TreeSize) -> float:
    return size.places * (8 if tree.least_rows == 1 else 16)


def posterior(size: Size) -> float:
    return size.n * (28 + 8 * size.K)


def class_trees(size: Size, tree: TreeSize, at_once: float) -> float:
    """Trees from two numbers for each row: threads take whole trees."""
    threads = min(size.threads, at_once) if at_once > 1 else size.threads
    one = histogram(size, tree)
    histograms = min(threads * (tree.leaves + 2) * one, HELD + (2 * threads + 2) * one)
    return threads * 52 * size.n + 2 * at_once * size.n + histograms


def pair_tree(size: Size, tree: TreeSize) -> float:
    stride = -(-size.K // LANES) * LANES
    of_rows = size.n * (4 * stride + 16 + 32 * size.threads)
    return of_rows + size.threads * histogram(size, tree)


def lists(size: Size, tree: TreeSize, *, all_classes: bool) -> float:
    """Rows with lists of classes; sums of every class for all nodes and, by thread, leaves."""
    of_rows = size.n * (48 + 12 * LISTED + 32 * size.threads)
    of_nodes = 2 * tree.leaves * 40 * size.K
    of_leaves = (size.threads + 2) * tree.leaves * 16 * (size.K + 1 if all_classes else 1)
    return of_rows + of_nodes + of_leaves + size.threads * histogram(size, tree)


def lanes(size: Size) -> int:
    return (size.K + LANES) // LANES * LANES


def lane_tree(size: Size, tree: TreeSize, own: int) -> float:
    """Trees with sums for each class; `own` numbers of each row."""
    one = 4 * size.places * lanes(size)
    at_once = tree.leaves + 8.0
    if not size.is_sparse:  # nodes of few rows have no histograms
        at_once = min(at_once, size.n * 4 * size.columns / (size.places * lanes(size)) + 10)
    return size.n * (4 * own + 32) + min(at_once * one, HELD + 10 * one)
