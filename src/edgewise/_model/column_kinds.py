"""Columns of dates, of times and of numbers that were text, in the header of a model file."""

from collections.abc import Mapping
from typing import Any

from .._data.dates import PARTS, DateColumn, Dates
from .._data.kinds import TIMES
from .._data.written import SEPARATORS, Notations
from .check import need


def encoded_dates(dates: Mapping[int, DateColumn]) -> dict[str, Any]:
    """Kind and parts, by the number of the column."""
    return {
        str(j): {"kind": column.kind, "parts": list(column.parts)}
        for j, column in sorted(dates.items())
    }


def decoded_dates(given: Any, n_features: Any) -> Dates:
    """The columns of dates and times, or ModelFormatError."""
    need(isinstance(given, dict), "'dates' must be an object")
    return {_number(name, n_features): _column(column) for name, column in given.items()}


def decoded_notations(given: Any, n_features: Any) -> Notations:
    """The decimal separators of columns of text, or ModelFormatError."""
    need(isinstance(given, dict), "'notations' must be an object")
    need(
        all(isinstance(decimal, str) and decimal in SEPARATORS for decimal in given.values()),
        "a decimal separator must be '.' or ','",
    )
    return {_number(name, n_features): decimal for name, decimal in given.items()}


def _number(name: str, n_features: Any) -> int:
    """The number of a column, written as a number is."""
    j = int(name) if name.isascii() and name.isdigit() and len(name) < 20 else -1
    known = type(n_features) is int and 0 <= j < n_features and str(j) == name
    need(known, "a column of dates or numbers is none of the features")
    return j


def _column(given: Any) -> DateColumn:
    need(
        isinstance(given, dict) and given.keys() == {"kind", "parts"},
        "a column of dates must have a kind and parts",
    )
    kind, parts = given["kind"], given["parts"]
    need(isinstance(kind, str) and kind in TIMES, "a column of dates has an unknown kind")
    need(
        isinstance(parts, list) and all(isinstance(part, str) for part in parts),
        "the parts of a date must be names",
    )
    allowed = PARTS if kind == "date" else ()
    need(
        len(set(parts)) == len(parts) and set(parts) <= set(allowed),
        "a column of dates has unknown parts",
    )
    return DateColumn(kind, tuple(parts))
