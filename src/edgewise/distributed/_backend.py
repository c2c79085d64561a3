"""The interface of an engine that runs functions on parts of the data.

A handle stands for a part, wherever it is. Functions are plain and importable, arguments and
answers can be pickled, and every answer adds up, so that it does not matter who adds what when.
``LocalBackend`` is the reference: the same fit in one process, on threads.
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
        """Parts that are function(part, own), made when needed; `each` has something per part."""

    def map(self, function: Function, parts: Parts, *args: Any) -> list[Any]:
        """Handles of function(part, *args) for every part; they are kept until cancelled."""

    def sum(self, function: Function, parts: Parts, *args: Any, add: Function) -> Any:
        """function(part, *args) of all parts, added up (as a tree) and brought here."""

    def lead(self, asks: Function, parts: Parts, task: Any, answer: Function, add: Function) -> Any:
        """Return the result of asks(part, task), run where one of the parts is.

        It is a generator: it yields questions and is sent answer(part, question), added up over all
        parts. Nothing if there is no place for it that is nearer to the parts than here.
        """

    def cancel(self, handles: Sequence[Any]) -> None:
        """The parts behind the handles are not needed any more."""

    def close(self) -> None:
        """The fit is over."""

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
        """Nothing to do: parts live as long as their handles."""

    def close(self) -> None:
        self._pool.shutdown()
