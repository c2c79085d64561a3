"""The one who drives the blocks: trips, the log of the round, and the model to replay."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._boosting.grower import Tree
from .._model.model import Model, ModelBuilder
from ._backend import Backend
from ._block import Answer, Array, Question, Setting, State, Step, add_answers, ask


@dataclass
class Traffic:
    """What a fit's trips to the blocks have cost so far."""

    trips: int = 0
    seconds: float = 0.0  # of waiting for answers
    working: float = 0.0  # seconds of these that the blocks worked
    bytes: int = 0  # of answers

    def note(self, seconds: float, answer: Answer) -> None:
        self.trips += 1
        self.seconds += seconds
        self.working += answer.seconds
        self.bytes += answer.n_bytes


class Driver:
    """Asks all blocks and adds up what they answer."""

    def __init__(
        self,
        backend: Backend,
        blocks: Sequence[Any],
        kind: type[State],
        options: dict[str, Any],
        *,
        cuts: _core.Cuts,
        n_features: int,
        limits: _core.GrowLimits,
        n_threads: int,
    ) -> None:
        self.options = options
        self.limits = limits
        self.n_threads = n_threads  # of this process
        self.n_rows: int = options["n_total"]
        self.data = _core.bin_rows(np.empty((0, n_features)), cuts, 1)  # the cuts, and no rows
        self.traffic = Traffic()
        self._backend = backend
        self._blocks = blocks
        self._setting = Setting(uuid.uuid4().hex, kind, options)
        self._builder = ModelBuilder(np.asarray(options["start"]), n_features)
        self._before: Model | None = None  # rounds of an earlier fit
        self._m = 0
        self._log: list[Step] = []
        self._n_known = 0  # steps of the log that all blocks have taken
        self._added: list[Tree] | None = None

    def note(self, step: Step) -> None:
        """A step that blocks take on the next trip."""
        if self._added is not None:  # the round is over: the log begins anew
            self._builder.append(self._added)
            self._m, self._log, self._n_known, self._added = self._m + 1, [], 0, None
        self._log.append(step)

    def trip(self, step: Step) -> Answer:
        """The sum of the blocks' answers to a step."""
        closing = self._added is not None and step[0] == "survey"
        if closing:  # belongs to the round it closes
            self._log.append(step)
        else:
            self.note(step)
        answer = self._ask(self._n_known, None)
        while answer.stale:
            answer = self._ask(0, self._model())
        self._n_known = len(self._log)
        return answer

    def _ask(self, n_known: int, model: dict[str, Array] | None) -> Answer:
        question = Question(self._setting, self._m, n_known, self._log[n_known:], model)
        begin = time.perf_counter()
        answer: Answer = self._backend.sum(ask, self._blocks, question, add=add_answers)
        self.traffic.note(time.perf_counter() - begin, answer)
        return answer

    def begin_round_after(self, trees: list[Tree], step: Step) -> None:
        """The last step of a round: the trees are added to the model."""
        self._log.append(step)
        self._added = trees

    def continue_from(self, model: Model) -> None:
        """Rounds of an earlier fit come first."""
        self._before = model
        self._m = model.n_rounds

    def _model(self) -> dict[str, Array]:
        model = self._builder.model()
        if self._before is not None:
            model = self._before.followed_by(model)
        return model.arrays()
