"""Messages to the workers that hold the parts of the data, without the scheduler's tasks.

Dask's own connections carry them (those of ``Client.run``). Workers get three further kinds of
requests:

- sum: a worker computes a function of its parts and adds the results;
- lead: a worker requests a sequence of such sums itself, from its own parts and, by messages
between
  workers, from the others. It sends one message less and works while they travel;
- follow: a worker returns sums to one leader until it gets an empty request.

If workers cannot be reached from here, the scheduler forwards messages. Fits do not depend on them:
if anything is not as expected (a part has moved, a worker is gone), there is no result, and the
caller uses tasks. After several failures in a row messages are no longer used, with a warning.
After the last fit that uses a worker, the worker is in its original state.
"""

import asyncio
import pickle
import random
import time
import uuid
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import reduce
from typing import Any

from .. import _core
from .._ground.errors import FitWarning
from ._backend import Function, Parts

SUM, LEAD, FOLLOW = "edgewise_sum", "edgewise_lead", "edgewise_follow"
PATIENCE = 3.0  # seconds to reach the workers, once
FAILURES = 5  # in a row, after which messages are given up
KEPT = 1 << 22  # bytes of a buffer that a worker does not give back, since the next is as large
SHORT = 0.05  # seconds of work that a worker does between two messages, without a task thread
GIVEN_UP = (
    f"Messages to the workers failed {FAILURES} times in a row. The fit continues with tasks, "
    "which give the same model but take several times as long."
)

Places = dict[str, list[str]]  # by worker: the keys of the parts it holds


class Messenger:
    """Sends requests to the workers that hold some parts."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._fit = uuid.uuid4().hex
        self._taught: set[str] = set()  # workers
        self._places: Places = {}
        self._leader = ""
        self.reaches = True  # whether workers can be reached from here
        self.n_answered = 0  # trips
        self.n_led = 0  # those of them that were leads
        self._n_failed = 0  # since the last answer

    def sums(
        self, function: Function, parts: Parts, args: tuple[Any, ...], add: Function
    ) -> list[Any]:
        """Return each worker's sum of function(part, *args); None if that fails."""
        return self._tried(SUM, parts, (function, args, add))

    def lead(self, asks: Function, parts: Parts, task: Any, answer: Function, add: Function) -> Any:
        """Return the result of asks(part, task) on a worker that holds a part, or nothing.

        It yields questions, and is sent the sums of answer(part, question).
        """
        answers = self._tried(LEAD, parts, (asks, task, answer, add))
        self.n_led += len(answers)
        return answers[0] if answers else None

    def _tried(self, request: str, parts: Parts, words: tuple[Any, ...]) -> list[Any]:
        known, self._places = self._places, {}  # until it has worked
        if any(part.status != "finished" for part in parts):  # lost: their worker would not answer
            return []
        if self._n_failed == FAILURES:
            return []
        self._n_failed += 1
        answers = self._asked(request, known or self._find(parts), words)
        if self._n_failed == FAILURES:
            warnings.warn(GIVEN_UP, FitWarning, stacklevel=2)
        return answers

    def _asked(self, request: str, places: Places, words: tuple[Any, ...]) -> list[Any]:
        if not places:
            return []
        message = pickle.dumps(words, protocol=5)
        try:
            answers = self._client.sync(self._answers, request, places, message)
        except Exception:  # if it was more than a lost worker, tasks will meet it again
            return []
        if any(answer is None for answer in answers):
            return []
        self._places = places
        self.n_answered += 1
        self._n_failed = 0
        return [pickle.loads(answer) for answer in answers]

    @property
    def n_workers(self) -> int:
        return len(self._places)

    async def _answers(self, request: str, places: Places, message: bytes) -> list[bytes | None]:
        workers = [self._leader] if request == LEAD else list(places)
        words = {"places": places, "message": message}
        if self.reaches:
            asked = [getattr(self._client.rpc(worker), request)(**words) for worker in workers]
            return list(await asyncio.gather(*asked))
        passed_on = {"op": request, **words}
        answers = await self._client.scheduler.broadcast(msg=passed_on, workers=workers)
        return list(answers.values())

    def _find(self, parts: Parts) -> Places:
        """Return a worker for every part, with handlers registered; None if a part is missing."""
        places: Places = {}
        holders = self._client.who_has(parts)
        for part in parts:
            if not holders.get(part.key):
                return {}
            places.setdefault(holders[part.key][0], []).append(part.key)
        try:
            self._client.run(_learn, self._fit, workers=list(places))
        except (OSError, ValueError):  # a worker is gone
            return {}
        self._taught |= places.keys()
        self.reaches = self.reaches and self._client.sync(self._reach, list(places))
        most = max(map(len, places.values()))
        self._leader = random.choice([worker for worker in places if len(places[worker]) == most])
        return places

    def close(self) -> None:
        """Restore the workers that still exist."""
        try:
            left = [worker for worker in self._client.nthreads() if worker in self._taught]
            if left:
                self._client.run(_forget, self._fit, workers=left)
        except (OSError, TimeoutError, ValueError):
            return  # a worker is gone, and its handlers with it

    async def _reach(self, workers: list[str]) -> bool:
        try:
            calls = [self._client.rpc(worker).identity() for worker in workers]
            await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)
        except (OSError, TimeoutError):
            return False
        return True


# --- on the workers -------------------------------------------------------------------------------


_fits: dict[str, set[str]] = {}  # by the address of a worker of this process: who uses it


def _learn(fit: str, dask_worker: Any) -> None:
    """Register the handlers of messages on a worker, for a fit."""
    _fits.setdefault(dask_worker.address, set()).add(fit)
    if LEAD in dask_worker.handlers:
        return
    pace = _Pace()
    _core.keep_buffers(KEPT)

    async def sum_here(places: Places, message: bytes) -> bytes | None:
        function, args, add = pickle.loads(message)
        return await _sum(dask_worker, places[dask_worker.address], function, args, add, pace)

    async def lead_here(places: Places, message: bytes) -> bytes | None:
        return await _lead(dask_worker, places, message, pace)

    async def follow_here(comm: Any, places: Places, message: bytes) -> None:
        function, add = pickle.loads(message)
        keys = places[dask_worker.address]
        while words := await comm.read():
            try:
                args = (pickle.loads(words),)
                answer = await _sum(dask_worker, keys, function, args, add, pace)
            except Exception:  # the driver will meet it again
                answer = None
            await comm.write(answer)

    dask_worker.handlers |= {SUM: sum_here, LEAD: lead_here, FOLLOW: follow_here}


def _forget(fit: str, dask_worker: Any) -> None:
    """End a fit on a worker; after the last one its handlers are removed."""
    fits = _fits.get(dask_worker.address, set())
    fits.discard(fit)
    if fits:
        return
    _fits.pop(dask_worker.address, None)
    for request in (SUM, LEAD, FOLLOW):
        dask_worker.handlers.pop(request, None)
    if not _fits:
        _core.release_buffers()


class _Pace:
    """The duration of the longest recent work."""

    def __init__(self) -> None:
        self.seconds = float("inf")

    def note(self, seconds: float) -> None:
        self.seconds = max(seconds, min(0.9 * self.seconds, 10 * SHORT))


def _held(worker: Any, keys: list[str]) -> list[Any]:
    """Return the parts that the worker holds; None if one is missing."""
    return [worker.data[key] for key in keys] if all(key in worker.data for key in keys) else []


async def _worked(
    worker: Any, parts: Parts, function: Function, args: Any, add: Function, pace: _Pace
) -> Any:
    """The sum of function(part, *args) over parts that are here."""
    begin = time.perf_counter()
    alone = len(parts) == 1 or worker.state.nthreads == 1
    if alone and pace.seconds < SHORT:  # to wake a thread and to be woken by it takes as long
        answers = [function(part, *args) for part in parts]
    else:
        loop, threads = asyncio.get_running_loop(), worker.executors["default"]
        work = [loop.run_in_executor(threads, function, part, *args) for part in parts]
        answers = await asyncio.gather(*work)
    seconds = time.perf_counter() - begin
    pace.note(seconds)
    answer = reduce(add, answers)
    if hasattr(answer, "seconds"):
        answer.seconds = seconds
    return answer


async def _sum(
    worker: Any, keys: list[str], function: Function, args: Any, add: Function, pace: _Pace
) -> bytes | None:
    if not (parts := _held(worker, keys)):
        return None
    return pickle.dumps(await _worked(worker, parts, function, args, add, pace), protocol=5)


async def _lead(worker: Any, places: Places, message: bytes, pace: _Pace) -> bytes | None:
    if not (parts := _held(worker, places[worker.address])):
        return None
    asks, task, answer, add = pickle.loads(message)
    others = [other for other in places if other != worker.address]
    asking = asks(parts[0], task)
    question = next(asking)
    async with _lines(worker.rpc, others) as lines:
        follow = pickle.dumps((answer, add), protocol=5)
        for line in lines:
            await line.write({"op": FOLLOW, "places": places, "message": follow, "reply": False})
        while True:
            words = pickle.dumps(question, protocol=5)
            for line in lines:
                await line.write(words)
            own = await _worked(worker, parts, answer, (question,), add, pace)
            theirs = [await line.read() for line in lines]
            if None in theirs:
                return None
            try:
                question = asking.send(reduce(add, map(pickle.loads, theirs), own))
            except StopIteration as end:
                return pickle.dumps(end.value, protocol=5)


@asynccontextmanager
async def _lines(pool: Any, others: list[str]) -> AsyncIterator[list[Any]]:
    """Connections of a worker's pool to others, who follow it for a while."""
    lines: list[Any] = []
    try:
        for other in others:
            lines.append(await pool.connect(other))
        yield lines
        for line in lines:
            await line.write(b"")
    except BaseException:
        for line in lines:
            line.abort()  # an answer may be under way
        raise
    finally:
        for other, line in zip(others, lines, strict=False):
            pool.reuse(other, line)
