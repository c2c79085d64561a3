"""The portfolio: the members to fit, in a fixed order, by effort.

Members differ, so that their mean is better than each of them: in their cuts (the best one, or one
drawn per feature), in the size of their trees, in the features that a tree sees, and in the scores
that they boost from. docs/auto_boost.md tells how these settings were chosen and what did not help.
"""

import math
from typing import Any, Literal, NamedTuple

from .._families.logistic import LogisticBooster
from ..aoso_logitboost import AOSOLogitBoostClassifier
from ..logitboost import LogitBoostClassifier

Effort = Literal["fast", "default", "best"]

VECTOR: dict[str, Any] = {"leaf": "vector", "l2_regularization": 1.0}
DRAWN_CUTS = {**VECTOR, "splitter": "random"}
LARGE: dict[str, Any] = {**DRAWN_CUTS, "max_features": 0.5}


class Setting(NamedTuple):
    """How some members boost."""

    name: str
    cls: type[LogisticBooster]
    parameters: dict[str, Any]
    large: bool = False  # whether trees grow with the rows rather than with the classes
    step: float = 1.0  # over the usual learning rate

    def booster(self, n_rows: int, **given: Any) -> LogisticBooster:
        size: dict[str, Any] = {"min_samples_leaf": min(max(1, n_rows // 200), 5)}
        if self.large:
            size = {"min_samples_leaf": 1, "max_leaf_nodes": max(8, min(n_rows // 20, 256))}
        rate = self.step * learning_rate(n_rows)
        return self.cls(**self.parameters, learning_rate=rate, **size, **given)


def learning_rate(n_rows: int) -> float:
    """Return the learning rate, which grows with the rows: few rows are overfitted soon."""
    return min(max(0.15, 0.15 * math.sqrt(n_rows / 2500)), 0.3)


RANDOM = Setting("drawn cuts", AOSOLogitBoostClassifier, DRAWN_CUTS)
BEST = Setting("best cuts", AOSOLogitBoostClassifier, VECTOR)
FOREST = Setting("large trees", AOSOLogitBoostClassifier, LARGE, large=True)
PAIRS = Setting("pairs", AOSOLogitBoostClassifier, {**DRAWN_CUTS, "leaf": "pair"})
GENTLE = Setting("small steps", AOSOLogitBoostClassifier, DRAWN_CUTS, step=0.4)
CLASSES = Setting(
    "class trees",
    LogitBoostClassifier,
    {"l2_regularization": 1.0, "splitter": "random"},
)


class Planned(NamedTuple):
    """A planned member: its setting, and the folds that it holds out."""

    setting: Setting
    folds: tuple[int, ...]


class Stage(NamedTuple):
    """Members over one partition of the rows."""

    n_folds: int
    members: tuple[Planned, ...]
    linear: bool = (
        False  # whether they boost from linear scores; on trial, as most tables need none
    )


def _in_turn(*settings: Setting, n_folds: int, n_double: int = 0, linear: bool = False) -> Stage:
    """Plan one member per fold, then `n_double` that hold out two folds; settings take turns.

    The rows of two such folds are new to two members that learned from different rows, which shows
    how much the mean of members gains.
    """
    held_out = [(v,) for v in range(n_folds)] + [(2 * i, 2 * i + 1) for i in range(n_double)]
    n = len(settings)
    members = tuple(Planned(settings[i % n], out) for i, out in enumerate(held_out))
    return Stage(n_folds, members, linear)


STAGES: dict[Effort, tuple[Stage, ...]] = {
    "fast": (
        _in_turn(RANDOM, BEST, FOREST, n_folds=4, n_double=1),
        _in_turn(RANDOM, BEST, FOREST, n_folds=4, linear=True),
    ),
    "default": (
        _in_turn(RANDOM, BEST, FOREST, n_folds=8, n_double=2),
        _in_turn(RANDOM, BEST, FOREST, n_folds=8, linear=True),
    ),
    "best": (
        _in_turn(RANDOM, BEST, FOREST, n_folds=8, n_double=2),
        _in_turn(RANDOM, BEST, FOREST, n_folds=8, linear=True),
        _in_turn(GENTLE, n_folds=8),
        _in_turn(PAIRS, FOREST, n_folds=8),
        _in_turn(BEST, RANDOM, n_folds=8),
        _in_turn(GENTLE, CLASSES, n_folds=8),
    ),
}
