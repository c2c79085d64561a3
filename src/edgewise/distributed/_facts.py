"""Facts about all rows that no single block has: classes, weights, cut points.

One pass over the raw data finds them (two if rows have weights); cut points of columns with very
many values need a few more passes. Another pass bins the rows, after which the raw data is no
longer needed. Empty blocks, and blocks that lack a class, cause no problem: every fact is a sum, a
maximum or a set.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from .._data import features, targets
from .._data.chance import row_keys
from .._data.sparse import Matrix, SparseRows, sound
from .._ground.errors import InvalidDataError
from ._block import Block
from ._exact import exact_sum

Array = NDArray[Any]
Ranges = list[list[int]]  # for each column: first and last keys of ranges of values
LIGHTEST = 2.0**-23  # of the heaviest: lighter rows are dropped, as in a local fit


class Raw(NamedTuple):
    """One part of the user's data, as it came."""

    X: Any
    y: Any
    weights: Any

    def take(self, which: NDArray[np.bool_]) -> "Raw":
        """Some of the rows."""
        weights = None if self.weights is None else row_weights(self.weights)[which]
        return Raw(plain(matrix(self.X)[which]), _labels(self.y)[which], weights)


def plain(X: Matrix) -> Any:
    """Return a copy that can be sent."""
    return X.scipy() if isinstance(X, SparseRows) else X


def matrix(X: Any) -> Matrix:
    """Numbers in a type the core reads."""
    if sparse.issparse(X):
        return SparseRows.of(sound(X))
    if hasattr(X, "to_numpy") and hasattr(X, "columns"):  # a data frame
        return np.ascontiguousarray(X.to_numpy(dtype=np.float64, na_value=np.nan))
    array = np.asarray(X)
    if array.dtype.kind not in "fiub":
        raise InvalidDataError(
            f"X must hold numbers only on Dask; encode text. Got blocks of {array.dtype}."
        )
    return features.readable(array)


def _labels(y: Any) -> Array:
    vector = np.asarray(y)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1:
        raise InvalidDataError(
            "y must be a vector of labels on Dask; an indicator matrix can be learned from "
            f"locally only. Got blocks of {vector.ndim} dimensions."
        )
    return targets.labels(vector, "y") if len(vector) else vector


def row_weights(weights: Any) -> NDArray[np.float64]:
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or not np.all(np.isfinite(w)) or np.any(w < 0):
        raise InvalidDataError(
            "sample_weight must be a vector of finite numbers that are not negative. Got a block "
            f"of shape {w.shape}" + (f" with {w.min():g}." if w.ndim == 1 and len(w) else ".")
        )
    return w


@dataclass
class PartFacts:
    """The facts of a first look at a part; two looks can be added."""

    n_features: int
    labels: Array  # distinct, ascending
    counts: Array  # rows of each
    heaviest: Array  # largest weight of each, 1 where there are none
    summary: _core.Summary | None


def most_values(n_features: int) -> int:
    """Values of a column that a summary lists, so that all columns take some 32 MB."""
    return min(65536, max(4096, (1 << 21) // max(n_features, 1)))


def _summary(
    X: Matrix,
    weights: NDArray[np.float64] | None,
    largest: float,
    n_threads: int,
    within: Ranges | None = None,
) -> _core.Summary:
    n_counted = X.shape[1] if within is None else sum(map(bool, within))
    return _core.Summary(X, weights, largest, n_threads, most_values(n_counted), within)


def part_facts(raw: Raw, summarise: bool, n_threads: int) -> PartFacts:
    X, y = matrix(raw.X), _labels(raw.y)
    if len(X.shape) != 2 or len(X) != len(y):
        raise InvalidDataError(
            "X must have two dimensions, and every block of X as many rows as that of y. "
            f"Got blocks of shape {X.shape} and {y.shape}."
        )
    w = np.ones(len(y)) if raw.weights is None else row_weights(raw.weights)
    if len(w) != len(y):
        raise InvalidDataError(
            "sample_weight must have one number per row, block by block. Got blocks of "
            f"{len(w)} weights and {len(y)} rows."
        )
    labels, place = targets.distinct_labels(y)
    heaviest = np.zeros(len(labels))
    np.maximum.at(heaviest, place, w)
    counts = np.bincount(place, minlength=len(labels))
    summary = _summary(X, None, 1.0, n_threads) if summarise else None
    return PartFacts(X.shape[1], labels, counts, heaviest, summary)


def add_part_facts(a: PartFacts, b: PartFacts) -> PartFacts:
    if a.n_features != b.n_features:
        raise InvalidDataError(
            f"All blocks of X must have the same columns. Got {a.n_features} and {b.n_features}."
        )
    if len(a.labels) == 0 or len(b.labels) == 0:  # the type of an empty block's labels says nothing
        full = a if len(b.labels) == 0 else b
        labels, counts, heaviest = full.labels, full.counts, full.heaviest
    else:
        labels, place = targets.distinct_labels(np.concatenate([a.labels, b.labels]))
        counts = np.zeros(len(labels), dtype=np.int64)
        heaviest = np.zeros(len(labels))
        np.add.at(counts, place, np.concatenate([a.counts, b.counts]))
        np.maximum.at(heaviest, place, np.concatenate([a.heaviest, b.heaviest]))
    summary = None
    if a.summary is not None and b.summary is not None:
        summary = a.summary.merged(b.summary)
    return PartFacts(a.n_features, labels, counts, heaviest, summary)


class Recipe(NamedTuple):
    """The conversion of a part of the raw data to rows: codes of labels, and weights, if any."""

    classes: Array
    labels: Array  # all that occur, those of rows without weight too
    factors: NDArray[np.float64] | None  # class weights of the labels, or None: no weights at all
    shift: int  # weights are multiplied by 2^shift: the largest is in [1/2, 1)
    largest: float  # weight, then
    keyed: bool  # whether rows have keys, by which some are drawn

    def class_factors(self) -> NDArray[np.float64]:
        """Of the classes, (n_classes)."""
        if self.factors is None:
            return np.ones(len(self.classes))
        return self.factors[np.isin(self.labels, self.classes)]

    def rows(self, raw: Raw) -> tuple[Matrix, Array, NDArray[np.float64] | None]:
        """X, codes and weights of the rows of positive weight."""
        X, y, w = matrix(raw.X), _labels(raw.y), self._scaled(raw)
        if w is None:
            return X, targets.encode(self.classes, y, "y"), None
        present = w > 0
        return X[present], targets.encode(self.classes, y[present], "y"), w[present]

    def heavy_rows(self, raw: Raw) -> tuple[Matrix, Array, NDArray[np.float64] | None]:
        """The same without those that are too light."""
        X, codes, w = self.rows(raw)
        if w is None:
            return X, codes, None
        heavy = w >= self.largest * LIGHTEST
        return X[heavy], codes[heavy], np.ascontiguousarray(w[heavy])

    def of_heaviest(self, heaviest: Array) -> "Recipe":
        """For rows whose heaviest are these, label by label, class weights not counted."""
        if self.factors is None:
            return self
        largest = np.ldexp((heaviest * self.factors).max(), self.shift)
        return self._replace(largest=float(largest))

    def present(self, raw: Raw) -> NDArray[np.bool_]:
        """Return a mask of the rows with positive weight."""
        w = self._scaled(raw)
        return np.ones(len(_labels(raw.y)), dtype=bool) if w is None else w > 0

    def _scaled(self, raw: Raw) -> NDArray[np.float64] | None:
        if self.factors is None:
            return None
        y = _labels(raw.y)
        w = np.ones(len(y)) if raw.weights is None else row_weights(raw.weights)
        return np.ldexp(w * self.factors[np.searchsorted(self.labels, y)], self.shift)


@dataclass
class WeightFacts:
    """The facts of the second look, if rows have weights."""

    class_rows: NDArray[np.int64]  # that are not too light
    class_sums: list[int]  # exact sums of weights, of the light ones too
    weight_sum: int  # the same, of those that are not too light
    summary: _core.Summary


def weight_facts(raw: Raw, recipe: Recipe, weighted_cuts: bool, n_threads: int) -> WeightFacts:
    X, codes, w = recipe.rows(raw)
    assert w is not None
    class_sums = [exact_sum(w[codes == k]) for k in range(len(recipe.classes))]
    heavy = w >= recipe.largest * LIGHTEST
    w = np.ascontiguousarray(w[heavy])
    summary = _summary(X[heavy], w if weighted_cuts else None, recipe.largest, n_threads)
    class_rows = np.bincount(codes[heavy], minlength=len(recipe.classes))
    return WeightFacts(class_rows, class_sums, exact_sum(w), summary)


def add_weight_facts(a: WeightFacts, b: WeightFacts) -> WeightFacts:
    return WeightFacts(
        a.class_rows + b.class_rows,
        [x + y for x, y in zip(a.class_sums, b.class_sums, strict=True)],
        a.weight_sum + b.weight_sum,
        a.summary.merged(b.summary),
    )


def summary_within(
    raw: Raw, recipe: Recipe, weighted_cuts: bool, n_threads: int, within: Ranges
) -> _core.Summary:
    """A summary of the values in some ranges only, in which cuts may lie."""
    X, _, w = recipe.heavy_rows(raw)
    return _summary(X, w if weighted_cuts else None, recipe.largest, n_threads, within)


def bin_part(raw: Raw, recipe: Recipe, cuts: _core.Cuts, n_threads: int) -> Block:
    """A part of the raw data as a block."""
    X, codes, w = recipe.heavy_rows(raw)
    keys = row_keys(X, codes) if recipe.keyed else None
    return Block(cuts, _core.bin_rows(X, cuts, n_threads), codes, w, keys)
