"""Training and validation rows: arrays, and the methods that fits need."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._ground.errors import InvalidDataError
from .chance import row_keys
from .sparse import Matrix
from .targets import Labels, Relevant
from .weights import Weights, product, scaled

NOTHING_TO_HOLD_OUT = (
    "early_stopping=True needs a class with two different rows or more to hold some out for "
    "validation. Every class has one: give X_val and y_val."
)


class Group(NamedTuple):
    """Groups of the categories of a column with many categories; see ``groups``."""

    feature: int
    own: Weights  # categories with a bin of their own, ascending
    values: Weights  # all categories, ascending
    group: NDArray[np.uint8]  # their groups
    codes: NDArray[np.uint8]  # (n): groups of the training rows, n_groups where missing
    stand_in: Weights  # (n_groups): a category of each without a separate bin


class Rows(NamedTuple):
    """Training or validation rows."""

    X: Matrix  # (n, d)
    codes: Labels  # (n): place of the label among the classes; zeros if there may be several
    weights: Weights | None  # (n), or None if all rows weigh the same
    relevant: Relevant | None = None  # (n, n_labels): the labels, if several are allowed
    costs: Weights | None = None  # (n, n_classes): cost of each prediction, if given row by row
    soft: Weights | None = None  # (n, n_classes): probabilities of the label, until `expanded`
    copies: float = 1.0  # copies of each given row, by `expanded`
    groups: tuple[Group, ...] = ()
    weight_unit: float = 1.0  # a weight of one in the user's units

    def take(self, which: NDArray[Any]) -> "Rows":
        """Some of the rows, without groups, which depend on all rows."""
        parts = (None if part is None else part[which] for part in self[:6])
        return Rows(*parts)._replace(  # type: ignore[arg-type]
            copies=self.copies, weight_unit=self.weight_unit
        )

    def in_own_order(self) -> "Rows":
        """The rows ordered by content, so that sums over them do not depend on the input order."""
        labels = (self.codes, self.weights, self.relevant, self.soft)
        keys = row_keys(self.X, *(part for part in labels if part is not None))
        return self.take(np.argsort(keys, kind="stable"))

    @property
    def n_given(self) -> int:
        """Number of rows without copies."""
        return round(len(self.codes) / self.copies)

    @property
    def row_weight(self) -> float:
        """Return the weight that counts as one row; see `weight_of_a_row`."""
        if self.weights is None:
            return 1.0
        return weight_of_a_row(math.fsum(self.weights) / len(self.weights), self.weight_unit)

    def leaf_size(self, min_samples_leaf: int) -> int:
        """The least number of rows, with copies, of a leaf that needs `n` given rows."""
        return 1 if min_samples_leaf == 1 else round(min_samples_leaf * self.copies)

    def expanded(self) -> "Rows":
        """The rows; with soft labels, a copy of a row for each class of positive probability."""
        if self.soft is None:
            return self
        row, code = np.nonzero(self.soft > 0)
        times = self.soft[row, code]
        weights = times
        if self.weights is not None:
            weights = product(self.weights[row], times, "sample_weight times y")
        once = np.array_equal(row, np.arange(len(self.codes)))  # every row has one label
        rows = (self if once else self.take(row))._replace(
            codes=code.astype(np.int32), soft=None, copies=len(row) / len(self.codes)
        )
        if once and (weights == 1.0).all():
            return rows._replace(weights=None)
        weights, unit = scaled(weights)
        return rows._replace(weights=weights, weight_unit=self.weight_unit * unit)

    def signs(self, n_classes: int) -> NDArray[np.int8]:
        """y_il = +1 if row i has label l, else -1: (n, n_classes)"""
        relevant = self.relevant
        if relevant is None:
            relevant = self.codes[:, np.newaxis] == np.arange(n_classes)
        return np.where(relevant, np.int8(1), np.int8(-1))

    def engine(self, estimator: Any, start: Weights) -> Any:
        """The state of a fit on these rows, with scores `start`."""
        return estimator._engine(self, start)

    def watchers(self) -> list[Any]:
        """Return the watchers that this kind of rows needs: none."""
        return []

    def without_negligible(self) -> "Rows":
        """Drops rows lighter than 2^-23 of the heaviest: the resolution of the statistics."""
        if self.weights is None:
            return self
        heavy = self.weights >= self.weights.max() * 2.0**-23
        return self if heavy.all() else self.take(heavy)

    def split(self, fraction: float, random_state: Any) -> tuple["Rows", "Rows"]:
        """Training and validation rows, drawn class by class."""
        train, held = held_out(self.codes, fraction, random_state)
        return self.take(train), self.take(held)

    def class_weights(self, n_classes: int) -> Weights:
        """Total weight of each class, exactly rounded: the order of the rows does not matter."""
        w, codes = self.weights, self.codes
        if w is None:
            return np.bincount(codes, minlength=n_classes).astype(np.float64)
        return np.array([math.fsum(w[codes == k]) for k in range(n_classes)])

    def class_rows(self, n_classes: int) -> NDArray[np.int64]:
        """Rows of each class, regardless of weight; with soft labels, rows that may have it."""
        return np.bincount(self.codes, minlength=n_classes)

    def shares(self) -> Weights:
        """Each row's share of the total weight."""
        if self.weights is None:
            return np.full(len(self.X), 1.0 / len(self.X))
        return self.weights / math.fsum(self.weights)


def held_out(
    codes: Labels, fraction: float, random_state: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers for training and validation; both sets are non-empty."""
    train, held = stratified_split(codes, fraction, random_state)
    if len(held) == 0:
        raise InvalidDataError(NOTHING_TO_HOLD_OUT)
    return train, held


def weight_of_a_row(mean: float, unit: float) -> float:
    """Return the weight that counts as one row, from the mean weight and the user's unit.

    Weights represent repeated rows, unless they are shares of a whole.
    """
    return min(mean, 1.0 / unit)


def stratified_split(
    codes: Labels, fraction: float, random_state: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers for training and validation, class by class.

    Every class with two rows or more has rows on both sides; a class of one row stays in training.
    """
    rng = check_random_state(random_state)
    train, held = [], []
    of_classes = np.split(
        np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]
    )  # rows of each class, ascending
    for of_class in of_classes:
        rows = rng.permutation(of_class)
        n_held = min(len(rows) - 1, max(1, round(fraction * len(rows)))) if len(rows) else 0
        held.append(rows[:n_held])
        train.append(rows[n_held:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(held))
