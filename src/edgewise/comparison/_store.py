"""Where results are kept as they come: a folder, so that a killed run can go on, or memory.

The folder holds `results.jsonl`, one line for each method and split with the key of what was
measured, and `answers/KEY.npy` with the probabilities. A line is there whole or not at all: what a
killed process may have left of one is cut off by the next. One run at a time writes to a folder.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._atomic import replacing
from .._errors import InvalidDataError
from ._results import Proba, Result


class Store(Protocol):
    """Results by the key of what was measured."""

    def get(self, key: str) -> Result | None: ...

    def answers(self, key: str) -> Proba: ...

    def put(self, key: str, result: Result, proba: Proba) -> None: ...


class Memory:
    """Keeps results until it is thrown away."""

    def __init__(self) -> None:
        self._results: dict[str, tuple[Result, Proba]] = {}

    def get(self, key: str) -> Result | None:
        return self._results[key][0] if key in self._results else None

    def answers(self, key: str) -> Proba:
        return self._results[key][1]

    def put(self, key: str, result: Result, proba: Proba) -> None:
        self._results[key] = (result, proba)


class Folder:
    """Keeps results in files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = path / "results.jsonl"
        self._results = dict(_read(self._lines))

    def get(self, key: str) -> Result | None:
        return self._results.get(key) if self._place(key).is_file() else None

    def answers(self, key: str) -> Proba:
        proba: Proba = np.load(self._place(key))
        return proba

    def put(self, key: str, result: Result, proba: Proba) -> None:
        with replacing(self._place(key)) as stream:
            np.save(stream, proba)
        self._append(json.dumps({"key": key, **result.as_dict()}).encode() + b"\n")
        self._results[key] = result

    def _place(self, key: str) -> Path:
        return self.path / "answers" / f"{key}.npy"

    def _append(self, line: bytes) -> None:
        """The line at the end of the file, or the file as it was."""
        with open(self._lines, "ab", buffering=0) as file:
            size = file.tell()
            try:
                if file.write(line) != len(line):
                    raise OSError(28, os.strerror(28), str(self._lines))
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(size)
                raise


@contextlib.contextmanager
def folder(path: Path) -> Iterator[Folder]:
    """The store in `path`, made if need be, for this process alone."""
    (path / "answers").mkdir(parents=True, exist_ok=True)
    with open(path / "lock", "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidDataError(
                f"Another run is writing to {path}; wait for it, or choose another folder."
            ) from None
        _cut_torn_line(path / "results.jsonl")
        yield Folder(path)


def _cut_torn_line(path: Path) -> None:
    """Drops what follows the last end of a line."""
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)


def _read(path: Path) -> Iterator[tuple[str, Result]]:
    if not path.exists():
        return
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        try:
            fields: dict[str, Any] = json.loads(line)
            yield fields.pop("key"), Result.from_dict(fields)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InvalidDataError(
                f"{path}, line {number} is no result of a comparison; remove the file to start "
                "again."
            ) from None
