"""The rows of a fit that are elsewhere: they stand where local rows stand in ``_boosting.base``."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .. import _core
from .._boosting import constraints
from .._boosting.base import SHARE_FOR_GOOD
from .._boosting.loop import Watcher
from .._boosting.sampling import Draws, seed_of
from .._boosting.threads import n_threads
from .._data import features, targets
from .._data.groups import MOST
from .._data.rows import Rows, weight_of_a_row
from .._data.weights import Weights, class_factors, product, unit_of
from .._families.vote_grower import negligible_weight
from .._ground.errors import InvalidDataError
from .._model.model import Scores
from ._backend import Backend
from ._block import Answer, Array, Block, add_answers
from ._disk import PieceParts
from ._exact import rounded
from ._facts import (
    PartFacts,
    Recipe,
    WeightFacts,
    add_part_facts,
    add_weight_facts,
    bin_part,
    part_facts,
    summary_within,
    weight_facts,
)
from ._holdout import split
from ._logistic import LogisticEngine, LogisticState
from ._mh import MHState, RemoteMHEngine, initial_facts, log_odds
from ._progress import TrafficWatcher

MOST_ROWS = 2**30  # statistics are integers of 32 bits, and every row may have a unit


class Shape(NamedTuple):
    """The shape of X, as far as a fit needs it."""

    shape: tuple[int, int]

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]


class Weight(NamedTuple):
    """The total weight, and the number of rows of each class."""

    of_class: Weights
    class_rows: NDArray[np.int64]
    largest: float | None  # of a row; None: rows have no weights
    total: float
    unit: float  # what a weight of one is in the user's weights
    factors: Weights  # class weights


class RemoteRows:
    """Rows in blocks, binned."""

    def __init__(
        self,
        backend: Backend,
        blocks: Sequence[Any],
        cuts: _core.Cuts,
        *,
        shape: tuple[int, int],
        weight: "Weight",
        watchers: list[Watcher],
    ) -> None:
        self.X = Shape(shape)
        self.weights = None  # they are in the blocks, as is all that belongs to single rows
        self.groups: tuple[Any, ...] = ()
        self.backend = backend
        self.blocks = blocks
        self.cuts = cuts
        self.largest_weight = weight.largest
        self.weight_sum = weight.total
        self.weight_unit = weight.unit
        self._class_sums = weight.of_class
        self._class_rows = weight.class_rows
        self.class_factors = weight.factors
        self._watchers = watchers
        self.loss_before: float | None = None  # of the checkpoint to resume from
        self.copies = 1.0  # rows for each row that was given, with soft labels

    @property
    def n_given(self) -> int:
        return round(len(self.X) / self.copies)

    @property
    def row_weight(self) -> float:
        return weight_of_a_row(self.weight_sum / len(self.X), self.weight_unit)

    def leaf_size(self, min_samples_leaf: int) -> int:
        return 1 if min_samples_leaf == 1 else round(min_samples_leaf * self.copies)

    def class_weights(self, n_classes: int) -> Weights:
        return self._class_sums

    def class_rows(self, n_classes: int) -> NDArray[np.int64]:
        return self._class_rows

    def without_negligible(self) -> "RemoteRows":
        return self  # they were never taken in

    def watchers(self) -> list[Watcher]:
        return self._watchers

    def engine(self, estimator: Any, start: Scores) -> Any:
        """The state of a fit on these rows."""
        engine = ENGINES[estimator._state_elsewhere](self, estimator, start)
        engine.loss_before = self.loss_before
        for watcher in self._watchers:
            if isinstance(watcher, TrafficWatcher):
                watcher.traffic = engine.traffic
        return engine


def _logistic_engine(rows: RemoteRows, estimator: Any, start: Scores) -> LogisticEngine:
    n, d = rows.X.shape
    n_classes = len(start)
    largest = 1.0 if rows.largest_weight is None else rows.largest_weight
    options = {
        "start": np.ascontiguousarray(start),
        "layout": estimator._layout(n_classes),
        "n_total": n,
        "n_features": d,
        "limits": estimator._limits(rows, n_classes) | {"negligible": 1 / 64},
        "n_threads": rows.backend.n_threads,
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
        draws=Draws(d, **estimator._drawing()),
    )


def _mh_engine(rows: RemoteRows, estimator: Any, start: Scores) -> RemoteMHEngine:
    n, d = rows.X.shape
    n_classes = len(start)
    limits = estimator._limits(rows, n_classes) | constraints.interactions(estimator).limits()
    options = {
        "start": np.ascontiguousarray(start),
        "n_total": n,
        "n_features": d,
        "limits": limits | {"negligible": negligible_weight(n)},
        "weight_sum": rows.weight_sum,
        "initial": estimator.initial_weights,
        "n_threads": rows.backend.n_threads,
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
        draws=Draws(d, **estimator._drawing(seed_of(estimator.random_state))),
    )


ENGINES: dict[str, Callable[[RemoteRows, Any, Scores], Any]] = {
    "posterior": _logistic_engine,
    "label weights": _mh_engine,
}


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
    hold_out: bool,
    watchers: list[Watcher],
) -> tuple[RemoteRows, NDArray[Any], Rows | None]:
    """Rows, classes and, if asked for, rows held out, from handles of raw parts."""
    weighted = weighted or estimator.class_weight is not None
    votes = estimator._state_elsewhere == "label weights"  # cuts do not depend on weights
    summarise = not weighted
    threads = backend.n_threads
    facts: PartFacts = backend.sum(
        part_facts, parts, summarise and not hold_out, threads, add=add_part_facts
    )
    need_rows(facts, estimator)
    recipe = _recipe(facts, estimator, weighted=weighted)
    targets.need_two_classes(recipe.classes, type(estimator).__name__)
    validation = None
    if hold_out:
        drawing = (estimator._share(SHARE_FOR_GOOD), estimator.random_state)
        parts, validation = split(backend, parts, recipe, *drawing)
        facts = backend.sum(part_facts, parts, summarise, threads, add=add_part_facts)
        recipe = recipe.of_heaviest(facts.heaviest)
    categorical = features.columns_of(estimator.is_categorical_)
    n, summary, sums, largest = int(facts.counts.sum()), facts.summary, facts.counts, None
    class_rows, weight_sum = facts.counts, float(n)
    if weighted:
        asked = (recipe, not votes, threads)
        weighed: WeightFacts = backend.sum(weight_facts, parts, *asked, add=add_weight_facts)
        n, summary, largest = int(weighed.class_rows.sum()), weighed.summary, recipe.largest
        sums = np.array([rounded(total) for total in weighed.class_sums])
        class_rows, weight_sum = weighed.class_rows, rounded(weighed.weight_sum)
    assert summary is not None
    if n >= MOST_ROWS:
        raise InvalidDataError(f"At most {MOST_ROWS - 1} rows can be fitted. Got {n}.")
    _need_few_categories(summary, categorical, type(estimator).__name__)
    search = _core.CutSearch(summary, estimator.max_bins, categorical)
    cuts = _found(search, backend, parts, (recipe, weighted and not votes, threads))
    blocks = backend.map(bin_part, parts, recipe, cuts, threads)
    unit = unit_of(-recipe.shift)
    rows = RemoteRows(
        backend,
        blocks,
        cuts,
        shape=(n, facts.n_features),
        weight=Weight(
            np.asarray(sums, dtype=np.float64),
            class_rows,
            largest,
            weight_sum,
            unit,
            recipe.class_factors(),
        ),
        watchers=watchers,
    )
    return rows, recipe.classes, validation


def _found(
    search: _core.CutSearch, backend: Backend, parts: Sequence[Any], asked: tuple[Any, ...]
) -> _core.Cuts:
    """The cuts, after as many finer looks as it takes."""
    while any(within := search.open()):
        wanted = [j for j, ranges in enumerate(within) if ranges]
        some: Any = parts.reading(wanted) if isinstance(parts, PieceParts) else parts
        finer = backend.sum(summary_within, some, *asked, within, add=_core.Summary.merged)
        try:
            search.take(finer)
        except ValueError as error:
            raise InvalidDataError(f"A fit reads its rows several times: {error}.") from None
    return search.cuts()


def need_rows(facts: PartFacts, estimator: BaseEstimator) -> None:
    if len(facts.labels) == 0 or facts.n_features == 0:
        n, d = int(facts.counts.sum()), facts.n_features
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
                f"rows that are not in memory. Column {j} has {summary.n_distinct(j)} or more."
            )


def _recipe(facts: PartFacts, estimator: Any, *, weighted: bool) -> Recipe:
    keyed = getattr(estimator, "subsample", 1.0) < 1.0
    if not weighted:
        return Recipe(facts.labels, facts.labels, None, 0, 1.0, keyed)
    factors = _class_factors(facts, estimator.class_weight)
    heaviest = product(facts.heaviest, factors, "sample_weight times class_weight")
    if not heaviest.max() > 0:
        raise InvalidDataError(
            "sample_weight must hold at least one positive weight. All weights are zero."
        )
    if factors.min() < 0:
        raise InvalidDataError(
            f"class_weight must not be negative. Got {factors.min():g} for the class "
            f"{facts.labels[factors.argmin()]}."
        )
    shift = -int(np.frexp(heaviest.max())[1])
    classes: Array = facts.labels[heaviest > 0]
    recipe = Recipe(classes, facts.labels, factors, shift, 1.0, keyed)
    return recipe.of_heaviest(facts.heaviest)


def _class_factors(facts: PartFacts, class_weight: Any) -> Weights:
    """Weights of the classes as scikit-learn has them."""
    if class_weight is None:
        return np.ones(len(facts.labels))
    counts = facts.counts.astype(np.float64)
    if isinstance(class_weight, str):  # "balanced"
        return np.asarray(counts.sum() / (len(counts) * counts))
    return class_factors(class_weight, facts.labels)
