"""Dask: its collections as parts, its futures as handles. No network code but Dask's own.

Requests reach the blocks in one of two ways, with the same results:

- by tasks, whose results are added as a tree: this always works, because Dask computes lost blocks
  again;
- by messages to the workers that hold the blocks, if results are small (``_messages``): a trip then
  takes 2 ms instead of 15. While a tree grows, one of these workers sends requests to the others.
"""

import threading
import time
from collections.abc import Callable, Sequence
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import EdgewiseError, InvalidDataError
from ._backend import Function, Parts
from ._facts import Raw
from ._messages import Messenger
from ._settings import WorkersLostError

FAN_IN = 8  # answers added up in one task, or here
SMALL = 32 << 20  # bytes of all answers up to which they come as messages

try:
    import dask
    import dask.array as da
    from dask.delayed import Delayed, delayed
    from distributed import Client, default_client, get_client, get_worker, rejoin, secede
    from distributed.client import FutureCancelledError
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise ImportError(
        "Dask collections need the packages dask and distributed: pip install 'edgewise[dask]'."
    ) from error


# --- collections ----------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    return hasattr(X, "npartitions") and hasattr(X, "columns")


def columns(X: Any) -> tuple[int, NDArray[Any] | None]:
    """The number of columns, and their names if they are strings."""
    if not is_frame(X):
        if X.ndim != 2:
            raise InvalidDataError(f"X must have two dimensions. Got {X.ndim}.")
        return int(X.shape[1]), None
    names = np.asarray(X.columns, dtype=object)
    return len(names), names if all(isinstance(name, str) for name in names) else None


def columns_of_values(X: Any) -> list[int]:
    """The columns of a data frame that may hold something else than numbers."""
    if not is_frame(X):
        return []
    return [j for j, dtype in enumerate(X.dtypes) if getattr(dtype, "kind", "O") not in "fiub"]


def has_probabilities(y: Any) -> bool:
    """Return whether y may hold the class probabilities of every row."""
    if is_frame(y):
        return len(y.columns) > 1 and all(getattr(t, "kind", "O") == "f" for t in y.dtypes)
    if y is None or not hasattr(y, "shape") or not hasattr(y, "dtype"):
        y = np.asarray(y)
    return bool(len(y.shape) == 2 and y.shape[1] > 1 and y.dtype.kind == "f")


def parts(X: Any, y: Any, weights: Any) -> list[Any]:
    """Raw parts, lazily: blocks of rows of X, y and weights that belong together."""
    blocks = _row_blocks(X)
    labels = _aligned(y, X, len(blocks), "y")
    heavy = [None] * len(blocks)
    if weights is not None:
        heavy = _aligned(weights, X, len(blocks), "sample_weight")
    return [delayed(Raw)(*part) for part in zip(blocks, labels, heavy, strict=True)]


def _row_blocks(X: Any) -> list[Any]:
    if is_frame(X):
        return list(X.to_delayed())
    if X.ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel())


def _aligned(y: Any, X: Any, n_blocks: int, name: str) -> list[Any]:
    """The blocks of y that belong to the blocks of X."""
    if y is None:
        raise InvalidDataError(
            f"requires y to be passed, but the target {name} is None: give one class label per row."
        )
    rows = None if is_frame(X) else X.chunks[0]
    known = rows is not None and not np.isnan(rows).any()
    if not dask.is_dask_collection(y):
        if not known:
            raise InvalidDataError(
                f"{name} must be a Dask collection with the same blocks as X, whose block sizes "
                f"are not known here. Got {type(y).__name__}."
            )
        y = da.from_array(np.asarray(y), chunks=(rows, *np.asarray(y).shape[1:]))
    elif known and isinstance(y, da.Array) and y.chunks[0] != rows:
        if y.shape[0] != X.shape[0]:
            raise InvalidDataError(
                f"X and {name} must have the same number of rows. Got {X.shape[0]} and "
                f"{y.shape[0]}: inconsistent numbers of samples."
            )
        y = y.rechunk({0: rows})
    blocks = _row_blocks(y)
    if len(blocks) != n_blocks:
        raise InvalidDataError(
            f"X and {name} must have the same blocks. Got {n_blocks} and {len(blocks)}."
        )
    return blocks


def computed(collection: Any) -> Any:
    """Compute a collection in this process; return other objects unchanged."""
    return collection.compute() if dask.is_dask_collection(collection) else collection


def blockwise(estimator: Any, X: Any, method: str, n_columns: int | None, dtype: Any) -> Any:
    """Return the method's results for the blocks of X as a lazy array."""
    model = delayed(estimator)  # one task: it travels once to a worker
    sizes = [np.nan] * X.npartitions if is_frame(X) else X.chunks[0]
    answers = []
    for block, size in zip(_row_blocks(X), sizes, strict=True):
        shape = (size,) if n_columns is None else (size, n_columns)
        answer = delayed(_answer)(model, method, block, n_columns, dtype)
        answers.append(da.from_delayed(answer, shape=shape, dtype=dtype))
    return da.concatenate(answers, axis=0, allow_unknown_chunksizes=True)


def _answer(estimator: Any, method: str, X: Any, n_columns: int | None, dtype: Any) -> Any:
    if X.shape[0] == 0:
        return np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype)
    return getattr(estimator, method)(X)


# --- the engine -----------------------------------------------------------------------------------


class DaskBackend:
    """Futures of the current client."""

    n_threads = 1  # a worker has a task for each of its own

    def __init__(self, patience: float) -> None:
        self._in_task = _in_task()
        if self._in_task:
            secede()  # a task that waits for others must not hold a thread of its worker
        self._client: Client = _client()
        _need_same_version(self._client)
        self._watch = _Watch(self._client, patience)
        self.messenger = Messenger(self._client)
        self._answer_bytes = 0  # of the last answer
        self._led_bytes = 0  # of the largest answer to those who led

    @property
    def n_workers(self) -> int:
        return len(self._client.nthreads())

    def derived(self, function: Function, parts: Parts, each: Sequence[Any]) -> list[Any]:
        return [delayed(function)(part, own) for part, own in zip(parts, each, strict=True)]

    def map(self, function: Function, parts: Parts, *args: Any) -> list[Any]:
        return self._futures(function, parts, args)

    def sum(self, function: Function, parts: Parts, *args: Any, add: Function) -> Any:
        answers = self._by_messages(function, parts, args, add) or self._by_tasks(
            function, parts, args, add
        )
        sizes = [getattr(answer, "n_bytes", 0) for answer in answers]
        self._answer_bytes = max(sizes)
        return reduce(add, answers)

    def _by_tasks(self, function: Any, parts: Parts, args: tuple[Any, ...], add: Any) -> list[Any]:
        futures = self._futures(function, parts, args)
        made = list(futures)
        try:
            while len(futures) > FAN_IN:
                groups = [futures[i : i + FAN_IN] for i in range(0, len(futures), FAN_IN)]
                futures = self._client.map(_add_all, groups, add=add, pure=False)
                made += futures
            return self._gather(futures)
        finally:
            self.cancel(made)  # a traceback would keep those that failed on the scheduler

    def _by_messages(
        self, function: Any, parts: Parts, args: tuple[Any, ...], add: Any
    ) -> list[Any]:
        if isinstance(parts[0], Delayed) or not self._is_small(self._answer_bytes):
            return []
        return self.messenger.sums(function, parts, args, add)

    def lead(self, asks: Function, parts: Parts, task: Any, answer: Function, add: Function) -> Any:
        if not self._is_small(self._led_bytes):
            return None
        done = self.messenger.lead(asks, parts, task, answer, add)
        self._led_bytes = max(self._led_bytes, getattr(done, "n_bytes", 0))
        return done

    def _is_small(self, n_bytes: int) -> bool:
        return self.messenger.n_workers * n_bytes <= SMALL

    def _futures(self, function: Function, parts: Parts, args: tuple[Any, ...]) -> list[Any]:
        if isinstance(parts[0], Delayed):
            tasks = [delayed(function, pure=False)(part, *args) for part in parts]
            return list(self._client.compute(tasks))
        return list(self._client.map(_Bound(function, args), parts, pure=False))

    def _gather(self, futures: list[Any]) -> list[Any]:
        self._watch.futures = futures
        try:
            return list(self._client.gather(futures))
        except FutureCancelledError:
            raise self._watch.error() from None
        finally:
            self._watch.futures = []

    def cancel(self, handles: Sequence[Any]) -> None:
        for handle in handles:
            handle.release()

    def close(self) -> None:
        self.messenger.close()
        self._watch.close()
        if self._in_task:
            rejoin()


class _Bound:
    """A function of a part with its other arguments, sent once for all parts."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._function = function
        self._args = args
        self.__name__ = function.__name__

    def __call__(self, part: Any) -> Any:
        return self._function(part, *self._args)


def _add_all(answers: list[Any], add: Callable[[Any, Any], Any]) -> Any:
    return reduce(add, answers)


def _in_task() -> bool:
    try:
        get_worker()
    except ValueError:
        return False
    return True


def _client() -> Client:
    try:
        return get_client() if _in_task() else default_client()
    except ValueError:
        raise EdgewiseError(
            "Dask collections are fitted on the workers of a dask.distributed client, and there "
            "is none: make one with distributed.Client()."
        ) from None


def _need_same_version(client: Client) -> None:
    """Check that workers have the edgewise version of this process."""
    try:
        here = version("edgewise")
    except PackageNotFoundError:  # run from its sources
        return
    for address, there in sorted(client.run(version, "edgewise", on_error="return").items()):
        missing = isinstance(there, PackageNotFoundError)
        if missing or (isinstance(there, str) and there != here):  # else the worker is being lost
            raise EdgewiseError(
                f"All workers must have edgewise {here}, which this process has. The worker at "
                f"{address} has {'none' if missing else there}."
            )


class _Watch(threading.Thread):
    """Ends a fit if there has been no worker for a while; Dask would wait."""

    PAUSE = 2.0  # seconds between two looks

    def __init__(self, client: Client, patience: float) -> None:
        super().__init__(daemon=True, name="edgewise-watch")
        self.futures: list[Any] = []
        self._client = client
        self._patience = patience
        self._lost = False
        self._over = threading.Event()
        self.start()

    def run(self) -> None:
        seen = time.monotonic()
        while not self._over.wait(self.PAUSE):
            if self._has_workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > self._patience:
                self._lost = True
                self._client.cancel(self.futures, force=True)

    def _has_workers(self) -> bool:
        try:
            return len(self._client.nthreads()) > 0
        except (OSError, TimeoutError, ValueError):  # no scheduler either
            return False

    def error(self) -> Exception:
        if self._lost:
            return WorkersLostError(
                f"The cluster has had no workers for {self._patience:g} seconds, so the fit "
                "ended. A checkpoint, if there is one, is unchanged: settings(resume_from=...) "
                "resumes from it."
            )
        return EdgewiseError("Dask cancelled the tasks of this fit.")

    def close(self) -> None:
        self._over.set()
