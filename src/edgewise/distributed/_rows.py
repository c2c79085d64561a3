"""The rows of a fit that are elsewhere: they stand where local rows stand in ``_boosting.base``."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .. import _core
from .._boosting.loop import Watcher
from .._boosting.threads import n_threads
from .._data import features, targets
from .._data.groups import MOST
from .._data.weights import Weights, class_factors
from .._families.vote_grower import MANY_ROWS, NEGLIGIBLE
from .._ground.errors import InvalidDataError
from .._model.model import Scores
from ._backend import Backend
from ._block import Answer, Array, Block, add_answers
from ._checks import is_voting
from ._exact import rounded
from ._facts import (
    Look,
    Recipe,
    Weighed,
    add_looks,
    add_weighed,
    bin_part,
    first_look,
    second_look,
)
from ._logistic import LogisticEngine, LogisticState
from ._mh import MHState, RemoteMHEngine, initial_facts, log_odds
from ._progress import Teller

MOST_ROWS = 2**30  # statistics are integers of 32 bits, and every row may have a unit


class Shape(NamedTuple):
    """What is asked of X in a fit: how large it is."""

    shape: tuple[int, int]

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]


class RemoteRows:
    """Rows in blocks, binned."""

    def __init__(
        self,
        backend: Backend,
        blocks: Sequence[Any],
        cuts: _core.Cuts,
        *,
        shape: tuple[int, int],
        class_sums: Weights,
        largest_weight: float | None,
        weight_sum: float,
        watchers: list[Watcher],
    ) -> None:
        self.X = Shape(shape)
        self.weights = None  # they are in the blocks, as is all that belongs to single rows
        self.groups: tuple[Any, ...] = ()
        self.backend = backend
        self.blocks = blocks
        self.cuts = cuts
        self.largest_weight = largest_weight  # None: rows have no weights
        self.weight_sum = weight_sum
        self._class_sums = class_sums
        self._watchers = watchers

    def class_weights(self, n_classes: int) -> Weights:
        return self._class_sums

    def without_negligible(self) -> "RemoteRows":
        return self  # they were never taken in

    def watchers(self) -> list[Watcher]:
        return self._watchers

    def engine(self, estimator: Any, start: Scores) -> Any:
        """The state of a fit on these rows."""
        make = _mh_engine if is_voting(estimator) else _logistic_engine
        engine = make(self, estimator, start)
        for watcher in self._watchers:
            if isinstance(watcher, Teller):
                watcher.traffic = engine.traffic
        return engine


def _logistic_engine(rows: RemoteRows, estimator: Any, start: Scores) -> LogisticEngine:
    n, d = rows.X.shape
    n_classes = len(start)
    leaves = estimator._leaf_limit(n, n_classes)
    largest = 1.0 if rows.largest_weight is None else rows.largest_weight
    options = {
        "start": np.ascontiguousarray(start),
        "by_class": estimator._class_trees,
        "n_total": n,
        "n_features": d,
        "limits": (leaves, estimator.max_depth or 0, estimator.min_samples_leaf),
        "negligible": 1 / 64,
        "n_threads": 1,
        "cover_unit": _cover_unit(rows),
        "loss_unit": _core.loss_unit(n, largest),
    }
    return LogisticEngine(
        rows.backend,
        rows.blocks,
        LogisticState,
        options,
        cuts=rows.cuts,
        n_threads=n_threads(estimator.n_jobs, d * 256 * n_classes),
        total_weight=_total_weight(rows),
    )


def _mh_engine(rows: RemoteRows, estimator: Any, start: Scores) -> RemoteMHEngine:
    n, d = rows.X.shape
    n_classes = len(start)
    leaves = estimator._leaf_limit(n, n_classes)
    negligible = NEGLIGIBLE if n >= MANY_ROWS else 0.0
    options = {
        "start": np.ascontiguousarray(start),
        "n_total": n,
        "n_features": d,
        "limits": (leaves, estimator.max_depth or 0, estimator.min_samples_leaf),
        "weight_sum": rows.weight_sum,
        "initial": estimator.initial_weights,
        "negligible": negligible,
        "n_threads": 1,
        "cover_unit": _cover_unit(rows),
    }
    facts = rows.backend.sum(initial_facts, rows.blocks, n_classes, options, add=add_answers)
    estimator._log_odds = log_odds(facts)
    return RemoteMHEngine(
        rows.backend,
        rows.blocks,
        MHState,
        options,
        cuts=rows.cuts,
        n_threads=n_threads(estimator.n_jobs, d * 256 * n_classes),
        heaviest=float(facts.peaks[0][0]),
    )


def _cover_unit(rows: RemoteRows) -> float:
    largest = rows.largest_weight
    return 1.0 if largest is None else _core.sum_scale(len(rows.X), largest)


def _total_weight(rows: RemoteRows) -> float:
    """As a local fit has it: an exact sum in fixed point."""
    n = len(rows.X)
    if rows.largest_weight is None:
        return float(n)
    unit = _core.sum_scale(n, rows.largest_weight)
    answer = rows.backend.sum(_weight_sum, rows.blocks, unit, add=add_answers)
    return float(answer.sums[0][0]) / unit


def _weight_sum(block: Block, unit: float) -> Answer:
    weights = np.empty(0) if block.weights is None else block.weights
    return Answer([np.array([_core.sum_of_sizes(weights, unit)])])


# --- from raw parts to rows -----------------------------------------------------------------------


def gather_rows(
    estimator: Any,
    backend: Backend,
    parts: Sequence[Any],
    *,
    weighted: bool,
    watchers: list[Watcher],
) -> tuple[RemoteRows, NDArray[Any]]:
    """Rows and classes from handles of raw parts; the estimator learns of its columns."""
    weighted = weighted or estimator.class_weight is not None
    votes = is_voting(estimator)  # whose cuts do not depend on weights
    look: Look = backend.sum(first_look, parts, not weighted, add=add_looks)
    need_rows(look, estimator)
    recipe = _recipe(look, estimator, weighted=weighted)
    targets.need_two_classes(recipe.classes, type(estimator).__name__)
    categorical = features.columns_of(estimator.is_categorical_)
    n, summary, sums, largest = int(look.counts.sum()), look.summary, look.counts, None
    weight_sum = float(n)
    if weighted:
        weighed: Weighed = backend.sum(second_look, parts, recipe, not votes, add=add_weighed)
        n, summary, largest = weighed.n_rows, weighed.summary, recipe.largest
        sums = np.array([rounded(total) for total in weighed.class_sums])
        weight_sum = rounded(weighed.weight_sum)
    assert summary is not None
    if n >= MOST_ROWS:
        raise InvalidDataError(f"At most {MOST_ROWS - 1} rows can be fitted. Got {n}.")
    _need_few_categories(summary, categorical, type(estimator).__name__)
    cuts = _core.Cuts(summary, estimator.max_bins, categorical)
    blocks = backend.map(bin_part, parts, recipe, cuts)
    rows = RemoteRows(
        backend,
        blocks,
        cuts,
        shape=(n, look.n_features),
        class_sums=np.asarray(sums, dtype=np.float64),
        largest_weight=largest,
        weight_sum=weight_sum,
        watchers=watchers,
    )
    return rows, recipe.classes


def need_rows(look: Look, estimator: BaseEstimator) -> None:
    if len(look.labels) == 0 or look.n_features == 0:
        n, d = int(look.counts.sum()), look.n_features
        thing = "feature(s)" if n else "sample(s)"
        raise InvalidDataError(
            f"Found array with 0 {thing} (shape={(n, d)}) while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )


def _need_few_categories(summary: _core.Summary, categorical: list[int], owner: str) -> None:
    for j in categorical:
        if summary.n_distinct(j) > MOST:
            raise InvalidDataError(
                f"A categorical column may have at most {MOST} categories if {owner} is fitted on "
                f"Dask collections. Column {j} has {summary.n_distinct(j)}."
            )


def _recipe(look: Look, estimator: Any, *, weighted: bool) -> Recipe:
    if not weighted:
        return Recipe(look.labels, look.labels, None, 0, 1.0)
    factors = _class_factors(look, estimator.class_weight)
    heaviest = look.heaviest * factors
    if not heaviest.max() > 0:
        raise InvalidDataError(
            "sample_weight must hold at least one positive weight. All weights are zero."
        )
    if factors.min() < 0:
        raise InvalidDataError(
            f"class_weight must not be negative. Got {factors.min():g} for the class "
            f"{look.labels[factors.argmin()]}."
        )
    shift = -int(np.frexp(heaviest.max())[1])
    classes: Array = look.labels[heaviest > 0]
    return Recipe(classes, look.labels, factors, shift, float(np.ldexp(heaviest.max(), shift)))


def _class_factors(look: Look, class_weight: Any) -> Weights:
    """Weights of the classes as scikit-learn has them."""
    if class_weight is None:
        return np.ones(len(look.labels))
    counts = look.counts.astype(np.float64)
    if isinstance(class_weight, str):  # "balanced"
        return np.asarray(counts.sum() / (len(counts) * counts))
    return class_factors(class_weight, look.labels)
