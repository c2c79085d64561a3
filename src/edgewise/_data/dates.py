"""Dates and times as numbers, and the parts of dates that trees cannot find in them.

A date is its seconds since 1970 in UTC, a time of day its seconds since midnight, a duration its
seconds: the same number for any unit and library. A date without a time zone counts as UTC. The
month, the day of the month, the weekday and the hour follow from that number alone; they become
columns behind those of X, so columns keep their numbers.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidDataError
from .kinds import is_missing

Array = NDArray[np.float64]

PARTS = ("month", "day", "weekday", "hour")  # of a date
_DAY = 86400
_FIRST, _END = (
    float(np.datetime64(year, "s").astype(np.int64)) for year in ("0001-01-01", "9999-12-31")
)
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second
_ISO = {"date": "2024-02-29 or 2024-02-29T13:30:00", "time": "13:30:00"}


class DateColumn(NamedTuple):
    """The kind of a column of dates or times, and the parts that a model uses.

    Attributes
    ----------
    kind : str
        "date", "time" (of day) or "duration".
    parts : tuple of str
        Parts of a date that are columns of the model: "month", "day" (of the month), "weekday" (1
        is Monday, 7 is Sunday) and "hour", in UTC.
    """

    kind: str
    parts: tuple[str, ...] = ()


Dates = dict[int, DateColumn]  # by column


# --- kinds ------------------------------------------------------------------------------------


def kind_of_type(dtype: Any) -> str | None:
    """The kind of a frame's type; None if it is neither a date nor a time."""
    if isinstance(dtype, nw.Date | nw.Datetime):
        return "date"
    if isinstance(dtype, nw.Time):
        return "time"
    return "duration" if isinstance(dtype, nw.Duration) else None


def learned(part: Any, values: Array) -> DateColumn:
    """Return the kind and parts of a column; hours are a part if a value has a time of day."""
    if part.time_kind != "date":
        return DateColumn(part.time_kind)
    known = values[~np.isnan(values)]
    return DateColumn("date", PARTS if (known % _DAY != 0).any() else PARTS[:-1])


# --- seconds ----------------------------------------------------------------------------------


def seconds_of_series(series: nw.Series[Any], shown: str) -> Array:
    """Seconds of a frame's column of dates or times, NaN where null."""
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    elif series.dtype == nw.Time:
        return seconds_of_objects(series.to_list(), shown)
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    ticks = series.to_numpy()
    if ticks.dtype.kind not in "mM":  # such as pandas' columns of Arrow's types
        return seconds_of_objects(series.to_list(), shown)
    return seconds_of_array(ticks, shown)


def seconds_of_array(ticks: NDArray[Any], shown: str) -> Array:
    """Seconds of NumPy's dates or durations; NaN where NaT."""
    unit, times = np.datetime_data(ticks.dtype)
    if unit == "generic" or (ticks.dtype.kind == "m" and unit in ("Y", "M")):
        raise InvalidDataError(
            f"{shown} holds durations without a length in seconds ({ticks.dtype}). Give them in "
            "weeks or a smaller unit."
        )
    if unit not in _TICKS or times != 1:
        ticks = _in_seconds(ticks, shown)
        unit = np.datetime_data(ticks.dtype)[0]
    each = _TICKS[unit]
    whole, rest = np.divmod(ticks.astype(np.int64), each)
    seconds = np.where(np.isnat(ticks), np.nan, whole + rest / each)
    return checked(seconds, shown) if ticks.dtype.kind == "M" else seconds


def _in_seconds(ticks: NDArray[Any], shown: str) -> NDArray[Any]:
    """The same in seconds, or in nanoseconds if that is finer; beyond 64 bits it is an error."""
    unit = np.datetime_data(ticks.dtype)[0]
    finer = unit in ("ps", "fs", "as")
    target = "ns" if finer else unit if unit in _TICKS else "s"
    converted = ticks.astype(f"{ticks.dtype.kind}8[{target}]")
    back = converted.astype(ticks.dtype)
    if not finer and not np.array_equal(back.astype(np.int64), ticks.astype(np.int64)):
        raise _out_of_range(shown, ticks.dtype)
    return converted


def checked(seconds: Array, shown: str) -> Array:
    """Seconds since 1970 of dates that a calendar has."""
    outside = seconds[(seconds < _FIRST) | (seconds >= _END + _DAY)]
    if len(outside):
        raise _out_of_range(shown, f"{outside[0]:.17g} seconds since 1970")
    return seconds


def _out_of_range(shown: str, got: Any) -> InvalidDataError:
    return InvalidDataError(f"{shown} must hold dates in the years 1 to 9999. Got {got}.")


def seconds_of_objects(values: Iterable[Any], shown: str) -> Array:
    """Seconds of Python or NumPy objects of one kind."""
    objects = list(values)
    given = [(i, v) for i, v in enumerate(objects) if not is_missing(v)]
    if len({_zoned(value) for _, value in given} - {None}) > 1:
        raise InvalidDataError(
            f"{shown} must hold times that all have a time zone, or none of them. Got both."
        )
    seconds = np.full(len(objects), np.nan)
    for i, value in given:
        seconds[i] = _seconds_of_object(value, shown)
    return seconds


def _zoned(value: Any) -> bool | None:
    """Return whether a moment has a time zone; None if it has no time."""
    return value.tzinfo is not None if isinstance(value, datetime.datetime) else None


def _seconds_of_object(value: Any, shown: str) -> float:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(seconds_of_array(np.array([value]), shown)[0])
    if hasattr(value, "nanosecond") or hasattr(value, "nanoseconds"):  # of pandas
        utc = value.tz_convert(None) if getattr(value, "tzinfo", None) is not None else value
        return float(seconds_of_array(np.array([utc.to_numpy()]), shown)[0])
    if isinstance(value, datetime.time):
        if value.tzinfo is not None:
            raise InvalidDataError(f"{shown} holds times of day with a time zone. Give them none.")
        value = datetime.datetime.combine(datetime.date(1970, 1, 1), value)
    if isinstance(value, datetime.datetime):
        value = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC if value.tzinfo else None)
    elif isinstance(value, datetime.date):
        value = value - datetime.date(1970, 1, 1)
    ticks: int = value // datetime.timedelta(microseconds=1)
    return ticks // 10**6 + ticks % 10**6 / 10**6


# --- text -------------------------------------------------------------------------------------


def seconds_of_text(values: Sequence[str], kind: str, shown: str) -> Array:
    """Seconds of different strings in ISO form, for a column that held dates or times in fit."""
    if kind == "duration" and len(values):
        raise wrong_kind(shown, kind, "strings")
    return seconds_of_objects([_parsed(str(value), kind, shown) for value in values], shown)


def _parsed(word: str, kind: str, shown: str) -> Any:
    try:
        if kind == "time":
            return datetime.time.fromisoformat(word.strip())
        return datetime.datetime.fromisoformat(word.strip())
    except ValueError:
        raise InvalidDataError(
            f"{shown} held {WORDS[kind]} in fit; as strings they must be in ISO form, such as "
            f"{_ISO[kind]}. Got {word!r}."
        ) from None


WORDS = {"date": "dates", "time": "times of day", "duration": "durations"}


def wrong_kind(shown: str, held: str, got: str, example: str = "") -> InvalidDataError:
    """Return the error message about a column whose values are of another kind than in fit."""
    held, got = WORDS.get(held, held), WORDS.get(got, got)
    return InvalidDataError(f"{shown} held {held} in fit and must hold {held}. Got {got}{example}.")


def iso(seconds: float, kind: str = "date") -> str:
    """Seconds as people write a date or a time."""
    if kind != "date" or not _FIRST <= seconds < _END + _DAY:
        return f"{seconds:.6g} s"
    whole = np.datetime64(int(seconds // 1), "s")
    return str(whole.astype("M8[D]")) if seconds % _DAY == 0 else str(whole)


# --- parts ------------------------------------------------------------------------------------


def part_of(seconds: Array, part: str) -> Array:
    """A part of the dates, a small whole number; NaN where missing."""
    missing = np.isnan(seconds)
    whole = np.floor(np.where(missing, 0.0, seconds)).astype(np.int64)
    day, second = np.divmod(whole, _DAY)
    if part == "hour":
        values = second // 3600
    elif part == "weekday":
        values = (day + 3) % 7 + 1  # 1970 began on a Thursday
    else:
        date = day.astype("M8[D]")
        month = date.astype("M8[M]")
        since = (date - month).astype(np.int64) if part == "day" else month.astype(np.int64) % 12
        values = since + 1
    return np.where(missing, np.nan, values.astype(np.float64))


def owners(dates: Mapping[int, DateColumn]) -> list[tuple[int, str]]:
    """The given column and the name of every part, in the order of the columns they add."""
    return [(j, part) for j in sorted(dates) for part in dates[j].parts]


def names_of_parts(dates: Mapping[int, DateColumn], names: Sequence[str]) -> list[str]:
    """The names of all columns of a model, from those that were given."""
    return [*names, *(f"{names[j]} ({part})" for j, part in owners(dates))]


def with_parts(X: NDArray[Any], dates: Mapping[int, DateColumn]) -> NDArray[Any]:
    """The columns (n, d) and behind them the parts of the dates among them."""
    added = owners(dates)
    n, d = X.shape
    out = np.empty((n, d + len(added)), order="F")
    out[:, :d] = X
    fill_parts(out, dates)
    return out


def fill_parts(out: NDArray[Any], dates: Mapping[int, DateColumn]) -> None:
    """Writes the last columns from the given ones."""
    added = owners(dates)
    for place, (j, part) in enumerate(added, out.shape[1] - len(added)):
        out[:, place] = part_of(out[:, j], part)


def folded(values: Array, dates: Mapping[int, DateColumn], axis: int) -> Array:
    """Figures of a model's columns as those of the given columns: parts belong to their date."""
    added = owners(dates)
    if not added:
        return values
    by_column = np.moveaxis(values, axis, 0)
    d = len(by_column) - len(added)
    given = by_column[:d].copy()
    for place, (j, _) in enumerate(added, d):
        given[j] += by_column[place]
    return np.ascontiguousarray(np.moveaxis(given, 0, axis))
