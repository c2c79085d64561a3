"""The requests to the blocks, step by step: the log of a round, and the cost of its trips.

The driver, which has the model, sends them; or, while trees grow, a leader in its place: a worker
that holds some of the blocks. Trips from there are shorter, and its own blocks are local.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._boosting.sampling import Draw
from ._block import Answer, Array, Block, Question, Step

Growth = Generator[Step, Answer, Any]  # yields steps, receives the results, and returns the trees


@dataclass
class Traffic:
    """The costs of trips to the blocks so far."""

    trips: int = 0
    seconds: float = 0.0  # of waiting for answers
    working: float = 0.0  # seconds of these that the blocks worked
    bytes: int = 0  # of answers
    largest: int = 0  # bytes of an answer

    def note(self, seconds: float, answer: Answer) -> None:
        self.add(Traffic(1, seconds, answer.seconds, answer.n_bytes, answer.n_bytes))

    def add(self, other: "Traffic") -> None:
        self.trips += other.trips
        self.seconds += other.seconds
        self.working += other.working
        self.bytes += other.bytes
        self.largest = max(self.largest, other.largest)


class Asker:
    """The requests of a round, and the core's inputs for choosing splits."""

    def __init__(
        self, cuts: _core.Cuts, n_threads: int, options: dict[str, Any], begun: Question
    ) -> None:
        self.options = options
        self.data = _core.bin_rows(np.empty((0, options["n_features"])), cuts, 1)  # without rows
        self.n_threads = n_threads  # of this process
        self.traffic = Traffic()
        self._begun = begun
        self._log = list(begun.log)
        self._n_known = 0  # steps of the log that all blocks have taken

    def limits(self, draw: Draw) -> _core.GrowLimits:
        """Limits of trees that learn from what is drawn."""
        return _core.GrowLimits(**self.options["limits"] | draw.limits())

    def question(self, n_known: int, model: dict[str, Array] | None) -> Question:
        """Return the request of the round for blocks that know this many steps of the log."""
        before = self._begun.n_known  # steps of the round before this log
        log = self._log[n_known:]
        return self._begun._replace(n_known=before + n_known, log=log, model=model)


# --- on the workers ----------------------------------------------------------------------------


class LeadTask(NamedTuple):
    """The task of a leader: grow(asker, *args), from the current state of the round."""

    grow: Callable[..., Growth]
    args: tuple[Any, ...]
    options: dict[str, Any]  # of the fit
    begun: Question


class Done(NamedTuple):
    """The result of a task, the steps that the blocks have taken, and their cost."""

    value: Any
    steps: list[Step]
    traffic: Traffic

    @property
    def n_bytes(self) -> int:
        return self.traffic.largest


class Leader(Asker):
    """Sends requests in the driver's place, as long as all blocks are up to date."""

    def lead(self, growth: Growth) -> Generator[Question, Answer, Done | None]:
        step = next(growth)
        while True:
            self._log.append(step)
            begin = time.perf_counter()
            answer = yield self.question(self._n_known, None)
            self.traffic.note(time.perf_counter() - begin, answer)
            if answer.stale:  # the driver has the model
                return None
            self._n_known = len(self._log)
            try:
                step = growth.send(answer)
            except StopIteration as end:
                return Done(end.value, self._log, self.traffic)


def lead(block: Block, task: LeadTask) -> Generator[Question, Answer, Done | None]:
    """Lead on a worker: yield requests and receive the sums of all results."""
    options = task.options
    leader = Leader(block.cuts, options["n_threads"], options, task.begun)
    return leader.lead(task.grow(leader, *task.args))
