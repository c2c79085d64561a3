"""The run folder: a journal with one line per finished cell, appended at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .._ground.journal import Journal, journal, typed
from ._types import Key, Record

FILE = "cells.jsonl"


class Store:
    """The finished cells of a run folder, by their keys. Made by `open_store`."""

    def __init__(self, lines: Journal) -> None:
        self._lines = lines
        self._records = {r.key(): r for r in lines.read(_record, "a finished cell")}

    def get(self, key: Key) -> Record | None:
        return self._records.get(key)

    def append(self, record: Record) -> None:
        """Store a finished cell; once this returns, killing the process does not lose it."""
        self._lines.append(asdict(record))
        self._records[record.key()] = record

    def __len__(self) -> int:
        return len(self._records)


@contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """The store of a run folder, created if necessary; one process at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with journal(folder / FILE) as lines:
        yield Store(lines)


def _record(line: dict[str, Any]) -> Record:
    record: Record = typed(Record(**{field.name: line[field.name] for field in fields(Record)}))
    return record
