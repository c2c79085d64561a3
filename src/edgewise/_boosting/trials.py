"""The number of rounds of a fit, found on held-out rows so that the fit can learn from all rows.

Each part of the rows is held out once. A trial learns from all rows but one part and is scored on
that part after every round. The trials run together, round by round, until their mean score has
not risen for a while.
"""

import copy
import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.rows import Rows
from .._ground import portable
from .._model.model import Scores
from .calibration import PULL
from .loop import Rounds
from .progress import Progress
from .validation import TINY

MOST_ROWS = 20_000  # of a fit that searches for the number of rounds; more rows overfit more slowly
LARGEST_STEP = 0.5  # of the logarithm of the factor in a round
LEEWAY = 0.01  # share of the best loss by which a later round may be worse
NOTHING = 1e-9  # a rise of the score by less than this share of it is rounding


class Found(NamedTuple):
    """The results of the trials."""

    n_rounds: int
    scores: NDArray[np.float64]  # (rounds tried): the validation score after each
    reason: str
    factor: float = 1.0  # of the scores, which makes their soft-max agree with frequencies


class Trial:
    """A fit on some rows, watched on others."""

    def __init__(self, estimator: Any, rows: Rows, held: Rows, classes: NDArray[Any], most: int):
        own = copy.copy(estimator)  # engines store attributes on their estimator
        start = own._start(rows, len(classes))
        ready = own._ready_to_boost(rows, start, {})
        self.held = held
        self._kept = own._learns_from_trials()
        self.n_threads = ready.engine.n_threads
        self._builder = ready.builder
        self._rounds = iter(Rounds(ready.rule, ready.engine, range(most)))
        self.scores: Scores = np.tile(start, (len(held.codes), 1))
        self.score: Callable[[Scores], float] = own._score_of(held, classes, self.n_threads)

    def advance(self) -> bool:
        """Run one more round; return False if there is none."""
        played = next(self._rounds, None)
        if played is None:
            return False
        self._builder.add_scores(played[0], self.held.X, self.scores, self.n_threads)
        if self._kept:
            self._builder.append(played[0])
        return True

    def scores_after(self, n_rounds: int) -> Scores:
        """Scores of the held-out rows after the first rounds, if the trial keeps its trees."""
        model = self._builder.model()
        if n_rounds < model.n_rounds:
            model = model.first_rounds(n_rounds)
        scores: Scores = model.scores(self.held.X, self.n_threads)
        return scores


class MeanScore:
    """The mean score of the trials, weighted by the rows that each is scored on."""

    factor = 1.0

    def __init__(self, trials: Sequence[Trial]) -> None:
        self._trials = trials
        weights = [
            float(len(t.held.codes)) if t.held.weights is None else math.fsum(t.held.weights)
            for t in trials
        ]
        self._shares = [weight / math.fsum(weights) for weight in weights]

    def __call__(self) -> float:
        of_trials = zip(self._shares, self._trials, strict=True)
        return math.fsum(share * trial.score(trial.scores) for share, trial in of_trials)


class RefinedLoss:
    """Minus the log loss of all held-out rows after temperature scaling.

    Boosting continues to separate the classes long after its probabilities have become
    overconfident. The loss under the best factor of the scores shows when the separation ends, and
    the factor corrects the probabilities (Berta, Holzmueller, Jordan and Bach, "Rethinking early
    stopping: refine, then calibrate", 2025).

    The factor is at most 1: scores that are too small need more rounds. It changes little from
    round to round, so one Newton step per round follows its optimum.
    """

    def __init__(
        self, trials: Sequence[Trial], of_rows: Callable[[Scores, Rows, int], Scores]
    ) -> None:
        """`of_rows` gives the loss of rows of scores, its slope and its curvature, (3, n)."""
        self._trials = trials
        self._of_rows = of_rows
        held = [trial.held for trial in trials]
        weights = [np.ones(len(h.codes)) if h.weights is None else h.weights for h in held]
        self._shares = np.concatenate(weights) / math.fsum(math.fsum(w) for w in weights)
        self._log_factor = 0.0

    @property
    def factor(self) -> float:
        return float(portable.exp(self._log_factor))

    def __call__(self) -> float:
        loss, slope, curvature = self._expansion()
        step = max(-LARGEST_STEP, min(-slope / curvature, LARGEST_STEP, -self._log_factor))
        self._log_factor += step
        return -(loss + slope * step + curvature * step * step / 2)

    def _expansion(self) -> tuple[float, float, float]:
        """The loss at the factor, its slope and its curvature (of Gauss and Newton) by the
        logarithm of the factor."""
        of_rows = [
            self._of_rows(self.factor * trial.scores, trial.held, trial.n_threads)
            for trial in self._trials
        ]
        loss, slope, curvature = (
            math.fsum(self._shares * part) for part in np.concatenate(of_rows, axis=1)
        )
        pull = PULL * self._log_factor
        return loss + pull * self._log_factor, slope + 2 * pull, curvature + 2 * PULL


def log_loss_by_log_factor(scores: Scores, rows: Rows, n_threads: int) -> Scores:
    """The log loss of the soft-max of rows of scores, its slope and its curvature, (3, n)."""
    at = np.arange(len(scores)), rows.codes
    logits = scores - scores[at][:, np.newaxis]  # of the label: 0
    proba = logits.copy()
    _core.softmax(proba, n_threads)
    of_label = np.maximum(proba[at], TINY)
    mean = (proba * logits).sum(axis=1)
    spread = (proba * logits**2).sum(axis=1) - mean**2
    return np.stack([-portable.log(of_label), mean, spread])


class Clock:
    """The time limit of the trials: half of that of the fit."""

    def __init__(self, begin: float, limit: float | None) -> None:
        self._end = math.inf if limit is None else begin + limit / 2

    def late(self) -> bool:
        return time.perf_counter() > self._end


def rounds_found(
    estimator: Any,
    parts: Sequence[tuple[Rows, Rows]],
    classes: NDArray[Any],
    most: int,
    clock: Clock,
) -> Found:
    """The best number of rounds for the held-out rows, at most `most`.

    For a loss it is the last round that is worse than the best by no more than a leeway, usually
    LEEWAY, because predictions continue to improve where a loss is flat. For other scores it is the
    first of the best rounds.
    """
    trials = [Trial(estimator, rows, held, classes, most) for rows, held in parts]
    score = (
        RefinedLoss(trials, estimator._by_log_factor) if estimator._refines() else MeanScore(trials)
    )
    leeway = estimator._leeway if estimator.scoring == "loss" else -NOTHING
    label = f"{type(estimator).__name__}, how many rounds"
    scores, factors, last_good, reason = [score()], [1.0], 0, "early stopping"
    best = scores[0]
    with closing(Progress(most, label, shown=estimator.verbose > 0)) as progress:
        for m in range(1, most + 1):
            if not any([trial.advance() for trial in trials]):
                break
            scores.append(score())
            factors.append(score.factor)
            progress.update(m, f"score {scores[-1]:.5f}")
            if scores[-1] > best - leeway * abs(best):
                last_good = m
            best = max(best, scores[-1])
            if m - last_good >= estimator.n_iter_no_change:
                break
            if clock.late():
                reason = "time limit"
                break
    n_rounds = _chosen(np.array(scores), leeway)
    if n_rounds == most:
        reason = "all rounds done"
    found = Found(n_rounds, np.array(scores[1:]), reason, factors[n_rounds])
    if estimator._learns_from_trials():
        estimator._learn_from_trials(trials, found)
    return found


def _chosen(scores: NDArray[np.float64], leeway: float) -> int:
    """A number of rounds, from the scores after 0, 1, ... of them."""
    best = scores.max()
    if not best > scores[0] + NOTHING * abs(scores[0]):
        return 0
    good = np.flatnonzero(scores >= best - max(leeway, NOTHING) * abs(best))
    return int(good[-1] if leeway > 0 else good[0])
