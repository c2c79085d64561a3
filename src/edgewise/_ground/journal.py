"""A journal: a file of JSON lines that only grows, for runs that may be killed and resumed.

Lines are complete or absent: a line is written at once and synced before `append` returns, an
incomplete write is undone, and the rest of a line that a killed process left is cut off when the
journal is opened again. One process at a time writes to it.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

from .errors import InvalidDataError

Entry = TypeVar("Entry")


class Journal:
    """An open journal; `journal` makes it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._file = descriptor

    def read(self, parse: Callable[[dict[str, Any]], Entry], what: str) -> list[Entry]:
        """All entries so far, parsed; an error says that a line is not `what`."""
        whole, newline, _torn = self._path.read_bytes().rpartition(b"\n")
        os.ftruncate(self._file, len(whole) + len(newline))
        entries = []
        for number, line in enumerate(whole.split(b"\n") if whole else [], start=1):
            try:
                entries.append(parse(_object(line)))
            except (KeyError, TypeError, ValueError, RecursionError):
                raise InvalidDataError(
                    f"{self._path}, line {number} is not {what}: remove it, or use another folder."
                ) from None
        return entries

    def append(self, record: dict[str, Any]) -> None:
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            rest = line
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, end)
            raise OSError(error.errno, error.strerror, str(self._path)) from None


def typed(record: Any) -> Any:
    """Make a data class whose fields have their types, or raise TypeError."""
    for field in fields(record):
        if not _is(getattr(record, field.name), field.type):
            raise TypeError(f"{field.name} is of another type")
    return record


def _is(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if isinstance(kind, UnionType):
        return any(_is(value, one) for one in get_args(kind))
    if get_origin(kind) is tuple:  # of any length, all of one type
        return isinstance(value, tuple) and all(_is(item, get_args(kind)[0]) for item in value)
    if kind is float:
        return type(value) is float or (type(value) is int and abs(value) <= 2**53)
    return type(value) is (get_origin(kind) or kind)


def _refuse(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _object(line: bytes) -> dict[str, Any]:
    record = json.loads(line, parse_constant=_refuse)
    if not isinstance(record, dict):
        raise TypeError("not a JSON object")
    return record


@contextmanager
def journal(path: Path) -> Iterator[Journal]:
    """Open the journal in `path` for this process alone; create it if necessary."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidDataError(
                f"Another run is writing to {path.parent}; wait for it, or choose another folder."
            ) from None
        yield Journal(path, descriptor)
    finally:
        os.close(descriptor)  # which also releases the lock
