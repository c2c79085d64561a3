"""The run folder: every finished cell is one line of a journal, appended at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .._ground.errors import InvalidDataError
from .._ground.journal import Journal, journal
from ._types import Key, Record

FILE = "cells.jsonl"


class Store:
    """The finished cells of a run folder, by their keys. Made by `open_store`."""

    def __init__(self, path: Path, lines: Journal) -> None:
        self._lines = lines
        read = enumerate(lines.lines(), start=1)
        records = [_record(line, f"{path} line {number}") for number, line in read]
        self._records = {record.key(): record for record in records}

    def get(self, key: Key) -> Record | None:
        return self._records.get(key)

    def append(self, record: Record) -> None:
        """Keep a finished cell: after this returns, a kill does not lose it."""
        self._lines.append(asdict(record))
        self._records[record.key()] = record

    def __len__(self) -> int:
        return len(self._records)


@contextmanager
def open_store(folder: Path) -> Iterator[Store]:
    """The store of a run folder, which is made if need be; one process at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with journal(folder / FILE) as lines:
        yield Store(folder / FILE, lines)


def _record(line: dict[str, Any], where: str) -> Record:
    try:
        return Record(**{field.name: line[field.name] for field in fields(Record)})
    except KeyError:
        raise InvalidDataError(
            f"{where} is not a finished cell: remove the line, or use another folder."
        ) from None
