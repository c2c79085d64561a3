"""The interface of an engine that runs functions on parts of the data.

A handle represents a part, wherever it is. Functions are plain and importable, arguments and
results can be pickled, and results can be added in any order. ``LocalBackend`` is the reference:
the same fit in one process, on threads.
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, Protocol

Function = Callable[..., Any]
Parts = Sequence[Any]


class Backend(Protocol):
    """Runs functions on parts of the data."""

    def derived(self, function: Function, parts: Parts, each: Sequence[Any]) -> list[Any]:
        """Return parts function(part, own), made when needed; `each` has an entry per part."""

    def map(self, function: Function, parts: Parts, *args: Any) -> list[Any]:
        """Return handles of function(part, *args) for every part; they are kept until cancelled."""

    def sum(self, function: Function, parts: Parts, *args: Any, add: Function) -> Any:
        """Return the sum of function(part, *args) over all parts, added as a tree."""

    def lead(self, asks: Function, parts: Parts, task: Any, answer: Function, add: Function) -> Any:
        """Return the result of asks(part, task), run where one of the parts is.

        It is a generator: it yields requests and receives answer(part, request), added over all
        parts. None if no place is nearer to the parts than this process.
        """

    def cancel(self, handles: Sequence[Any]) -> None:
        """Release the parts of the handles."""

    def close(self) -> None:
        """End the fit."""

    @property
    def n_workers(self) -> int: ...

    @property
    def n_threads(self) -> int:
        """Threads for the work on one part."""


def answered(asking: Generator[Any, Any, Any], answer: Function) -> Any:
    """Return the result of a generator that yields requests and is sent their results."""
    question = next(asking)
    while True:
        reply = answer(question)
        try:
            question = asking.send(reply)
        except StopIteration as end:
            return end.value


class LocalBackend:
    """Threads of this process; a handle is the part itself."""

    def __init__(self, n_threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(n_threads)
        self.n_workers = n_threads
        self.n_threads = 1

    def derived(self, function: Function, parts: Parts, each: Sequence[Any]) -> list[Any]:
        return list(self._pool.map(function, parts, each))

    def map(self, function: Function, parts: Parts, *args: Any) -> list[Any]:
        return list(self._pool.map(lambda part: function(part, *args), parts))

    def sum(self, function: Function, parts: Parts, *args: Any, add: Function) -> Any:
        return reduce(add, self.map(function, parts, *args))

    def lead(self, asks: Function, parts: Parts, task: Any, answer: Function, add: Function) -> Any:
        asking = asks(parts[0], task)
        return answered(asking, lambda question: self.sum(answer, parts, question, add=add))

    def cancel(self, handles: Sequence[Any]) -> None:
        """Do nothing: parts live as long as their handles."""

    def close(self) -> None:
        self._pool.shutdown()
