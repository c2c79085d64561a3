"""Sections about the model: learning curves, margins, importances, history, suspicious rows."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._boosting.base import Booster
from .._tools.rounds import (
    has_rounds,
    history_figures,
    rounds_used,
    staged_figures,
    staged_margins,
)
from .._tools.suspicion import suspicious_rows
from ._charts import (
    bars_chart,
    heat_chart,
    histogram_chart,
    history_chart,
    margin_chart,
    rounds_chart,
)
from ._evidence import Array, Evidence, Labelled
from ._inputs import Chart, LearningCurve, Section, Table

FEATURES = 25  # that a chart of importances shows
SUSPECTS = 20
STORY_APART = ("validation_score",)  # in the section of the learning curves


def curves_section(evidence: Evidence) -> Section | None:
    """Error and log loss after every round."""
    estimator = evidence.estimator
    if estimator is None or evidence.rows.X is None or not has_rounds(estimator):
        return None
    held = evidence.staged_rows(evidence.rows)
    named = {"held-out rows": held}
    if evidence.train is not None and evidence.train.X is not None:
        named["training rows"] = evidence.staged_rows(evidence.train)
    staged = {name: staged_figures(estimator, rows.X, rows.y) for name, rows in named.items()}
    if not len(staged["held-out rows"].error):
        return Section(
            "Learning curves", ["The model keeps no round: it consists of its initial scores."]
        )
    error = "share of wrong labels" if evidence.multi_label else "error"
    charts = [
        rounds_chart(
            [
                LearningCurve(name, getattr(s, measure).tolist(), _best(s, measure, name), of)
                for name, s in staged.items()
            ],
            title=title,
            of=of,
        )
        for measure, of, title in (("error", error, "Error"), ("log_loss", "log loss", "Log loss"))
    ]
    words = [_words_on_rounds(estimator, staged["held-out rows"].best_round("error"))]
    if evidence.decider is not None:
        words.append("The error is that of the most probable class, before decisions.")
    if len(held) < len(evidence.rows):
        words.append(f"The curves use a sample of {len(held):,} rows.")
    return Section("Learning curves", words, [*charts, *_from_history(estimator)])


def _best(staged: Any, measure: str, name: str) -> int | None:
    return staged.best_round(measure) if name == "held-out rows" else None


def _from_history(estimator: Any) -> list[Chart]:
    figures = [f for f in history_figures(estimator) if f.name in STORY_APART and len(f.values)]
    return [history_chart(f, rounds_used(estimator)) for f in figures]


def _words_on_rounds(estimator: Any, best: int) -> str:
    used = rounds_used(estimator)
    words = f"Predictions use {used} rounds" if used else "Predictions use all rounds"
    reason = getattr(estimator, "stop_reason_", "")
    words += f" ({reason})." if reason else "."
    return (
        f"{words} On the held-out rows the error is lowest after round {best} (diamond). "
        "This round was chosen on the same rows, so its error is optimistic."
    )


def margins_section(evidence: Evidence) -> Section | None:
    """Return the section about margins, of the training rows if they are known."""
    train = evidence.train
    rows = train if train is not None and train.X is not None else evidence.rows
    if evidence.estimator is None or rows.X is None or not _has_scores(evidence.estimator):
        return None
    of = "held-out" if rows is evidence.rows else "training"
    stages = staged_margins(evidence.estimator, *_parts(evidence.staged_rows(rows)))
    words = (
        "The margin of a row is the score of its label minus the largest other score, scaled to "
        "lie between -1 and 1. Left of the dashed line the prediction is wrong. Boosting "
        f"continues to raise the margins after the last mistake. The chart shows the {of} rows."
    )
    return Section("Margins", [words], [margin_chart(stages, title=f"Margins of the {of} rows")])


def _parts(rows: Labelled) -> tuple[Any, NDArray[Any]]:
    return rows.X, rows.y


def _has_scores(estimator: Any) -> bool:
    return hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")


def importances_section(evidence: Evidence) -> Section | None:
    """Return the section about the features that the trees use."""
    importances = getattr(evidence.estimator, "feature_importances_", None)
    if importances is None or not np.any(importances):
        return None
    names = feature_names(evidence.estimator, len(importances))
    order = np.argsort(-np.asarray(importances), kind="stable")[:FEATURES]
    order = order[np.asarray(importances)[order] > 0]
    unused = int(np.sum(np.asarray(importances) == 0))
    words = (
        "Each feature's share of the total gain of all splits. Gains are measured on the "
        "training rows: they show what the model uses, not causes."
    )
    if unused:
        words += f" {unused} of {len(names)} features are never used."
    top = {names[j]: float(importances[j]) for j in order}
    charts = [bars_chart(top, title="Share of the gain", of="importance", what="feature")]
    charts += _by_class(evidence, names, order)
    return Section("Importances", [words], charts)


def _by_class(evidence: Evidence, names: Sequence[str], order: NDArray[np.intp]) -> list[Chart]:
    """Return the importances by class, (K, features), if the estimator has them."""
    by_class = getattr(evidence.estimator, "feature_importances_by_class_", None)
    if by_class is None or len(by_class) > 30:
        return []
    values: Array = np.asarray(by_class, dtype=np.float64)[:, order].T
    shown = [names[j] for j in order]
    title = "For each class"
    return [heat_chart(values, shown, evidence.names, title=title, of="importance")]


def feature_names(estimator: Any, n: int) -> list[str]:
    """Of the columns that the estimator was fitted to."""
    given = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(n)] if given is None else [str(name) for name in given]


def story_section(evidence: Evidence) -> Section | None:
    """Return the section about the entries of ``history_``."""
    figures = [f for f in history_figures(evidence.estimator) if f.name not in STORY_APART]
    figures = [f for f in figures if len(f.values) and np.isfinite(f.values).any()]
    if not figures:
        return None
    used = rounds_used(evidence.estimator)
    words = (
        f"The entries of history_ that {type(evidence.estimator).__name__} recorded in each round."
    )
    return Section("History of the boosting", [words], [history_chart(f, used) for f in figures])


def suspicious_section(evidence: Evidence) -> Section | None:
    """Return the section about training rows whose labels boosting could not explain."""
    estimator, train = evidence.estimator, evidence.train
    suitable = isinstance(estimator, Booster) and not evidence.multi_label
    if not suitable or train is None or train.X is None:
        return None
    found = suspicious_rows(estimator, train.X, train.y)
    said = np.asarray(estimator.predict(train.X))
    first = found.rows[:SUSPECTS]
    table = Table(
        ["training row", "its label", "the model says", "suspicion"],
        [[int(i), str(train.y[i]), str(said[i]), float(found.score[i])] for i in first],
        "The most suspicious rows, counted from 0",
        {"training row": "d", "suspicion": ".3f"},
        beside=True,
    )
    above = int(np.sum(found.score > 0.5))
    words = (
        "Rows that were predicted wrongly in many rounds: hard rows or wrong labels. A score above "
        f"one half means in most rounds; this holds for {above:,} of "
        f"{len(train):,} training rows. Check the first rows of the table."
    )
    chart = histogram_chart(found.score, title="Suspicion of all training rows", of="suspicion")
    return Section("Suspicious rows", [words], [table, chart])


def model_section(evidence: Evidence) -> Section | None:
    """The algorithm and its parameters."""
    estimator = evidence.estimator
    if not isinstance(estimator, BaseEstimator):
        return None
    given = estimator.get_params(deep=False)
    defaults = {
        name: p.default for name, p in inspect.signature(type(estimator)).parameters.items()
    }
    rows = [[name, _short(given[name]), _short(defaults.get(name))] for name in sorted(given)]
    changed = [i for i, row in enumerate(rows) if row[1] != row[2]]
    table = Table(["parameter", "value", "default"], rows, "In bold: not the default", bold=changed)
    n_trees = getattr(getattr(estimator, "model_", None), "n_trees", None)
    words = f"{type(estimator).__name__}: {len(evidence.classes)} classes"
    if n_trees is not None:
        words += f", {rounds_used(estimator):,} rounds, {n_trees:,} trees"
    seconds = getattr(estimator, "history_", {}).get("seconds", [])
    words += f", fitted in {seconds[-1]:.2f} s." if len(seconds) else "."
    return Section("Model", [words], [table])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
