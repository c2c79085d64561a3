"""The boosters of the logistic family with the settings of Li's papers, fitted to convergence.

Scores start at zero, every base class is tried in every round, and leaves have at least ten rows
(the smallest node of Li's released program). Boosting continues until the mean training loss is
below STOP_LOSS, no tree changes a score, or all rounds are done: at most 10 000 in the papers.
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from .. import (
    ABCLogitBoostClassifier,
    ABCMARTClassifier,
    AOSOLogitBoostClassifier,
    LogitBoostClassifier,
    MARTClassifier,
)
from . import _paired
from ._data import Split
from ._effort import seconds_of_trees
from ._types import Outcome

STOP_LOSS = 1e-10
STEP = 250  # rounds between looks at the loss
MOST_ROUNDS = 10_000
EXHAUSTIVE = {"search": "exhaustive", "gap": 0}
ALGORITHMS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "mart": (MARTClassifier, {}),
    "abc-mart": (ABCMARTClassifier, EXHAUSTIVE),
    "logitboost": (LogitBoostClassifier, {}),
    "abc-logitboost": (ABCLogitBoostClassifier, EXHAUSTIVE),
    "aoso": (AOSOLogitBoostClassifier, {}),
}


def build(algorithm: str, *, leaves: int, shrinkage: float, threads: int | None, **own: Any) -> Any:
    """An estimator by the name of its algorithm."""
    estimator, usual = ALGORITHMS[algorithm]
    shared = {"init": "zero", "min_samples_leaf": 10, "early_stopping": False, "n_jobs": threads}
    return estimator(max_leaf_nodes=leaves, learning_rate=shrinkage, **shared | usual | own)


def fit(model: Any, data: Split, most_rounds: int) -> Any:
    """Fit some rounds at a time by warm start, until there is a reason to stop."""
    rounds = min(STEP, most_rounds)
    model.set_params(n_estimators=rounds, warm_start=True).fit(data.X_train, data.y_train)
    while rounds < most_rounds and model.n_iter_ == rounds and _loss(model) > STOP_LOSS:
        rounds = min(rounds + STEP, most_rounds)
        model.set_params(n_estimators=rounds).fit(data.X_train, data.y_train)
    return model


def _loss(model: Any) -> float:
    return float(model.history_["loss"][-1])


def outcome_of(model: Any, data: Split, stages: Iterable[int] = ()) -> Outcome:
    """Errors after the last round, and after each of `stages` (of rounds) that was reached."""
    wrong = model.predict(data.X_test) != data.y_test
    found: Outcome = {
        "errors": int(np.count_nonzero(wrong)),
        "wrong": _paired.pack(wrong),
        "test_rows": len(data.y_test),
        "rounds": int(model.n_iter_),
        "training_loss": _loss(model),
    }
    wanted = sorted(stage for stage in stages if stage <= model.n_iter_)
    if wanted:
        found["errors_at"] = errors_at(model, data, wanted)
    return found


def errors_at(model: Any, data: Split, stages: list[int]) -> dict[str, int]:
    """Test errors after these rounds, in one pass."""
    by_round = islice(model.staged_predict(data.X_test), stages[-1])
    return {
        str(m): int(np.count_nonzero(labels != data.y_test))
        for m, labels in enumerate(by_round, start=1)
        if m in stages
    }


def effort(algorithm: str, rounds: float, rows: int, columns: int, n_classes: int) -> float:
    """Approximate seconds; rounds of class trees become cheaper as rows are learned."""
    trees = {
        "aoso": 1.0,
        "abc-mart": n_classes * (n_classes - 1) / 2,
        "abc-logitboost": n_classes * (n_classes - 1) / 2,
    }.get(algorithm, float(n_classes))
    kind = "pair" if algorithm == "aoso" else "class"
    return seconds_of_trees(trees * rounds, rows, columns, kind)
