"""The boosting loop, the same for every algorithm.

A round rule determines what grows; everything else in a round (watching a validation set or the
clock, showing progress, callbacks) is done by watchers. A round adds items to the model: trees, or
classifiers of another library.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._data.sparse import Matrix
from .._model.model import Scores
from .progress import Progress


class Engine(Protocol):
    """The state of a fit."""

    n_threads: int

    def add(self, items: list[Any]) -> None:
        """Moves the scores of the training rows."""

    def replay(self, model: Any, X: Matrix) -> None:
        """Restore the state after the rounds of a model."""

    def loss(self) -> float:
        """The training loss that boosting lowers."""

    def nothing_left(self, loss: float) -> bool:
        """Return whether further rounds would change nothing."""


class RoundRule(Protocol):
    """One algorithm's round."""

    @property
    def stop_reason(self) -> str | None:
        """Why boosting must end; set by a round, perhaps one of an earlier fit."""

    def round(self, engine: Any, m: int) -> list[Any]:
        """Return the items of round m, from 0. The loop adds them to the scores."""

    def story(self) -> dict[str, float]:
        """Return the algorithm's entries of its last round, for ``history_``."""


class Builder(Protocol):
    """Collects the items of the rounds into a model."""

    @property
    def n_rounds(self) -> int: ...

    def append(self, items: list[Any]) -> None: ...

    def add_scores(self, items: list[Any], X: Matrix, scores: Scores, n_threads: int) -> None:
        """Adds the outputs of `items` on X to scores (n, n_classes)."""

    def model(self) -> Any: ...


class History:
    """Figures per round, from which the dict of arrays ``history_`` is made."""

    def __init__(self) -> None:
        self._columns: defaultdict[str, list[float]] = defaultdict(list, loss=[], seconds=[])

    def record(self, **figures: float) -> None:
        for name, figure in figures.items():
            self._columns[name].append(figure)

    def last(self, name: str) -> float:
        return self._columns[name][-1]

    @property
    def n_rounds(self) -> int:
        """Number of completely recorded rounds."""
        return min(len(column) for column in self._columns.values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        n = self.n_rounds
        return {name: np.array(column[:n]) for name, column in self._columns.items()}


class Watcher:
    """An object that is called in every round."""

    def begin(self) -> None:
        """Called when a round begins."""

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        """Examine a round whose items are in the builder; return a reason to stop, or None."""
        raise NotImplementedError


class Stopper(Watcher):
    """Watches a validation set.

    The best round has the highest score (the first among equals), and boosting stops after
    `patience` rounds without a better one.
    """

    def __init__(
        self,
        X_val: Matrix,
        scores: Scores,
        score: Callable[[Scores], float],
        patience: int,
        n_threads: int,
    ) -> None:
        self._X = X_val
        self.scores = scores  # (n_val, n_classes), before the first round
        self._score = score
        self._patience = patience
        self._n_threads = n_threads
        self.best_round = 0  # rounds of this fit kept
        self.best_score = score(scores)

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        builder.add_scores(items, self._X, self.scores, self._n_threads)
        score = self._score(self.scores)
        history.record(validation_score=score)
        if score > self.best_score:
            self.best_score, self.best_round = score, builder.n_rounds
        worn_out = builder.n_rounds - self.best_round >= self._patience
        return "early stopping" if worn_out else None


class Deadline(Watcher):
    """Stops before a round that would exceed the limit if it took as long as the longest so far."""

    def __init__(self, seconds: float, begin: float) -> None:
        self._end = begin + seconds
        self._last = time.perf_counter()
        self._longest = 0.0

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        now = time.perf_counter()
        self._longest = max(self._longest, now - self._last)
        self._last = now
        return "time limit" if now + self._longest > self._end else None


class Bar(Watcher):
    """Shows the loss on a progress bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        self._progress.update(builder.n_rounds, f"loss {history.last('loss'):.5f}")
        return None


class Rounds:
    """The rounds of boosting: the items of each, and the loss after it.

    At the end `reason` contains the reason to stop.
    """

    def __init__(
        self, rule: RoundRule, engine: Engine, numbers: range, watchers: Sequence[Watcher] = ()
    ) -> None:
        self._rule = rule
        self._engine = engine
        self._numbers = numbers
        self._watchers = watchers
        self.reason = "all rounds done"

    def __iter__(self) -> Iterator[tuple[list[Any], float]]:
        loss = self._engine.loss()
        for m in self._numbers:
            if self._rule.stop_reason:
                return
            if self._engine.nothing_left(loss):
                self.reason = "nothing left to learn"
                return
            for watcher in self._watchers:
                watcher.begin()
            items = self._rule.round(self._engine, m)
            if all(item.moves_nothing for item in items):
                self.reason = "no tree improves the loss"
                return
            self._engine.add(items)
            loss = self._engine.loss()
            yield items, loss


def boost(
    rule: RoundRule,
    engine: Engine,
    builder: Builder,
    rounds: range,
    watchers: Sequence[Watcher] = (),
    *,
    keep_interrupted: bool = False,
) -> tuple[dict[str, NDArray[Any]], str]:
    """Boost until all rounds are done or there is a reason to stop; return history and reason.

    With `keep_interrupted`, Ctrl-C is such a reason once there is a round to keep. The builder may
    then contain one more round than the history.
    """
    history = History()
    played = Rounds(rule, engine, rounds, watchers)
    try:
        reason = _boost(played, rule, builder, watchers, history)
    except KeyboardInterrupt:
        if not keep_interrupted or history.n_rounds == 0:
            raise
        reason = "interrupted"
    return history.arrays(), rule.stop_reason or reason


def _boost(
    rounds: Rounds,
    rule: RoundRule,
    builder: Builder,
    watchers: Sequence[Watcher],
    history: History,
) -> str:
    begin = time.perf_counter()
    for items, loss in rounds:
        builder.append(items)
        history.record(loss=loss, seconds=time.perf_counter() - begin, **rule.story())
        reasons = [watcher.watch(builder, items, history) for watcher in watchers]
        if any(reasons):
            return next(reason for reason in reasons if reason)
    return rounds.reason
