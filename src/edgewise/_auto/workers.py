"""Workers: threads that each fit a whole member at a time."""

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Self

from .._boosting.progress import Progress
from .members import Member, Shared, Task, fitted


class Workers:
    """Fits members side by side, in any number of threads with the same result."""

    def __init__(self, shared: Shared, n_workers: int) -> None:
        self._shared = shared
        self._n = n_workers
        self._pool = ThreadPoolExecutor(n_workers) if n_workers > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._shared.stop.set()  # members still at work end with their round
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def fitted(self, tasks: Sequence[Task], progress: Progress, done: int) -> list[Member]:
        """The members of the tasks, in their order; fewer if time runs out, but one at least."""
        if self._pool is None or not tasks:
            return self._one_by_one(tasks, progress, done)
        futures: list[Future[Member]] = []
        for task in tasks:
            if futures and self.late():
                break
            futures.append(self._pool.submit(fitted, task, self._shared))
            while sum(not f.done() for f in futures) >= self._n:
                wait([f for f in futures if not f.done()], return_when=FIRST_COMPLETED)
                progress.update(done + sum(f.done() for f in futures), task.setting)
        members = [f.result() for f in futures]
        progress.update(done + len(members), tasks[-1].setting)
        return members

    def _one_by_one(self, tasks: Sequence[Task], progress: Progress, done: int) -> list[Member]:
        members: list[Member] = []
        for task in tasks:
            if members and self.late():
                break
            members.append(fitted(task, self._shared))
            progress.update(done + len(members), task.setting)
        return members

    def late(self) -> bool:
        end = self._shared.end
        return end is not None and time.perf_counter() > end
