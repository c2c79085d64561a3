"""Workers: threads, each of which fits a whole member at a time."""

import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Self

from .._boosting.progress import Progress
from .members import Member, Shared, Task, fitted


class Workers:
    """Fits members in parallel; the result does not depend on the number of threads."""

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
        futures = self._begun(tasks, progress, done)
        members = [f.result() for f in futures]
        if members:
            progress.update(done + len(members), tasks[len(members) - 1].setting)
        for task in tasks[len(members) :]:
            if members and self.late():
                break
            members.append(fitted(task, self._shared))
            progress.update(done + len(members), task.setting)
        return members

    def _begun(self, tasks: Sequence[Task], progress: Progress, done: int) -> list[Future[Member]]:
        """The first tasks, given to threads: all unless time or the threads of the system run out.

        Where a thread cannot be started, the caller fits what is left.
        """
        futures: list[Future[Member]] = []
        pool = self._pool
        if pool is None:
            return futures
        for task in tasks:
            if futures and self.late():
                break
            try:
                futures.append(pool.submit(fitted, task, self._shared))
            except RuntimeError:
                pool.shutdown(wait=False)
                self._pool = None
                break
            while sum(not f.done() for f in futures) >= self._n:
                wait([f for f in futures if not f.done()], return_when=FIRST_COMPLETED)
                progress.update(done + sum(f.done() for f in futures), task.setting)
        return futures

    def late(self) -> bool:
        end = self._shared.end
        return end is not None and time.perf_counter() > end
