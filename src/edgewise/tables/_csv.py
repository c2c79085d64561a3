"""CSV, read by Arrow in one piece, so that all rows of a column decide what it holds."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from .._ground.errors import InvalidDataError
from ._columns import MISSING

_SAMPLE = 1 << 16  # bytes looked at to find the delimiter and the header
_LARGEST = (1 << 31) - 1  # bytes of a block of Arrow's reader


def read_csv(path: Path, *, header: bool | None, text: frozenset[str]) -> tuple[Any, list[str]]:
    """The table, and notes on how it was read; `header` None means: look."""
    content = _content(path)
    sample = _sample(content, path)
    delimiter = _delimiter(sample, path)
    first = next(csv.reader(io.StringIO(sample), delimiter=delimiter))
    notes = []
    if header is None:
        header = not _looks_like_data(first)
        if not header:
            notes.append("the first line holds only numbers and was taken as data, not as a header")
    names = _names([word.strip() for word in first], header, path)
    keys = first if header else [f"f{j}" for j in range(len(first))]  # Arrow's names
    as_text = {key: pa.string() for key, name in zip(keys, names, strict=True) if name in text}
    frame = _parsed(content, path, delimiter, as_text, header).rename_columns(names)
    if len(frame) == 0:
        raise InvalidDataError(f"{path} has a header but no rows.")
    return frame, notes


def _content(path: Path) -> Any:
    """The bytes of the file, decompressed if its name says so."""
    try:
        with pa.input_stream(str(path), compression="detect") as stream:
            content = stream.read_buffer()
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0]
        raise InvalidDataError(f"{path} cannot be read: {reason}.") from None
    if content.size == 0 or not bytes(content[:_SAMPLE]).strip():
        raise InvalidDataError(f"{path} is empty.")
    return content


def _sample(content: Any, path: Path) -> str:
    """The first lines as text; a line cut off at the end does no harm."""
    start = bytes(content[:_SAMPLE])
    if b"\0" in start:
        raise InvalidDataError(f"{path} is no text: it holds zero bytes. Is it a CSV file?")
    return start.decode("utf-8-sig", errors="replace").lstrip("\r\n")


def _delimiter(sample: str, path: Path) -> str:
    if ".tsv" in path.suffixes:
        return "\t"
    line = sample.splitlines()[0]
    return max(",;\t|", key=line.count)  # the first of equals: a comma


def _looks_like_data(cells: Sequence[str]) -> bool:
    words = [word.strip() for word in cells]
    present = [word for word in words if word not in MISSING]
    return bool(present) and all(_is_number(word) for word in present)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _names(words: list[str], header: bool, path: Path) -> list[str]:
    if not header:
        return [f"x{j}" for j in range(len(words))]
    names = [word or f"column_{j}" for j, word in enumerate(words)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidDataError(f"{path} has two columns named {twice[0]!r}; names must differ.")
    return names


def _parsed(content: Any, path: Path, delimiter: str, as_text: dict[str, Any], header: bool) -> Any:
    try:
        return pa.csv.read_csv(
            pa.BufferReader(content),
            read_options=pa.csv.ReadOptions(
                block_size=min(content.size, _LARGEST), autogenerate_column_names=not header
            ),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pa.csv.ConvertOptions(
                null_values=MISSING, strings_can_be_null=True, column_types=as_text
            ),
        )
    except pa.ArrowInvalid as error:
        raise InvalidDataError(_complaint(content, path, delimiter, error)) from None


def _complaint(content: Any, path: Path, delimiter: str, error: Exception) -> str:
    """Which line has too few or too many cells, if that is what is wrong."""
    text = content.to_pybytes().decode("utf-8-sig", errors="replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    width = 0
    for row in rows:
        width = width or len(row)
        if row and len(row) != width:
            return (
                f"{path}, line {rows.line_num}: {len(row)} cells where the first line has {width}."
            )
    return f"{path} cannot be read as CSV: {str(error).splitlines()[0]}"
