"""Messages to the workers that hold the parts of the data, without the scheduler's tasks.

Dask's own connections carry them (those of ``Client.run``), and workers are taught one more kind of
request for it. A worker does what is asked on its task threads and adds up the answers of the parts
it holds. Where workers cannot be reached from here, the scheduler passes messages on.

Nothing rests on this: whenever anything is not as expected (a part has moved, a worker is gone),
there is no answer, and the caller asks by tasks. After some failures in a row no more is tried.
"""

import asyncio
import pickle
import time
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

REQUEST = "edgewise_sum"
PATIENCE = 3.0  # seconds to reach the workers, once
FAILURES = 5  # in a row, after which messages are given up


class Messenger:
    """Asks the workers that hold some parts."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._places: dict[str, list[str]] = {}  # by worker: the keys of the parts it holds
        self.reaches = True  # whether workers can be reached from here
        self.n_answered = 0  # trips
        self._n_failed = 0  # since the last answer

    def sums(
        self, function: Callable[..., Any], parts: Sequence[Any], args: tuple[Any, ...], add: Any
    ) -> list[Any]:
        """Each worker's sum of function(part, *args); nothing if that does not work out."""
        known, self._places = self._places, {}  # until it has worked
        if any(part.status != "finished" for part in parts):  # lost: their worker would not answer
            return []
        if self._n_failed == FAILURES:
            return []
        self._n_failed += 1
        places = known or self._find(parts)
        if not places:
            return []
        message = pickle.dumps((function, args, add), protocol=5)
        try:
            answers = self._client.sync(self._answers, places, message)
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

    async def _answers(self, places: dict[str, list[str]], message: bytes) -> list[bytes | None]:
        words = {"places": places, "message": message}
        if self.reaches:
            asked = [getattr(self._client.rpc(worker), REQUEST)(**words) for worker in places]
            return list(await asyncio.gather(*asked))
        passed_on = {"op": REQUEST, **words}
        answers = await self._client.scheduler.broadcast(msg=passed_on, workers=list(places))
        return list(answers.values())

    def _find(self, parts: Sequence[Any]) -> dict[str, list[str]]:
        """A worker for every part; nothing if some part is nowhere. The workers learn to answer."""
        places: dict[str, list[str]] = {}
        holders = self._client.who_has(parts)
        for part in parts:
            if not holders.get(part.key):
                return {}
            places.setdefault(holders[part.key][0], []).append(part.key)
        try:
            self._client.run(_learn, workers=list(places))
        except (OSError, ValueError):  # a worker is gone
            return {}
        self.reaches = self.reaches and self._client.sync(self._reach, list(places))
        return places

    async def _reach(self, workers: list[str]) -> bool:
        try:
            calls = [self._client.rpc(worker).identity() for worker in workers]
            await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)
        except (OSError, TimeoutError):
            return False
        return True


# --- on the workers -------------------------------------------------------------------------------


def _learn(dask_worker: Any) -> None:
    async def sum_here(places: dict[str, list[str]], message: bytes) -> bytes | None:
        return await _sum(dask_worker, places[dask_worker.address], message)

    dask_worker.handlers[REQUEST] = sum_here


async def _sum(worker: Any, keys: list[str], message: bytes) -> bytes | None:
    """The sum over parts that the worker holds; None if one is not there."""
    if not all(key in worker.data for key in keys):
        return None
    function, args, add = pickle.loads(message)
    loop, threads = asyncio.get_running_loop(), worker.executors["default"]
    begin = time.perf_counter()
    work = [loop.run_in_executor(threads, function, worker.data[key], *args) for key in keys]
    answer = reduce(add, await asyncio.gather(*work))
    if hasattr(answer, "seconds"):
        answer.seconds = time.perf_counter() - begin
    return pickle.dumps(answer, protocol=5)
