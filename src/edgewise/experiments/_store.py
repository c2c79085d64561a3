"""The run folder: every finished cell is one line of a JSON-lines file, appended at once."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .._errors import InvalidDataError
from ._types import Key, Record

FILE = "cells.jsonl"


class RunFolderError(InvalidDataError, OSError):
    """The run folder cannot be used."""


class Store:
    """The finished cells of a run folder, by their keys. Made by `open_store`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._file = descriptor
        self._records = {record.key(): record for record in _read(path, descriptor)}

    def get(self, key: Key) -> Record | None:
        return self._records.get(key)

    def append(self, record: Record) -> None:
        """Keep a finished cell: after this returns, a kill does not lose it."""
        line = json.dumps(asdict(record), allow_nan=False).encode() + b"\n"
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            _write_all(self._file, line)
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, end)  # no half line
            raise RunFolderError(f"{self._path} cannot be written: {error.strerror}") from None
        self._records[record.key()] = record

    def __len__(self) -> int:
        return len(self._records)


@contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """The store of a run folder, which is made if need be; one process at a time."""
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be opened: {error.strerror}") from None
    try:
        _lock(path, descriptor)
        yield Store(path, descriptor)
    finally:
        os.close(descriptor)  # and the lock with it


def _lock(path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RunFolderError(f"{path.parent} is in use by another run") from None


def _read(path: Path, descriptor: int) -> Iterator[Record]:
    """All records; a last line without an end was cut off by a kill and is removed."""
    whole, newline, _torn = path.read_bytes().rpartition(b"\n")
    os.ftruncate(descriptor, len(whole) + len(newline))
    for number, line in enumerate(whole.split(b"\n") if whole else [], start=1):
        yield _record(line, f"{path} line {number}")


def _record(line: bytes, where: str) -> Record:
    try:
        values: Any = json.loads(line)
        return Record(**{field.name: values[field.name] for field in fields(Record)})
    except (ValueError, KeyError, TypeError):
        raise RunFolderError(
            f"{where} is not a finished cell: remove the line, or use another folder"
        ) from None


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
