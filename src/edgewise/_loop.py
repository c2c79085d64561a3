"""The boosting loop, the same for every algorithm.

A round rule says what to grow; everything else that may happen in a round (recording, watching a
validation set, showing progress) is an object handed in. What a round adds to the model are items:
trees, or classifiers of another library.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._input import Matrix
from ._model import Scores
from ._progress import Progress


class Engine(Protocol):
    """The state of a fit."""

    n_threads: int

    def add(self, items: list[Any]) -> None:
        """Moves the scores of the training rows."""

    def replay(self, model: Any, X: Matrix) -> None:
        """Brings the state to where a model of earlier rounds left it."""

    def loss(self) -> float:
        """The training loss that boosting lowers."""

    def nothing_left(self, loss: float) -> bool:
        """Whether further rounds would change nothing."""


class RoundRule(Protocol):
    """One algorithm's round."""

    @property
    def stop_reason(self) -> str | None:
        """Set by the round after which there is nothing more to do, maybe in an earlier fit."""

    def round(self, engine: Any, m: int) -> list[Any]:
        """The items of round m (from 0). The loop adds them to the scores."""

    def story(self) -> dict[str, float]:
        """What the algorithm tells of its last round, for ``history_``."""


class Builder(Protocol):
    """Collects the items of the rounds into a model."""

    @property
    def n_rounds(self) -> int: ...

    def append(self, items: list[Any]) -> None: ...

    def add_scores(self, items: list[Any], X: Matrix, scores: Scores, n_threads: int) -> None:
        """Adds the outputs of `items` on X to scores (n, n_classes)."""

    def model(self) -> Any: ...


class History:
    """Figures per round; becomes the dict of arrays ``history_``."""

    def __init__(self) -> None:
        self._columns: defaultdict[str, list[float]] = defaultdict(list, loss=[], seconds=[])

    def record(self, **figures: float) -> None:
        for name, figure in figures.items():
            self._columns[name].append(figure)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {name: np.array(column) for name, column in self._columns.items()}


class Stopper:
    """Watches a validation set; the best round is the one with the highest score, the first of
    equals, and boosting stops when `patience` rounds have brought nothing better."""

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
        self.best_score = self.last_score = score(scores)

    def watch(self, builder: Builder, items: list[Any]) -> bool:
        """Takes the items of a round in; says whether to stop."""
        builder.add_scores(items, self._X, self.scores, self._n_threads)
        n_rounds = builder.n_rounds
        self.last_score = self._score(self.scores)
        if self.last_score > self.best_score:
            self.best_score, self.best_round = self.last_score, n_rounds
        return n_rounds - self.best_round >= self._patience


def boost(
    rule: RoundRule,
    engine: Engine,
    builder: Builder,
    rounds: range,
    stopper: Stopper | None,
    progress: Progress,
) -> tuple[dict[str, NDArray[Any]], str]:
    """Boosts until the rounds are used up or there is a reason to stop; history and reason."""
    history = History()
    reason = "all rounds done"
    loss = engine.loss()
    begin = time.perf_counter()
    for m in rounds:
        if rule.stop_reason:
            break
        if engine.nothing_left(loss):
            reason = "nothing left to learn"
            break
        items = rule.round(engine, m)
        if all(item.moves_nothing for item in items):
            reason = "no tree improves the loss"
            break
        engine.add(items)
        builder.append(items)
        loss = engine.loss()
        history.record(loss=loss, seconds=time.perf_counter() - begin, **rule.story())
        progress.update(builder.n_rounds, f"loss {loss:.5f}")
        if stopper is not None:
            stop = stopper.watch(builder, items)
            history.record(validation_score=stopper.last_score)
            if stop:
                reason = "early stopping"
                break
    progress.close()
    return history.arrays(), rule.stop_reason or reason
