"""An upper bound of the memory of a fit: the arrays of the core and of Python, counted."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from .._auto.portfolio import Planned
from .._boosting.base import SHARE_AT_A_TIME
from .._boosting.threads import n_threads
from .._data.features import MOST_BINS
from .._data.parts import n_held_out_parts
from .._families.abc import ABCBooster
from .._families.logistic import LogisticBooster, auto_leaf_size
from .._families.voting import VotingBooster
from .._ground import params as p
from .._ground.errors import InvalidParameterError
from ..adaboost_mh import AdaBoostMHClassifier
from ..aoso_logitboost import AOSOLogitBoostClassifier
from ..auto_boost import AutoBoostClassifier
from ..martiboost import MartiBoostClassifier
from ..newton_boost import NewtonBoostClassifier
from ..ordinal_boost import OrdinalBoostClassifier
from ..samme import SAMMEClassifier

SLACK = 1.1  # what the allocator cannot reuse
FIXED = 4 * 2**20  # of a process, whatever the data
HELD = 2**28  # bytes of histograms that a core's grower keeps
BLOCK = 2**14  # places of a block of the binned data
LANES = 8  # sums that a vector holds
LISTED = 512  # classes on the list of a row, at most
MOVED = 256  # classes that a leaf moves, at most, where rows have lists
ROUNDS_OF_MEMBER = 200  # of AutoBoost, more than most have

_RULES: dict[str, p.Rule] = {
    "n_rows": p.integer(1, p.WHOLE),
    "n_features": p.integer(1, p.WHOLE),
    "n_classes": p.integer(2, p.WHOLE),
    "density": p.real(0.0, 1.0),
}


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
        """Of a histogram; features that differ little in bins are given as many."""
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


def estimate_memory(
    n_rows: int,
    n_features: int,
    n_classes: int,
    *,
    estimator: Any = None,
    density: float = 1.0,
    dtype: DTypeLike = np.float64,
) -> int:
    """Estimate an upper bound of the memory that `fit` takes, besides X and y.

    Parameters
    ----------
    n_rows : int
        Number of rows. With soft labels a row counts once for every class that is possible.
    n_features : int
        Number of columns.
    n_classes : int
        Number of classes.
    estimator : estimator, default=None
        Estimator of this library with its parameters. None is
        ``AOSOLogitBoostClassifier()``.
    density : float, default=1.0
        Share of the entries of X that are stored; below 1 for a sparse matrix.
    dtype : dtype, default=numpy.float64
        Type of the numbers of X.

    Returns
    -------
    int
        Bytes: a bound for a NumPy array of a type that is read in place, or for a SciPy CSR matrix.
        A data frame with columns of several types is first made one array, which takes 8 bytes more
        for each value. Validation rows count as rows, if they are given.

    Examples
    --------
    >>> from edgewise import estimate_memory
    >>> estimate_memory(100_000, 50, 10) < 500_000_000
    True
    """
    given = {"n_rows": n_rows, "n_features": n_features, "n_classes": n_classes, "density": density}
    p.check("estimate_memory", given, _RULES)
    estimator = AOSOLogitBoostClassifier() if estimator is None else estimator
    if isinstance(estimator, AutoBoostClassifier):
        return _of_members(estimator, n_rows, n_features, n_classes, density, dtype)
    if not isinstance(estimator, LogisticBooster | VotingBooster | MartiBoostClassifier):
        raise InvalidParameterError(
            "The 'estimator' parameter of estimate_memory must be a booster of edgewise. Got "
            f"{type(estimator).__name__}."
        )
    entries = density * n_rows * n_features
    work = entries * n_classes
    size = Size(
        n_rows,
        n_features,
        n_classes,
        entries,
        density < 1.0,
        np.dtype(dtype).itemsize,
        max(estimator.max_bins, 254),
        n_threads(estimator.n_jobs, int(work)),
    )
    total = _of_fit(size, estimator)
    if not isinstance(estimator, MartiBoostClassifier) and estimator._searches_rounds(n_rows):
        total = max(total + size.copy_of_x, _of_trials(size, estimator))
    return int(SLACK * total) + FIXED


def _of_fit(size: Size, estimator: Any) -> float:
    growing = binned(size) + state(size, estimator)
    return labels(size) + max(binning(size), growing) + trees(size, estimator)


def _of_trials(size: Size, estimator: Any) -> float:
    """Trials that find the number of rounds, side by side, each with a copy of its rows."""
    share = estimator._share(SHARE_AT_A_TIME)
    one = binned(size) + state(size, estimator) + size.copy_of_x
    return labels(size) + n_held_out_parts(size.n, share) * one + binning(size)


def _of_members(
    auto: AutoBoostClassifier,
    n_rows: int,
    n_features: int,
    n_classes: int,
    density: float,
    dtype: DTypeLike,
) -> int:
    """Members that are fitted at a time, out-of-fold scores, and the models of all."""
    members = [planned for stage in auto.stages() for planned in stage.members]
    work = int(density * n_rows * n_features * n_classes * len(members))
    at_a_time = min(n_threads(auto.n_jobs, work), len(members))

    def one(planned: Planned) -> int:
        booster = planned.setting.booster(n_rows, n_estimators=ROUNDS_OF_MEMBER, n_jobs=1)
        return estimate_memory(
            n_rows, n_features, n_classes, estimator=booster, density=density, dtype=dtype
        )

    size_of = [one(planned) for planned in members]
    out_of_fold = 8 * n_rows * n_classes * (6 + len(auto.stages()))
    order = 2 * density * n_rows * n_features * np.dtype(dtype).itemsize
    return int(at_a_time * max(size_of) + sum(size_of) / 4 + out_of_fold + order) + FIXED


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


def state(size: Size, estimator: Any) -> float:
    """Return the bytes of the state of a fit and of growing a tree."""
    leaves = _leaves(size, estimator)
    if isinstance(estimator, AOSOLogitBoostClassifier):
        if estimator._layout(size.K) == "lists":
            return _lists(size, estimator, leaves)
        return _posterior(size) + _pair_tree(size, estimator)
    if isinstance(estimator, NewtonBoostClassifier | OrdinalBoostClassifier):
        ordinal = isinstance(estimator, OrdinalBoostClassifier)
        # Without what the loss of Newton boosting allocates inside.
        columns, trees = (12, 1) if ordinal else (9, size.K)
        return columns * 8 * size.n * size.K + _class_trees(size, estimator, leaves, trees)
    if isinstance(estimator, LogisticBooster):
        at_once = size.K * (size.K - 1) / 2 if isinstance(estimator, ABCBooster) else size.K
        return _posterior(size) + _class_trees(size, estimator, leaves, at_once)
    if isinstance(estimator, MartiBoostClassifier):
        walk = 8 * size.n * 4 * (estimator.n_layers + 1)
        return walk + _class_trees(size, estimator, leaves, 1)
    return _voting_state(size, estimator, leaves)


def _voting_state(size: Size, estimator: Any, leaves: int) -> float:
    votes = 8 * size.n * size.K
    if isinstance(estimator, SAMMEClassifier):
        short_fit = size.copy_of_x + size.n * (64 + 16 * size.K)
        return 96 * size.n + short_fit + _lane_tree(size, leaves, own=1)
    if not isinstance(estimator, AdaBoostMHClassifier):  # soft-max boosting
        return 9 * votes + _class_trees(size, estimator, leaves, size.K)
    weights = 80 * size.n + size.n * size.K * 4 + 3 * votes
    if estimator.base == "one_vs_all":
        return weights + _class_trees(size, estimator, leaves, size.K)
    return weights + _lane_tree(size, leaves, own=_lanes(size))


def trees(size: Size, estimator: Any) -> float:
    """The model, of which there are two copies and room to grow when it is done."""
    if isinstance(estimator, MartiBoostClassifier):
        rounds, of_round = int(estimator.n_layers), estimator.n_layers / 2 + 1
        return 3.0 * rounds * of_round * _leaves(size, estimator) * (66 + 12)
    rounds, of_round, width = int(estimator._n_rounds()), float(size.K), 1
    if isinstance(estimator, AOSOLogitBoostClassifier):
        listed = MOVED if estimator._layout(size.K) == "lists" else size.K
        of_round, width = 1, listed if estimator.leaf == "vector" else 2
    elif isinstance(estimator, SAMMEClassifier):
        of_round = 1
    elif isinstance(estimator, AdaBoostMHClassifier) and estimator.base != "one_vs_all":
        of_round, width = 1, size.K
    return 3 * rounds * of_round * _leaves(size, estimator) * (66 + 12 * width)


# --- parts of the state -----------------------------------------------------------------------


def _leaves(size: Size, estimator: Any) -> int:
    """Leaves that a tree can have."""
    limit = 8 if estimator.max_leaf_nodes is None else estimator.max_leaf_nodes
    if hasattr(estimator, "_leaf_limit"):
        limit = estimator._leaf_limit(size.n, size.K)
    by_depth = 2 ** min(estimator.max_depth or 16, 16)
    by_rows = max(1, size.n // _least_rows(size, estimator))
    return int(min(limit or 65535, by_depth, by_rows))


def _least_rows(size: Size, estimator: Any) -> int:
    """Rows of a leaf, at least."""
    given = estimator.min_samples_leaf
    return auto_leaf_size(size.n, 0) if given == "auto" else int(given)


def _histogram(size: Size, estimator: Any) -> float:
    return size.places * (8 if _least_rows(size, estimator) == 1 else 16)


def _posterior(size: Size) -> float:
    return size.n * (28 + 8 * size.K)


def _class_trees(size: Size, estimator: Any, leaves: int, at_once: float) -> float:
    """Trees from two numbers for each row: threads take whole trees."""
    threads = min(size.threads, at_once) if at_once > 1 else size.threads
    one = _histogram(size, estimator)
    histograms = min(threads * (leaves + 2) * one, HELD + (2 * threads + 2) * one)
    return threads * 52 * size.n + 2 * at_once * size.n + histograms


def _pair_tree(size: Size, estimator: Any) -> float:
    stride = -(-size.K // LANES) * LANES
    return size.n * (4 * stride + 16 + 32 * size.threads) + size.threads * _histogram(
        size, estimator
    )


def _lists(size: Size, estimator: Any, leaves: int) -> float:
    """Rows with lists of classes; sums of every class for all nodes and, by thread, leaves."""
    of_rows = size.n * (48 + 12 * LISTED + 32 * size.threads)
    of_nodes = 2 * leaves * 40 * size.K
    of_leaves = (size.threads + 2) * leaves * 16 * (size.K + 1 if estimator.leaf == "vector" else 1)
    return of_rows + of_nodes + of_leaves + size.threads * _histogram(size, estimator)


def _lanes(size: Size) -> int:
    return (size.K + LANES) // LANES * LANES


def _lane_tree(size: Size, leaves: int, own: int) -> float:
    """Trees with sums for each class; `own` numbers of each row."""
    one = 4 * size.places * _lanes(size)
    at_once = leaves + 8.0
    if not size.is_sparse:  # nodes of few rows have no histograms
        at_once = min(at_once, size.n * 4 * size.columns / (size.places * _lanes(size)) + 10)
    return size.n * (4 * own + 32) + min(at_once * one, HELD + 10 * one)
