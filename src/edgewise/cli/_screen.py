"""Output: results on stdout, progress and warnings on stderr, progress bars on a terminal only."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import typer
from rich.box import SIMPLE
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from ._words import visible

_WIDE = 120  # columns where there is no terminal


def on_terminal() -> bool:
    """Return whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


class _Answers(Console):
    """Shows text as it is, except for control characters."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(visible(o) if isinstance(o, str) else o for o in objects), **options)


def console() -> Console:
    """Return a console for results."""
    return _Answers(
        highlight=False, markup=False, soft_wrap=True, width=None if sys.stdout.isatty() else _WIDE
    )


def say(text: str) -> None:
    """Print lines of a result."""
    typer.echo(visible(text))


def show_json(document: dict[str, Any]) -> None:
    """Print one document; NaN and infinity become null."""
    text = json.dumps(plain(document), indent=2, allow_nan=False, ensure_ascii=False)
    typer.echo(visible(text))


def plain(value: Any) -> Any:
    """Convert a value to the types that JSON has."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, bold: int = -1) -> Table:
    """The first column to the left, the others to the right."""
    shown = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for j, column in enumerate(columns):
        side: Literal["left", "right"] = "right" if j else "left"
        shown.add_column(visible(column), justify=side, vertical="bottom", no_wrap=True)
    for i, row in enumerate(rows):
        shown.add_row(*map(visible, row), style="bold" if i == bold else None)
    return shown


def bar(*, shown: bool) -> Progress:
    """A bar with the steps done, the current step and the time left."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not shown,
    )


class _Clock(Progress):
    """A bar whose progress is the seconds since the task began."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            task.completed = min(task.elapsed or 0.0, task.total or 0.0)
        return super().get_renderables()


def time_bar(*, shown: bool) -> Progress:
    """The elapsed seconds and the budget."""
    return _Clock(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed:.0f} of {task.total:.0f} s"),
        console=Console(stderr=True),
        transient=True,
        disable=not shown,
    )


@contextmanager
def spinner(words: str) -> Iterator[None]:
    """Show that work is in progress, on a terminal."""
    if not on_terminal():
        yield
        return
    with Console(stderr=True).status(words):
        yield


def size(n_bytes: float) -> str:
    """Return a number of bytes in the largest unit that fits, with at least two digits."""
    if n_bytes < 1000:
        return f"{n_bytes:.0f} B"
    amount, unit = n_bytes / 1000, "KB"
    for larger in ("MB", "GB"):
        if amount < 999.5:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"
