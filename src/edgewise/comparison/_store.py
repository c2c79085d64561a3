"""The store of results: a folder, from which a killed run can resume, or memory.

The folder holds `results.jsonl`, one line for each method and split with the key of what was
measured, and `answers/KEY.npy` with the probabilities.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._ground.atomic import write_bytes
from .._ground.errors import InvalidDataError
from .._ground.journal import Journal, journal
from ._results import Proba, Result

LINES = "results.jsonl"


class Store(Protocol):
    """Results by the key of what was measured."""

    def get(self, key: str) -> Result | None: ...

    def answers(self, key: str) -> Proba: ...

    def put(self, key: str, result: Result, proba: Proba) -> None: ...


class Memory:
    """Keeps results in memory."""

    def __init__(self) -> None:
        self._results: dict[str, tuple[Result, Proba]] = {}

    def get(self, key: str) -> Result | None:
        return self._results[key][0] if key in self._results else None

    def answers(self, key: str) -> Proba:
        return self._results[key][1]

    def put(self, key: str, result: Result, proba: Proba) -> None:
        self._results[key] = (result, proba)


class Folder:
    """Keeps results in files. Made by `folder`."""

    def __init__(self, path: Path, lines: Journal) -> None:
        self.path = path
        self._journal = lines
        self._results = dict(lines.read(_keyed, "a result of a comparison"))

    def get(self, key: str) -> Result | None:
        return self._results.get(key) if self._place(key).is_file() else None

    def answers(self, key: str) -> Proba:
        path = self._place(key)
        try:
            with path.open("rb") as stream:
                proba: Proba = np.lib.format.read_array(stream, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise InvalidDataError(f"{path} is damaged, remove it: {error}.") from None
        if proba.dtype != np.float64 or proba.ndim != 2:
            raise InvalidDataError(f"{path} is damaged, remove it: it holds no probabilities.")
        return proba

    def put(self, key: str, result: Result, proba: Proba) -> None:
        content = BytesIO()
        np.save(content, proba)
        write_bytes(self._place(key), content.getvalue())
        self._journal.append({"key": key, **result.as_dict()})
        self._results[key] = result

    def _place(self, key: str) -> Path:
        return self.path / "answers" / f"{key}.npy"


def _keyed(line: dict[str, Any]) -> tuple[str, Result]:
    key = line.pop("key")
    if not isinstance(key, str) or not key.isalnum():  # it is part of a path
        raise TypeError("no key")
    return key, Result.from_dict(line)


@contextmanager
def folder(path: Path) -> Iterator[Folder]:
    """The store in `path`, made if need be, for this process alone."""
    (path / "answers").mkdir(parents=True, exist_ok=True)
    with journal(path / LINES) as lines:
        yield Folder(path, lines)
