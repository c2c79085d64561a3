"""CSV, read by Arrow in one piece, so that all rows of a column determine its type."""

import codecs
import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from .._ground.errors import InvalidDataError
from .._ground.wording import did_you_mean
from ._columns import MISSING

_SAMPLE = 1 << 16  # bytes looked at to find the delimiter and the header
_ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16", "shift_jis", "gb18030")
_LONGEST_CELL = 131_072  # characters of a cell in the first line
_LINE_END = re.compile(rb"[\r\n]")
_LINE = re.compile(r"[^\r\n]*")
_QUOTED = re.compile('"[^"]*"')
_LARGEST = (1 << 31) - 1  # bytes of a block of Arrow's reader


def read_csv(
    path: Path,
    *,
    header: bool | None,
    text: frozenset[str],
    encoding: str | None = None,
    decimal: str = ".",
) -> tuple[Any, list[str]]:
    """Return the table and notes on how it was read; `header=None` detects the header."""
    if decimal not in (".", ","):
        raise InvalidDataError(f"The decimal separator must be '.' or ','. Got {decimal!r}.")
    content = _in_utf8(_content(path), path, encoding)
    sample = _sample(content, path)
    delimiter = _delimiter(sample, path, decimal)
    first = _first_row(sample, delimiter, path)
    notes = []
    if header is None:
        header = not _looks_like_data([word.replace(decimal, ".") for word in first])
        if not header:
            notes.append("the first line holds only numbers and was taken as data, not as a header")
    names = _names([word.strip() for word in first], header, path)
    keys = first if header else [f"f{j}" for j in range(len(first))]  # Arrow's names
    as_text = {key: pa.string() for key, name in zip(keys, names, strict=True) if name in text}
    parsing = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    frame = _parsed(content, path, parsing, as_text, header=header, decimal=decimal)
    if frame.num_columns != len(names):  # quotes or line ends that are read in two ways
        raise InvalidDataError(
            f"{path}, line 1 is not clear: it has {len(names)} or {frame.num_columns} cells."
        )
    frame = frame.rename_columns(names)
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


def _in_utf8(content: Any, path: Path, encoding: str | None) -> Any:
    if encoding is None:
        return content
    try:
        return pa.py_buffer(content.to_pybytes().decode(encoding).encode())
    except LookupError:
        raise InvalidDataError(
            f"There is no encoding {encoding!r}.{did_you_mean(encoding, _ENCODINGS)} Common ones "
            f"are {', '.join(_ENCODINGS)}."
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"{path} is not text in {encoding}: {error.reason}.") from None


def _sample(content: Any, path: Path) -> str:
    """The first lines as text, at least one; a truncated last line is allowed."""
    size = _SAMPLE
    start = bytes(content[:size])
    while size < content.size and not _LINE_END.search(start.lstrip(b"\r\n")):
        size *= 4
        start = bytes(content[:size])
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidDataError(
            f"{path} is in UTF-16. State the encoding: encoding='utf-16', or --encoding utf-16 on "
            "the command line."
        )
    if b"\0" in start:
        raise InvalidDataError(f"{path} is no text: it holds zero bytes. Is it a CSV file?")
    sample = start.decode("utf-8-sig", errors="replace").lstrip("\r\n")
    if not sample.strip():
        raise InvalidDataError(f"{path} begins with nothing but empty lines.")
    return sample


def _first_row(sample: str, delimiter: str, path: Path) -> list[str]:
    try:
        words = next(csv.reader(io.StringIO(sample, newline=None), delimiter=delimiter))
    except csv.Error as error:
        raise InvalidDataError(f"{path}, line 1 cannot be read as CSV: {error}.") from None
    longest = max(map(len, words), default=0)
    if (
        longest > _LONGEST_CELL
    ):  # the reader's own limit can be lifted by any library in the process
        raise InvalidDataError(
            f"{path}, line 1 cannot be read as CSV: a cell has {longest} characters, "
            f"at most {_LONGEST_CELL} are allowed."
        )
    return words


def _delimiter(sample: str, path: Path, decimal: str) -> str:
    if ".tsv" in path.suffixes:
        return "\t"
    line = _LINE.match(_QUOTED.sub("", sample))[0]  # type: ignore[index]  # matches any text
    return max(",;\t|".replace(decimal, ""), key=line.count)  # the first of equals: a comma


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
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidDataError(f"{path} has two columns named {twice[0]!r}; names must differ.")
    return names


def _parsed(
    content: Any, path: Path, parsing: Any, as_text: dict[str, Any], *, header: bool, decimal: str
) -> Any:
    try:
        return pa.csv.read_csv(
            pa.BufferReader(content),
            read_options=pa.csv.ReadOptions(
                block_size=min(content.size, _LARGEST), autogenerate_column_names=not header
            ),
            parse_options=parsing,
            convert_options=pa.csv.ConvertOptions(
                null_values=MISSING,
                strings_can_be_null=True,
                column_types=as_text,
                decimal_point=decimal,
            ),
        )
    except pa.ArrowInvalid as error:
        raise InvalidDataError(_complaint(content, path, parsing.delimiter, error)) from None


def _complaint(content: Any, path: Path, delimiter: str, error: Exception) -> str:
    """Return a message that names the line with too few or too many cells, if there is one."""
    text = content.to_pybytes().decode("utf-8-sig", errors="replace")
    rows = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter)
    width = 0
    with contextlib.suppress(csv.Error):  # such as a cell that is too long for this reader
        for row in rows:
            width = width or len(row)
            if row and len(row) != width:
                cells = f"{len(row)} cells where the first line has {width}"
                return f"{path}, line {rows.line_num}: {cells}."
    return f"{path} cannot be read as CSV: {str(error).splitlines()[0]}"
