"""The driver of the blocks: the rounds, and the model to replay."""

import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._boosting.grower import Tree
from .._ground.errors import InvalidDataError
from .._model.model import Model, ModelBuilder
from ._asker import Asker, Done, Growth, LeadTask, lead
from ._backend import Backend, answered
from ._block import Answer, Array, Question, Setting, State, Step, add_answers, ask


class Driver(Asker):
    """Sends requests to all blocks, updates outdated ones, and has trees grown."""

    def __init__(
        self,
        backend: Backend,
        blocks: Sequence[Any],
        kind: type[State],
        options: dict[str, Any],
        *,
        cuts: _core.Cuts,
        n_threads: int,
    ) -> None:
        begun = Question(uuid.uuid4().hex, Setting(kind, options), 0, 0, [], None)
        super().__init__(cuts, n_threads, options, begun)
        self.n_rows: int = options["n_total"]
        self._backend = backend
        self._blocks = blocks
        self._builder = ModelBuilder(np.asarray(options["start"]), options["n_features"])
        self._before: Model | None = None  # rounds of an earlier fit
        self._added: list[Tree] | None = None
        self.loss_before: float | None = None  # of the checkpoint to resume from

    def loss(self) -> float:
        """The training loss."""
        raise NotImplementedError

    def note(self, step: Step) -> None:
        """Add a step that blocks take on the next trip."""
        closing = self._added is not None and step[0] == "survey"
        if not closing:  # which belongs to the round it closes
            self._open_round()
        self._log.append(step)

    def _open_round(self) -> None:
        if self._added is not None:  # the round is over: a new log begins
            self._builder.append(self._added)
            self._begin(self._begun.m + 1)
            self._added = None

    def _begin(self, m: int) -> None:
        self._begun = self._begun._replace(m=m)
        self._log, self._n_known = [], 0

    def trip(self, step: Step) -> Answer:
        """Return the sum of the blocks' results of a step."""
        self.note(step)
        answer = self._ask(self._n_known, None)
        while answer.stale:
            answer = self._ask(0, self._model())
        self._n_known = len(self._log)
        return answer

    def _ask(self, n_known: int, model: dict[str, Array] | None) -> Answer:
        question = self.question(n_known, model)
        begin = time.perf_counter()
        answer: Answer = self._backend.sum(ask, self._blocks, question, add=add_answers)
        self.traffic.note(time.perf_counter() - begin, answer)
        return answer

    def grown(self, grow: Callable[..., Growth], *args: Any) -> Any:
        """Return the result of grow(asker, *args), run by a leader if there is one."""
        self._open_round()
        begun = self.question(self._n_known, None)
        if begun.m > 0:  # blocks have it, or need more than that
            begun = begun._replace(setting=None)
        task = LeadTask(grow, args, self.options, begun)
        done: Done | None = self._backend.lead(lead, self._blocks, task, ask, add_answers)
        if done is None:
            return answered(grow(self, *args), self.trip)
        self._log = self._log[: self._n_known] + done.steps
        self._n_known = len(self._log)
        self.traffic.add(done.traffic)
        return done.value

    def begin_round_after(self, trees: list[Tree], step: Step) -> None:
        """Add the trees to the model, the last step of a round."""
        self._log.append(step)
        self._added = trees

    def continue_from(self, model: Model) -> None:
        """Begin with the rounds of an earlier fit."""
        self._before = model
        self._begin(model.n_rounds)

    def need_same_data(self) -> None:
        """The same rows and labels have the loss of the checkpoint, bit for bit."""
        if self.loss_before is None:
            return
        try:
            loss = self.loss()
        except ValueError as error:  # of trees that do not fit the data
            raise InvalidDataError(
                f"resume_from must name a checkpoint of the same data: {error}."
            ) from None
        if loss != self.loss_before:
            raise InvalidDataError(
                "resume_from must name a checkpoint of the same data, with the same labels and "
                f"weights. Its training loss is {self.loss_before!r}; on these data it is {loss!r}."
            )

    def _model(self) -> dict[str, Array]:
        model = self._builder.model()
        if self._before is not None:
            model = self._before.followed_by(model)
        return model.arrays()
