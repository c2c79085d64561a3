"""A block: the rows of one part of the data, where they are.

A block permanently holds bins, labels, weights and, if rounds draw rows, their keys: a function of
the raw data and the cuts. During a fit it also has a state, a function of the block and the model
so far, which is neither sent nor backed up. A request carries the log of the current round. If the
state of a block is outdated or missing (because the block was computed again on another machine),
the block says so, and the driver repeats the request with the model to replay. Nothing depends on a
particular machine, and a lost machine costs only the work of its blocks.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.chance import Keys

Array = NDArray[Any]
Lender = Callable[[int], NDArray[np.uint8]]  # of so many bytes
Step = tuple[Any, ...]  # the name of a method of the state, and its arguments


@dataclass
class Answer:
    """The result of a block: numbers to add, and numbers whose maximum counts."""

    sums: list[Array] = field(default_factory=list)
    peaks: list[Array] = field(default_factory=list)
    stale: int = 0  # blocks that need the model
    seconds: float = 0.0  # of work, the longest of parallel workers

    @property
    def n_bytes(self) -> int:
        return sum(a.nbytes for a in (*self.sums, *self.peaks))


def add_answers(a: Answer, b: Answer) -> Answer:
    """Return the sum of two results."""
    stale = a.stale + b.stale
    if stale:  # all are asked again
        return Answer(stale=stale)
    return Answer(
        [x + y for x, y in zip(a.sums, b.sums, strict=True)],
        [np.maximum(x, y) for x, y in zip(a.peaks, b.peaks, strict=True)],
        seconds=max(a.seconds, b.seconds),
    )


class Setting(NamedTuple):
    """The constants of all blocks and rounds of a fit."""

    kind: type["State"]
    options: dict[str, Any]  # of the state


class Question(NamedTuple):
    """A request to a block: the log of a round so far; the result is that of its last step.

    The first `n_known` steps of the log are left out, and the setting and the model of the rounds
    before are None, if blocks are expected to have them.
    """

    fit: str  # its name: blocks serve one fit at a time
    setting: Setting | None
    m: int  # the round
    n_known: int
    log: list[Step]
    model: dict[str, Array] | None


class State:
    """The state of a fit on one block. Steps are methods; their results can be added."""

    def __init__(self, block: "Block", setting: Setting) -> None:
        self.block = block
        self.fit = ""
        self.m = 0
        self.n_applied = 0
        self.added = False  # whether the trees of round m are in
        self.answer = Answer()
        self._cover_unit: float = setting.options["cover_unit"]

    def covers(self, trees: list[_core.Tree]) -> Array:
        """Sums of the weights of the rows in each leaf of trees that have routed the rows."""
        return _core.cover_sums(trees, self.block.weights, self._cover_unit)

    def replay(self, trees: list[_core.Tree], round_start: Array) -> None:
        """Replay a model on a new state."""
        raise NotImplementedError

    def follow(self, question: Question) -> Answer:
        """Applies the steps of the log that are new."""
        if self.m + 1 == question.m and self.added:
            self.m, self.n_applied, self.added = question.m, 0, False
        for name, *args in question.log[self.n_applied - question.n_known :]:
            self.answer = getattr(self, name)(*args)
            self.n_applied += 1
        answer = self.answer
        if self.block.lend is not None:  # no block is ever lost, so no trip is repeated
            self.answer = Answer()
        return answer


class Block:
    """Bins, labels and weights of some rows."""

    def __init__(
        self,
        cuts: _core.Cuts,
        data: _core.BinnedData,
        labels: Array,
        weights: Array | None,
        keys: Keys | None = None,
    ) -> None:
        self.cuts = cuts
        self.data = data
        self.labels = labels
        self.weights = weights
        self.keys = keys  # of the rows, where rounds draw some of them
        self.lend: Lender | None = None  # the block's large arrays are in room that it lends
        self._state: State | None = None
        self._lock = threading.Lock()

    def settle(self, arrays: Any) -> None:
        """Move the arrays that grow with the rows to lent room, if there is some."""
        if self.lend is not None:
            _core.settle(arrays, self.lend(_core.room_of(arrays)))

    @property
    def n_bytes(self) -> int:
        arrays = (self.labels, self.weights, self.keys)
        return self.data.n_bytes + sum(a.nbytes for a in arrays if a is not None)

    def __sizeof__(self) -> int:
        return self.n_bytes

    def __reduce__(self) -> tuple[Any, ...]:
        lists = _core.lists_of(self.data) if self.data.has_lists else None
        bins = lists or (_core.columns_of(self.data),)
        return _rebuilt, (self.cuts, bins, self.labels, self.weights, self.keys)

    def ask(self, question: Question) -> Answer:
        with self._lock:
            state = self._state_for(question)
            if state is None:
                return Answer(stale=1)
            begin = time.perf_counter()
            try:
                return replace(state.follow(question), seconds=time.perf_counter() - begin)
            except BaseException:
                self._state = None  # half a step may have been done
                raise

    def _state_for(self, question: Question) -> State | None:
        state = self._state
        if state is not None and state.fit == question.fit:
            applied = state.n_applied - question.n_known
            here = state.m == question.m and 0 <= applied <= len(question.log)
            next_round = state.m + 1 == question.m and state.added and question.n_known == 0
            if here or next_round:
                return state
        if question.n_known > 0 or (question.m > 0 and question.model is None):
            return None
        if question.setting is None:
            return None
        state = question.setting.kind(self, question.setting)
        state.fit = question.fit
        if question.model is not None:
            trees = _core.trees_on_bins(self.cuts, question.model)
            state.replay(trees, question.model["round_start"])
        state.m = question.m
        self._state = state
        return state


class Bins(NamedTuple):
    """The rows of a block of dense data, without room for anything else."""

    cuts: _core.Cuts
    columns: Array  # (n_columns * n_rows)
    labels: Array
    weights: Array | None
    keys: Keys | None

    @classmethod
    def of(cls, block: Block) -> "Bins":
        return cls(
            block.cuts, _core.columns_of(block.data), block.labels, block.weights, block.keys
        )


def joined(some: list[Bins], n_threads: int) -> Block:
    """One block of the rows of several."""
    cuts = some[0].cuts
    labels = np.concatenate([bins.labels for bins in some])
    whole = [bins.columns.reshape(-1, len(bins.labels)) for bins in some if len(bins.labels)]
    columns = np.concatenate(whole, axis=1).ravel() if whole else some[0].columns
    data = _core.binned_from_columns(columns, len(labels), cuts, n_threads)
    weights = None if some[0].weights is None else np.concatenate([b.weights for b in some])
    keys = None if some[0].keys is None else np.concatenate([b.keys for b in some])
    return Block(cuts, data, labels, weights, keys)


def _rebuilt(
    cuts: _core.Cuts,
    bins: tuple[Array, ...],
    labels: Array,
    weights: Array | None,
    keys: Keys | None,
) -> Block:
    """A block from the bins of all rows, or of those that its columns list."""
    rebuild: Any = _core.binned_from_columns if len(bins) == 1 else _core.binned_from_lists
    data = rebuild(*bins, len(labels), cuts, 1)
    return Block(cuts, data, labels, weights, keys)


def ask(block: Block, question: Question) -> Answer:
    """The task of a block."""
    return block.ask(question)
