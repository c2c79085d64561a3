"""The boosting loop, the same for every algorithm.

A round rule says what to grow; everything else that may happen in a round (recording, watching a
validation set, showing progress) is an object handed in.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._grower import Engine, Tree
from ._input import Matrix
from ._model import ModelBuilder, Scores
from ._progress import Progress

NOTHING_LEFT = 1e-12  # mean training log loss below which rounds change nothing


class RoundRule(Protocol):
    """One algorithm's round."""

    def round(self, engine: Engine, m: int) -> list[Tree]:
        """The trees of round m (from 0). The loop adds them to the scores."""

    def story(self) -> dict[str, float]:
        """What the algorithm tells of its last round, for ``history_``."""


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

    def watch(self, trees: list[Tree], n_rounds: int) -> bool:
        """Takes the trees of a round in; says whether to stop."""
        _core.add_tree_scores(trees, self._X, self.scores, self._n_threads)
        self.last_score = self._score(self.scores)
        if self.last_score > self.best_score:
            self.best_score, self.best_round = self.last_score, n_rounds
        return n_rounds - self.best_round >= self._patience


def boost(
    rule: RoundRule,
    engine: Engine,
    builder: ModelBuilder,
    rounds: range,
    stopper: Stopper | None,
    progress: Progress,
) -> History:
    """Boosts until the rounds are used up, nothing is left to learn, or the stopper says so."""
    history = History()
    loss = float(engine.class_losses().sum())
    begin = time.perf_counter()
    for m in rounds:
        if loss < NOTHING_LEFT:
            break
        trees = rule.round(engine, m)
        if all(tree.moves_nothing for tree in trees):
            break
        engine.add(trees)
        builder.append(trees)
        loss = float(engine.class_losses().sum())
        history.record(loss=loss, seconds=time.perf_counter() - begin, **rule.story())
        progress.update(builder.n_rounds, f"loss {loss:.5f}")
        if stopper is not None:
            stop = stopper.watch(trees, builder.n_rounds)
            history.record(validation_score=stopper.last_score)
            if stop:
                break
    progress.close()
    return history
