"""The number that stands for a date does not depend on the unit or the library."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from edgewise._data import frames
from edgewise._data.dates import PARTS, part_of, seconds_of_text

FIRST, LAST = datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)
NARROW = datetime.datetime(1678, 1, 1), datetime.datetime(2262, 1, 1)  # that nanoseconds reach

moments = st.lists(st.none() | st.datetimes(FIRST, LAST), min_size=1, max_size=20)
narrow = st.lists(st.none() | st.datetimes(*NARROW), min_size=1, max_size=20)


def seconds_of(frame):
    (column,) = frames.columns(frame)
    assert column.time_kind in ("date", None)  # all null: of no kind
    return column.seconds() if column.time_kind else column.numbers()


def exact(value):
    """The seconds by whole numbers, rounded once in the end."""
    if value is None:
        return np.nan
    since = value - datetime.datetime(1970, 1, 1)
    return (since.days * 86400 + since.seconds) + since.microseconds / 10**6


@given(moments)
def test_every_library_gives_the_same_number(values):
    expected = np.array([exact(value) for value in values])
    array = np.array(values, dtype="M8[us]")
    zone = [None if v is None else v.replace(tzinfo=datetime.UTC) for v in values]
    forms = [
        pd.DataFrame({"x": array}),
        pd.DataFrame({"x": pd.Series(values, dtype=object)}),
        pd.DataFrame({"x": pd.Series(zone, dtype=object)}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Datetime("us"))}),
        pa.table({"x": pa.array(values, pa.timestamp("us"))}),
        pa.table({"x": pa.array(zone, pa.timestamp("us", "UTC"))}),
    ]
    for form in forms:
        np.testing.assert_array_equal(seconds_of(form), expected)


@given(narrow, st.sampled_from(["s", "ms", "us"]))
def test_every_unit_gives_the_same_number(values, unit):
    coarse = np.array(values, dtype="M8[us]").astype(f"M8[{unit}]")
    expected = seconds_of(pd.DataFrame({"x": coarse.astype("M8[us]")}))
    for finer in (unit, "us", "ns"):
        array = coarse.astype(f"M8[{finer}]")
        np.testing.assert_array_equal(seconds_of(pd.DataFrame({"x": array})), expected)
        arrow = pa.table({"x": pa.array(array, pa.timestamp(finer))})
        np.testing.assert_array_equal(seconds_of(arrow), expected)


@given(st.lists(st.datetimes(FIRST, LAST), min_size=1, max_size=20))
def test_text_and_the_calendar_agree(values):
    seconds = seconds_of_text([value.isoformat() for value in values], "date", "x")
    np.testing.assert_array_equal(seconds, [exact(value) for value in values])
    # Far from 1970 a double holds fewer digits: a microsecond before midnight may be midnight.
    whole = np.array([exact(value.replace(microsecond=0)) for value in values])
    shown = np.stack([part_of(whole, part) for part in PARTS], axis=1)
    known = [[v.month, v.day, v.isoweekday(), v.hour] for v in values]
    np.testing.assert_array_equal(shown, known)
