"""The run folder: a journal with one line per finished cell, appended at once.

Files of results list their cells, too. A folder that has such files but not the journal, as the
results in the repository, is resumed from them.
"""

import json
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

    def __init__(self, lines: Journal, listed: Iterator[Record]) -> None:
        self._lines = lines
        self._records = {r.key(): r for r in listed}
        self._records |= {r.key(): r for r in lines.read(_record, "a finished cell")}

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
        yield Store(lines, _listed(folder))


def read_results(path: Path) -> dict[str, Any]:
    """The results in a file, or nothing if the file is missing or not one of ours."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("cells"), list) else {}


def _listed(folder: Path) -> Iterator[Record]:
    """The cells of all files of results; lines of something else are left out."""
    for path in sorted(folder.glob("*.json")):
        for cell in read_results(path).get("cells", []):
            try:
                yield _record(cell)
            except (KeyError, TypeError):
                continue


def _record(line: dict[str, Any]) -> Record:
    record: Record = typed(Record(**{field.name: line[field.name] for field in fields(Record)}))
    return record
