"""The kind of a column: a number, a category or a date; and its missing values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from .._data.written import example, notation_of, numbers_of
from .._ground.errors import InvalidDataError

MISSING = ["", "NA", "N/A", "?", "nan", "NaN", "NAN", "null", "NULL", "None"]
Kind = Literal["number", "category", "date"]


@dataclass(frozen=True)
class Column:
    """One column of features.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : Kind
        "number", "category" or another kind of values.
    missing : int
        Number of rows without a value.
    distinct : int | None
        Number of distinct values of a category.
    """

    name: str
    kind: Kind
    missing: int
    distinct: int | None


def recognised(
    frame: pa.Table, text: frozenset[str] = frozenset(), written: frozenset[str] = frozenset()
) -> pa.Table:
    """Return the columns as numbers or strings; those named in `text` are always strings.

    Text in the columns named in `written` is left to callers that know its notation.

    Text that consists of numbers and missing values becomes numbers. Dates, times and booleans are
    unchanged: booleans are words as labels, and the numbers 0 and 1 as features.
    """
    columns = [
        _plain(frame.column(name), name, as_text=name in text, written=name in written)
        for name in frame.column_names
    ]
    return pa.table(dict(zip(frame.column_names, columns, strict=True)))


def as_numbers(
    frame: pa.Table, text: frozenset[str], decimal: str
) -> tuple[pa.Table, dict[str, str], list[str]]:
    """Convert numbers written as text; return also their decimal separators and notes.

    Columns named in `text` are unchanged. `decimal` is the separator if the values do not tell.
    """
    notations, notes = {}, []
    for name in frame.column_names:
        column = frame.column(name)
        if name in text or not pa.types.is_string(column.type):
            continue
        words = pc.unique(column.drop_null()).to_pylist()
        notation = notation_of(words, decimal)
        if notation is not None:
            notations[name] = notation
            notes.append(
                f"column {name!r} is text of numbers and was read as numbers "
                f"({example(words, notation)}); as a category it stays text"
            )
    return with_numbers(frame, notations), notations, notes


def with_numbers(frame: pa.Table, notations: Mapping[str, str]) -> pa.Table:
    """The columns whose decimal separators are given as numbers, if they are text."""
    for name, decimal in notations.items():
        column = frame.column(name)
        if pa.types.is_string(column.type):
            coded = column.combine_chunks().dictionary_encode()
            words = coded.dictionary.to_pylist()
            values = pa.array(numbers_of(words, decimal, f"Column {name!r}"), pa.float64())
            place = frame.column_names.index(name)
            frame = frame.set_column(place, name, values.take(coded.indices))
    return frame


def features(frame: pa.Table, names: list[str]) -> pa.Table:
    """Those columns, booleans as numbers."""
    columns = {name: frame.column(name) for name in names}
    return pa.table(
        {
            name: column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else column
            for name, column in columns.items()
        }
    )


def described(frame: pa.Table, dates: frozenset[str]) -> tuple[Column, ...]:
    """The columns of a table that `recognised` has made."""
    return tuple(_described(name, frame.column(name), name in dates) for name in frame.column_names)


def dates_of(frame: pa.Table) -> frozenset[str]:
    return frozenset(field.name for field in frame.schema if pa.types.is_temporal(field.type))


def missing_in(column: Any) -> int:
    """Nulls, and NaN among numbers."""
    nulls = column.null_count
    if pa.types.is_floating(column.type):
        nulls += pc.sum(pc.is_nan(column)).as_py() or 0
    return int(nulls)


def _described(name: str, column: Any, date: bool) -> Column:
    if pa.types.is_string(column.type):
        return Column(name, "category", missing_in(column), len(pc.unique(column.drop_null())))
    return Column(name, "date" if date else "number", missing_in(column), None)


def _plain(column: Any, name: str, *, as_text: bool, written: bool) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if as_text:
        return _text(_cast(column, pa.string(), name))
    if pa.types.is_null(kind):
        return column.cast(pa.float64())
    if pa.types.is_boolean(kind):
        return column
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return _cast(column, pa.float64(), name)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column
    return _other(column, name, written=written)


def _other(column: Any, name: str, *, written: bool) -> Any:
    kind = column.type
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return column
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InvalidDataError(
            f"Column {name!r} contains text that is not UTF-8. State the encoding of the file, "
            "such as encoding='latin-1', or --encoding latin-1 on the command line."
        )
    if not (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    ):
        raise InvalidDataError(
            f"Column {name!r} holds values of the type {kind}; allowed are numbers, text, "
            "booleans and dates."
        )
    words = _text(column.cast(pa.string()))
    if written:
        return words
    try:
        return words.cast(pa.float64())
    except pa.ArrowInvalid:
        return words


def _text(column: Any) -> Any:
    """Trimmed; words for a missing value become null."""
    words = pc.utf8_trim_whitespace(column)
    absent = pc.is_in(words, value_set=pa.array(MISSING, pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), words)


def _cast(column: Any, kind: Any, name: str) -> Any:
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InvalidDataError(f"Column {name!r} of type {column.type} is no {kind}.") from None
