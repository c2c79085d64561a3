"""Cells on disk: CONTENDER.jsonl in a folder, one line per cell, so that a killed run goes on.

Each contender has a file of its own: two runs with different contenders may share a folder. The
last line of a key counts.
"""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd

from edgewise._ground.journal import Journal, journal

FIGURES = [  # columns of a frame even where every cell failed
    "version",
    "n_test",
    "wrong",
    "log_loss",
    "brier",
    "fit_seconds",
    "predict_seconds",
    "others",
    "failed",
]


@dataclass(frozen=True)
class Job:
    """What is measured: the key of a cell."""

    contender: str
    table: str
    seed: int
    max_rows: int | None
    threads: int
    params: dict[str, Any] = field(default_factory=dict)  # of our estimators

    @property
    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


class Cells:
    """The cells of some contenders, open for writing; a context manager."""

    def __init__(self, folder: Path, contenders: Iterable[str]) -> None:
        self._folder = folder
        self._contenders = list(contenders)
        self._open = ExitStack()
        self._journals: dict[str, Journal] = {}
        self._done: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in self._contenders:
            lines = self._open.enter_context(journal(self._folder / f"{name}.jsonl"))
            self._journals[name] = lines
            self._done |= dict(lines.read(_keyed, "a cell of the field"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def get(self, job: Job) -> dict[str, Any] | None:
        return self._done.get(job.key)

    def put(self, job: Job, figures: dict[str, Any]) -> None:
        self._journals[job.contender].append({"job": asdict(job), **figures})
        self._done[job.key] = figures


def frame(folder: str | Path, **wanted: Any) -> pd.DataFrame:
    """All cells of a folder, a row each; `max_rows=8000, threads=2` keeps those alone.

    Reads while another process writes; a line that is not whole yet is left out.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        whole = path.read_bytes().rpartition(b"\n")[0]
        found |= dict(_keyed(json.loads(line)) for line in whole.splitlines())
    rows = [{**json.loads(key), **figures} for key, figures in found.items()]
    cells = pd.DataFrame(rows)
    if cells.empty:
        return cells
    for name, value in wanted.items():
        cells = cells[cells[name].isna() if value is None else cells[name] == value]
    cells = cells.reindex(columns=cells.columns.union(FIGURES, sort=False))
    cells = cells.assign(error=cells["wrong"] / cells["n_test"])
    return cells.reset_index(drop=True)


def _keyed(line: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return Job(**line.pop("job")).key, line
