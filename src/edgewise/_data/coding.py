"""Columns of a data frame as numbers, by the categories and dates that a fit has found."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidDataError
from . import dates, written
from .frames import AnyColumn, Numbers, Tables, Values, word_of

Array = NDArray[Any]

_LISTED = 2**24  # numbers below are exact in single precision


def filled(
    parts: Sequence[AnyColumn],
    tables: Tables,
    times: dates.Dates,
    notations: written.Notations,
) -> Array:
    """All columns as numbers, (n, d), in column order, then the parts of the dates among them.

    Categories as their numbers in the tables.
    """
    n_rows, width = len(parts[0]), len(parts) + len(dates.owners(times))
    small = not times and all(
        len(tables[j]) < _LISTED if j in tables else part.is_small for j, part in enumerate(parts)
    )
    out = np.empty((n_rows, width), dtype=np.float32 if small else np.float64, order="F")
    for j, part in enumerate(parts):
        if j in times:
            out[:, j] = _seconds(part, times[j].kind)
        else:
            known = j in tables
            out[:, j] = coded(part, tables[j]) if known else _unlisted(part, notations.get(j))
    dates.fill_parts(out, times)
    return out


def _seconds(part: AnyColumn, kind: str) -> Array:
    """Seconds of a column that held dates or times in fit."""
    if part.time_kind == kind:
        return part.seconds()
    if part.time_kind is not None:
        raise dates.wrong_kind(part.shown, kind, part.time_kind)
    if isinstance(part, Numbers):
        return dates.checked(part.seconds(), part.shown) if kind == "date" else part.seconds()
    if part.is_categories:
        values, places = part.distinct()
        if len(values) == 0 or word_of(values) == "strings":
            return np.append(dates.seconds_of_text(values.tolist(), kind, part.shown), np.nan)[
                places
            ]
    numbers = part.numbers()
    if np.isnan(numbers).all():
        return numbers
    raise dates.wrong_kind(part.shown, kind, word_of(numbers))


def _unlisted(part: AnyColumn, notation: str | None) -> Array:
    """Numbers of a column that had neither categories nor dates in fit."""
    if part.time_kind is not None:
        raise dates.wrong_kind(part.shown, "numbers", part.time_kind)
    if not part.is_categories:
        return part.numbers()
    values, places = part.distinct()
    if word_of(values) == "strings" and notation is not None:
        numbers = written.numbers_of(values.tolist(), notation, part.shown)
        return np.append(numbers, np.nan)[places]
    if word_of(values) == "strings":
        raise dates.wrong_kind(part.shown, "numbers", "strings", f": {values[0]!r}, ...")
    return np.append(values.astype(np.float64), np.nan)[places]


def values_of(part: AnyColumn) -> Values:
    """The distinct values of a column if they are categories; else one number, if it has any."""
    if part.time_kind is not None:
        raise InvalidDataError(
            f"{part.shown} holds dates or times ({part.time_kind}), which blocks of rows cannot "
            "hold in fit. Turn them into seconds; or into strings, if they are categories."
        )
    if part.is_categories:
        return Values(part.label, learned(part, None), is_categories=True)
    numbers = part.numbers()
    present = numbers[numbers == numbers][:1]  # noqa: PLR0124 - without NaN
    return Values(part.label, present, is_categories=False)


def learned(part: AnyColumn, known: Array | None) -> Array:
    """The table of a column's values, sorted; a later fit appends new values."""
    values, places = part.distinct()
    present = np.unique(values[np.unique(places[places >= 0])])
    if known is None or len(known) == 0:
        return present
    _need_kind(part, present, known)
    return np.concatenate([known, np.setdiff1d(present, known)])


def coded(part: AnyColumn, table: Array) -> NDArray[np.float64]:
    """The numbers of a column's values in a table; NaN for null and for unknown values."""
    if part.time_kind is not None and len(table):
        raise dates.wrong_kind(part.shown, word_of(table), part.time_kind)
    values, places = part.distinct()
    _need_kind(part, values, table)
    order = np.argsort(table, kind="stable")
    numbers = np.full(len(values) + 1, np.nan)  # the last is that of null
    if len(table) and len(values):
        at = order[np.searchsorted(table, values, sorter=order).clip(max=len(table) - 1)]
        numbers[:-1] = np.where(table[at] == values, at, np.nan)
    return numbers[places]


def _need_kind(part: AnyColumn, values: Array, table: Array) -> None:
    if len(values) and len(table) and word_of(values) != word_of(table):
        raise dates.wrong_kind(part.shown, word_of(table), word_of(values), f": {values[0]!r}, ...")
