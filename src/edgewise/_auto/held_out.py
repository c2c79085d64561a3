"""The rows of an AutoBoost fit, and which of them each stage holds out together."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.chance import distinct, row_keys
from .._data.rows import Rows
from .._data.targets import missing_labels
from .._data.weights import scaled
from .._ground.checks import need_unmasked
from .._ground.errors import FitWarning, InvalidDataError
from .folds import NEVER, Folds, dealt_folds, group_folds

FEW = 200  # rows up to which equal ones are one


class HeldOut(NamedTuple):
    """Rows ordered by content, so that sums do not depend on the order of the input."""

    rows: Rows  # with soft labels, copies
    place: NDArray[np.intp]  # (n_given): where each given row is, or the first of its copies
    of_stage: list[Folds]  # (n) each

    def always(self, stages: Sequence[int]) -> NDArray[np.bool_]:
        """Rows that every one of the stages holds out once, (n)."""
        return np.asarray(np.all([self.of_stage[s] != NEVER for s in stages], axis=0))


def held_out(
    rows: Rows, groups: NDArray[np.intp] | None, n_folds: Sequence[int], seed: int
) -> HeldOut:
    """The rows, cut into folds once for every entry of `n_folds`."""
    rows, first, place = _in_order(rows, groups)
    rows = rows._replace(weight_unit=1.0 / rows.row_weight)  # so regularisation fits any weights
    stages = []
    for number, n in enumerate(n_folds):
        if groups is None:
            stages.append(dealt_folds(rows.codes, n, seed + number))
        else:
            stages.append(group_folds(rows.codes, groups[first], n, seed + number))
    n_rows = len(rows.codes)
    copy_of = np.arange(n_rows) if rows.soft is None else np.nonzero(rows.soft > 0)[0]
    first_copy = np.searchsorted(copy_of, np.arange(n_rows))
    return HeldOut(rows.expanded(), first_copy[place], [folds[copy_of] for folds in stages])


def _in_order(
    rows: Rows, groups: NDArray[np.intp] | None
) -> tuple[Rows, NDArray[np.intp], NDArray[np.intp]]:
    """Order rows by content; return also the source of each row and the place of each given row.

    Equal rows remain separate and may be in different folds, because new rows repeat old ones as
    often as old ones repeat each other. In small tables a row that is both learned from and held
    out would distort the held-out loss: up to FEW rows, one row with their weight replaces equal
    rows.
    """
    parts = (rows.codes, rows.soft, groups)
    keys = row_keys(rows.X, *(part for part in parts if part is not None))
    if len(keys) > FEW:
        given = [] if rows.weights is None else [rows.weights]
        keys = distinct(row_keys(keys, *given))
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    merged = rows.take(first)
    if len(first) == len(keys):
        return merged, first, place
    each = np.ones(len(keys)) if rows.weights is None else rows.weights
    order = np.lexsort((each, place))
    weights, unit = scaled(np.bincount(place[order], each[order]).astype(np.float64))
    return merged._replace(weights=weights, weight_unit=rows.weight_unit * unit), first, place


def group_numbers(
    groups: Any, n_rows: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.intp] | None:
    """Groups of the rows of positive weight as numbers from 0, checked."""
    if groups is None:
        return None
    need_unmasked(groups, "groups")
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise InvalidDataError(
            f"groups must have one entry for each of the {n_rows} rows of X. Got an array of shape "
            f"{given.shape}."
        )
    missing = missing_labels(given)
    if missing.any():
        raise InvalidDataError(
            f"groups must name a group for every row. Got NaN, infinity or missing values in "
            f"{int(missing.sum())} of {n_rows} rows, the first in row {int(np.argmax(missing))}."
        )
    if weights is not None:
        given = given[weights > 0]
    try:
        names, numbers = np.unique(given, return_inverse=True)
    except TypeError as error:
        raise InvalidDataError(f"groups must hold values of one kind. {error}") from None
    if len(names) < 2:
        raise InvalidDataError(
            "groups must name two groups or more, since one of them is held out. All rows (those "
            f"of weight zero do not count) are in group {names[0]!s}."
        )
    return numbers.astype(np.intp)


def warn_of_rare(held: HeldOut, classes: NDArray[Any], *, by_groups: bool, stacklevel: int) -> None:
    """Warn of classes that cannot be held out as others are."""
    folds, codes = held.of_stage[0], held.rows.codes
    if by_groups:
        rare = [k for k in range(len(classes)) if len(np.unique(folds[codes == k])) == 1]
        words = "all rows in groups of one fold: members that hold it out have not seen it"
    else:
        rare = [k for k in range(len(classes)) if (folds[codes == k] == NEVER).all()]
        words = "only one row, which is learned from but never held out"
    if rare:
        names = ", ".join(str(classes[k]) for k in rare[:5]) + (", ..." if len(rare) > 5 else "")
        whose = f"Class {names} has" if len(rare) == 1 else f"Classes {names} have"
        warnings.warn(f"{whose} {words}.", FitWarning, stacklevel=stacklevel)
