"""Members: boosters of the logistic family that share the binned rows of a fit.

A member learns from the rows of all folds but one and stops on that one. All rows are binned once;
a mask selects those that a member learns from. Its trees also route the other rows to their leaves,
so the state of the fit contains the held-out probabilities, and no separate prediction is needed.

Some members boost from linear scores. These are stored as trees, in the first round of the member.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._boosting.grower import Engine, binned
from .._boosting.loop import Builder, History, Watcher, boost
from .._boosting.sampling import Draw, Sampler
from .._data.groups import grouped
from .._data.rows import Rows
from .._families.logistic import LogisticBooster
from .._ground import params as p
from .._ground import portable
from .._model.model import Model, ModelBuilder, Scores
from .columns import Columns
from .linear import Linear, fitted_linear, mean_linear

MOST_ROUNDS = 2000
PATIENCE = 20  # rounds in which the held-out loss must fall
LEAST_FALL = 1e-5  # by this share of the loss of the class frequencies
ROUNDS_UNSEEN = 30  # where no row can be held out
MOST_ALONE = 8  # categories of a column without groups of them
LEAST_L2 = 0.01  # of the L2 penalty, as the held-out loss falls
STEADY_ROUNDS = 60  # of the same learning rate; then it grows in proportion to the rounds
LARGEST_RATE = 4.0  # times the first


class Member(NamedTuple):
    """A fitted member."""

    setting: str
    stage: int
    folds: tuple[int, ...]  # not seen
    model: Model
    held_out: NDArray[np.intp]  # rows that it has not seen
    scores: Scores  # (n_held_out, n_classes)
    losses: NDArray[np.float64]  # (n_rounds): mean log loss of the rows that it learned from
    held_out_losses: NDArray[np.float64]  # (n_rounds)
    seconds: float
    linear: Linear | None = None  # what the first round, which `model` has not, starts from

    @property
    def held_out_loss(self) -> float:
        """After its last round."""
        return float(self.held_out_losses[-1]) if len(self.held_out_losses) else float("nan")

    @property
    def n_rounds(self) -> int:
        return len(self.losses)

    @property
    def n_linear(self) -> int:
        """Trees of its linear start."""
        return 0 if self.linear is None else len(self.linear.gain)

    def first_rounds(self, n: int, rows: Rows, columns: Columns | None) -> "Member":
        """With at most this many rounds, one at least."""
        if n >= self.n_rounds:
            return self
        cut = self._replace(
            model=self.model.first_rounds(n - (self.linear is not None)),
            losses=self.losses[:n],
            held_out_losses=self.held_out_losses[:n],
        )
        return cut.scored(rows, columns, 1)

    def scored(self, rows: Rows, columns: Columns | None, n_threads: int) -> "Member":
        """With the scores of the rows that it has not seen."""
        whole = mean_model([self], [1.0], columns)
        return self._replace(scores=whole.scores(rows.X[self.held_out], n_threads))


class Task(NamedTuple):
    """A member to fit."""

    setting: str
    booster: LogisticBooster  # its parameters; the attributes of a fit that growing needs
    stage: int
    folds: tuple[int, ...]
    held_out: NDArray[np.bool_]  # (n)
    seed: int
    linear: bool = False  # whether it boosts from linear scores


class Shared(NamedTuple):
    """The inputs that all members share."""

    rows: Rows
    data: _core.BinnedData
    n_classes: int
    categorical: list[int]
    max_bins: int
    n_threads: int  # of one member
    stop: Event  # set: members end where they are
    end: float | None  # on the clock
    columns: Columns | None = None  # for linear starts, where they pay


class _HeldOut(Watcher):
    """Keeps the round with the lowest held-out loss, the first of equals."""

    def __init__(self, engine: "_MaskedEngine", shared: Shared) -> None:
        self._engine = engine
        self._shared = shared
        self.best = engine.held_out_loss()
        self.best_round = 0
        self.losses: list[float] = []
        self._least_fall = LEAST_FALL * engine.first_loss
        self._checkpoint = self.best, 0

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        loss = self._engine.held_out_loss()
        self._engine.ease(loss)
        self.losses.append(loss)
        if loss < self.best or not self._engine.holds_out:
            self.best, self.best_round = loss, builder.n_rounds
        if not self._engine.holds_out and builder.n_rounds == ROUNDS_UNSEEN:
            return "all rounds done"
        if self._shared.stop.is_set():
            return "interrupted"
        if self._shared.end is not None and time.perf_counter() > self._shared.end:
            return "time limit"
        if self.best < self._checkpoint[0] - self._least_fall:
            self._checkpoint = self.best, builder.n_rounds
        return "early stopping" if builder.n_rounds - self._checkpoint[1] >= PATIENCE else None


class _Quickening(Watcher):
    """Lets the learning rate of a rule grow in late rounds.

    Once probabilities are near 0 and 1, `l2_regularization` makes the steps of leaves small. With a
    growing rate, members of hundreds of rounds need half as many.
    """

    def __init__(self, rule: Any) -> None:
        self._rule = rule  # of a booster: it has a learning rate
        self._first = rule.learning_rate
        self._m = 0

    def begin(self) -> None:
        growth = min(max(self._m / STEADY_ROUNDS, 1.0), LARGEST_RATE)
        self._rule.learning_rate = self._first * growth
        self._m += 1

    def watch(self, builder: Builder, items: list[Any], history: History) -> str | None:
        return None


class _MaskedEngine(Engine):
    """Learns from some rows and computes the loss of the others."""

    def __init__(self, task: Task, shared: Shared, rows: Rows, data: _core.BinnedData) -> None:
        booster = task.booster
        learned = (~task.held_out).astype(np.uint8)
        limits = partial(_core.GrowLimits, **booster._limits(rows, shared.n_classes))
        drawing = booster._drawing() | {"seed": lambda: task.seed}
        sampler = Sampler(rows.X, rows.codes, **drawing)

        self._l2_share = 1.0

        def of_round(m: int) -> _core.GrowLimits:
            draw = sampler.of_round(m) if sampler.draws else Draw()
            drawn = learned if draw.rows is None else learned & draw.rows
            l2 = booster.l2_regularization * self._l2_share
            return limits(**draw._replace(rows=drawn).limits(), l2=l2)

        prior = start_scores(rows.take(~task.held_out), shared.n_classes)
        self.linear: Linear | None = None
        if task.linear and shared.columns is not None and task.held_out.any():
            self.linear = fitted_linear(
                shared.columns, rows, task.held_out, prior, shared.n_threads
            )
        self.start = prior if self.linear is None else self.linear.start
        super().__init__(
            rows,
            self.start,
            layout=booster._layout(shared.n_classes),
            max_bins=booster.max_bins,
            categorical=shared.categorical,
            limits=limits(drawn=learned),
            n_threads=shared.n_threads,
            limits_of_round=of_round,
            data=data,
        )
        self._held_out = np.flatnonzero(task.held_out).astype(np.uint32)
        self._learned = np.flatnonzero(learned).astype(np.uint32)
        self.first_loss = self.held_out_loss()
        if self.linear is not None and shared.columns is not None:
            self.replay(self.linear.model(shared.columns), rows.X)

    def loss(self) -> float:
        return self.posterior.loss_of(self._learned)

    def ease(self, held_out_loss: float) -> None:
        """Let the L2 penalty of leaves fall with the square root of the held-out loss.

        Hessians fall with the loss, and a penalty that stays makes late steps ever smaller.
        """
        if self.first_loss > 0.0 and self.holds_out:
            share = math.sqrt(held_out_loss / self.first_loss)
            self._l2_share = min(max(share, LEAST_L2), 1.0)

    @property
    def holds_out(self) -> bool:
        return len(self._held_out) > 0

    def held_out_loss(self) -> float:
        return self.posterior.loss_of(self._held_out) if self.holds_out else float("nan")


def fitted(task: Task, shared: Shared) -> Member:
    """Boost until the held-out loss no longer falls, and keep the best round."""
    begin = time.perf_counter()
    rows, data = shared.rows, shared.data
    if rows.groups:  # they depend on labels, which must not be those of the held-out rows
        rows = grouped(
            rows, shared.categorical, shared.n_classes, task.held_out, most_alone=MOST_ALONE
        )
        data = binned(rows, shared.max_bins, shared.categorical, shared.n_threads)
    engine = _MaskedEngine(task, shared, rows, data)
    builder = ModelBuilder(engine.start, rows.X.shape[1], rows.weights, shared.n_threads)
    watcher = _HeldOut(engine, shared)
    losses = [] if engine.linear is None else [engine.loss()]
    held_out_losses = [] if engine.linear is None else [watcher.best]
    rule = task.booster._round_rule(shared.n_classes, {})
    watchers = [_Quickening(rule), watcher]
    history, _ = boost(rule, engine, builder, range(MOST_ROUNDS), watchers)
    n = watcher.best_round
    model = builder.model().first_rounds(n)
    held_out = np.flatnonzero(task.held_out)
    member = Member(
        task.setting,
        task.stage,
        task.folds,
        model,
        held_out,
        np.empty((len(held_out), shared.n_classes)),
        np.concatenate([losses, history["loss"][:n]]),
        np.array(held_out_losses + watcher.losses[:n]),
        time.perf_counter() - begin,
        engine.linear,
    )
    return member.scored(rows, shared.columns, shared.n_threads)


def start_scores(rows: Rows, n_classes: int) -> Scores:
    """Centred logarithms of the class frequencies; a class without rows has half of the rarest."""
    weights = rows.class_weights(n_classes)
    log_prior = portable.log(np.maximum(weights, weights[weights > 0].min() / 2))
    start: Scores = log_prior - log_prior.mean()
    return start


def mean_model(
    members: Sequence[Member], weights: Sequence[float], columns: Columns | None = None
) -> Model:
    """One model whose scores are the weighted mean of the members' scores.

    Linear starts have the same trees but for their values: the first member that has one holds the
    sum of all, and the first rounds of the others are empty.
    """
    shares = [weight / sum(weights) for weight in weights]
    starts = [(m.linear, share) for m, share in zip(members, shares, strict=True)]
    linear = [(start, share) for start, share in starts if start is not None]
    first = [mean_linear(linear).model(columns)] if columns is not None and linear else []
    parts = []
    for member, share in zip(members, shares, strict=True):
        K = member.model.n_classes
        if member.linear is not None:
            parts.append(first.pop() if first else _empty_round(member.model))
        parts.append(member.model.rescaled(np.full(K, share), np.zeros(K)))
    start = np.zeros(members[0].model.n_classes)
    for part in parts:
        start += part.start
    return Model.joined(parts, start)


def _empty_round(model: Model) -> Model:
    """A round without trees."""
    empty = model.first_rounds(0)
    return replace(empty, start=np.zeros_like(model.start), round_start=np.zeros(2, dtype=np.int64))


def table_of(members: Sequence[Member], weights: Sequence[float]) -> dict[str, NDArray[Any]]:
    """Members by columns, one entry each."""
    return {
        "setting": np.array([m.setting for m in members]),
        "stage": np.array([m.stage for m in members]),
        "folds": np.array([" ".join(map(str, m.folds)) for m in members]),
        "rounds": np.array([m.n_rounds for m in members]),
        "held_out_loss": np.array([m.held_out_loss for m in members]),
        "weight": np.array(weights) / sum(weights),
        "seconds": np.array([m.seconds for m in members]),
    }


def table_rule() -> p.Rule:
    """For model files."""
    kinds = {"setting": "U", "stage": "i", "folds": "U", "rounds": "i"}
    kinds |= {"held_out_loss": "f", "weight": "f", "seconds": "f"}

    def test(table: Any) -> bool:
        if not isinstance(table, dict) or table.keys() != kinds.keys():
            return False
        columns = [(table[name], kind) for name, kind in kinds.items()]
        return (
            all(
                isinstance(c, np.ndarray) and c.ndim == 1 and c.dtype.kind == kind and len(c) > 0
                for c, kind in columns
            )
            and len({len(c) for c, _ in columns}) == 1
        )

    return test, f"a table with the columns {', '.join(kinds)}"
