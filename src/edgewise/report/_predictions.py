"""Sections about predictions: figures, confusions, probabilities."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support

from .._tools.cost import expected_cost
from ..metrics import (
    brier_score,
    calibration_error,
    confusion_matrix,
    error_interval,
    log_loss,
    reliability_curve,
    worst_confusions,
)
from ._charts import bars_chart, confidence_chart, confusion_chart, reliability_chart
from ._evidence import Array, Evidence, Labelled
from ._inputs import Section, Table
from ._page import Tile, cell

MANY = 40  # classes that a confusion matrix can show
CURVES = 4  # classes whose reliability is drawn together

# (name, format, what it says)
FIGURES = {
    "error": (".2%", "share of rows with a wrong label"),
    "Hamming loss": (".2%", "share of labels that are wrong, over all rows and labels"),
    "rows not all right": (".2%", "share of rows with at least one wrong label"),
    "balanced error": (".2%", "mean over the classes of the share of their rows that are wrong"),
    "log loss": (".4f", "minus the mean logarithm of the probability of the correct label"),
    "Brier score": (".4f", "mean squared distance between probabilities and labels"),
    "calibration error": (".4f", "expected calibration error of the predicted class, 15 bins"),
    "classwise calibration error": (".4f", "the same for every class, on average"),
    "cost": (".4g", "mean cost of the predictions by the model's cost matrix"),
}


def figures(
    rows: Labelled, said: NDArray[Any], proba: Array | None, classes: NDArray[Any], cost: Any = None
) -> dict[str, float]:
    """Return the figures that can be computed, by name; undecided rows count as mistakes."""
    told: dict[str, float] = {}
    if rows.y.ndim == 2:
        told["Hamming loss"] = float(np.mean(rows.y != said))
        told["rows not all right"] = float(np.mean((rows.y != said).any(axis=1)))
    else:
        told["error"] = float(np.mean(rows.y != said))
        told["balanced error"] = _balanced_error(rows.y, said)
    if proba is not None:
        told["log loss"] = log_loss(rows.y, proba, classes=classes)
        told["Brier score"] = brier_score(rows.y, proba, classes=classes)
        if rows.y.ndim == 1:
            told["calibration error"] = calibration_error(rows.y, proba, classes=classes)
        told["classwise calibration error"] = calibration_error(
            rows.y, proba, kind="classwise", classes=classes
        )
    if cost is not None and rows.y.ndim == 1:
        told["cost"] = expected_cost(rows.y, said, cost, labels=classes)
    return told


def _balanced_error(y: NDArray[Any], said: NDArray[Any]) -> float:
    return float(np.mean([np.mean(said[y == k] != k) for k in np.unique(y)]))


def figures_section(evidence: Evidence) -> Section:
    """The table of figures, and one row per class."""
    estimator, classes = evidence.estimator, evidence.classes
    cost = getattr(estimator, "cost", None)
    columns = {
        "held-out rows": figures(evidence.rows, evidence.said, evidence.proba, classes, cost)
    }
    train = evidence.train
    if train is not None and estimator is not None and train.X is not None:
        said = evidence.said_of_train
        said = estimator.predict(train.X) if said is None else said
        proba = estimator.predict_proba(train.X) if evidence.proba is not None else None
        columns["training rows"] = figures(train, np.asarray(said), proba, classes, cost)
    rows = [
        [name, *(cell(c.get(name), how) for c in columns.values()), meaning]
        for name, (how, meaning) in FIGURES.items()
        if any(name in c for c in columns.values())
    ]
    table = Table(["figure", *columns, "what it is"], rows)
    return Section("Figures", [_in_words(evidence)], [table, _by_class(evidence)])


def _in_words(evidence: Evidence) -> str:
    n_wrong, n = int(evidence.wrong.sum()), len(evidence.rows)
    low, high = error_interval(n_wrong, n)
    refused = int((~evidence.decided).sum())
    note = f" {refused:,} of them are not decided." if refused else ""
    return (
        f"{n_wrong:,} of {n:,} held-out rows have a mistake: {n_wrong / n:.2%}. If they are a "
        f"random sample, the true share is between {low:.2%} and {high:.2%} (95%).{note}"
    )


def _by_class(evidence: Evidence) -> Table:
    """Per class: rows, precision, recall, F1; the worst first, if there are many."""
    y, said, classes = evidence.rows.y, evidence.said, evidence.classes
    options: dict[str, Any] = {"zero_division": 0.0, "average": None}
    if not evidence.multi_label:
        options["labels"] = classes
    scores = precision_recall_fscore_support(y, said, **options)
    precision, recall, f1, support = (np.asarray(s) for s in scores)
    order = np.argsort(f1, kind="stable") if len(classes) > MANY else np.arange(len(classes))
    what = "label" if evidence.multi_label else "class"
    named = said.sum(axis=0) if evidence.multi_label else [np.sum(said == c) for c in classes]
    rows = [
        [
            evidence.names[k],
            int(support[k]),
            float(recall[k]) if support[k] else None,
            float(precision[k]) if named[k] else None,
            float(f1[k]) if support[k] or named[k] else None,
        ]
        for k in order[:200]
    ]
    formats = dict.fromkeys(("recall", "precision", "F1"), ".3f")
    caption = f"By {what}: recall is the share of its rows that are found, precision the share of "
    caption += "its predictions that are correct"
    if len(classes) > 200:
        caption += f"; the 200 worst of {len(classes)}"
    return Table([what, "rows", "recall", "precision", "F1"], rows, caption, formats)


def tiles(evidence: Evidence) -> list[Tile]:
    """The figures at the top of the page."""
    told = figures(evidence.rows, evidence.said, evidence.proba, evidence.classes)
    low, high = error_interval(int(evidence.wrong.sum()), len(evidence.rows))
    what = "rows with a mistake" if evidence.multi_label else "error"
    shown = [Tile(what, f"{evidence.wrong.mean():.2%}", f"{low:.2%} to {high:.2%}")]
    notes = {
        "log loss": "smaller is better",
        "Brier score": "smaller is better",
        "calibration error": "top label, 15 bins",
        "classwise calibration error": "15 bins",
    }
    for name, note in notes.items():
        if name in told and not (name.startswith("classwise") and "calibration error" in told):
            shown.append(Tile(name, cell(told[name], FIGURES[name][0]), note))
    return shown


# --- confusions --------------------------------------------------------------------------------


def confusions_section(evidence: Evidence) -> Section:
    """Return the section about confused classes or missed labels."""
    if evidence.multi_label:
        return _missed_labels(evidence)
    decided = evidence.decided
    if not decided.any():
        return Section("Confusions", ["No held-out row is decided."])
    y, said = evidence.rows.y[decided], evidence.said[decided]
    worst = worst_confusions(y, said, classes=evidence.classes, n=10)
    if worst:
        first = worst[0]
        words = (
            f"The worst confusion: the model predicts {str(first.predicted)!r} in "
            f"{first.count:,.0f} of the rows of class {str(first.true)!r} ({first.rate:.1%})."
        )
    else:
        words = "All predictions for held-out rows are correct."
    if not decided.all():
        words += f" {int((~decided).sum()):,} rows that are not decided are left out."
    counts, classes = confusion_matrix(y, said, classes=evidence.classes)
    kept = _most_confused(counts)
    names = [str(classes[k]) for k in kept]
    notes = [words]
    if len(kept) < len(classes):
        notes.append(
            f"The matrix shows the {len(kept)} of {len(classes)} classes with the most mistakes."
        )
    table = Table(
        ["true class", "taken for", "rows", "of the true class"],
        [[str(c.true), str(c.predicted), int(c.count), c.rate] for c in worst],
        "The worst confusions",
        {"of the true class": ".1%"},
        beside=True,
    )
    chart = confusion_chart(counts[np.ix_(kept, kept)], names)
    return Section("Confusions", notes, [chart, *([table] if worst else [])])


def _most_confused(counts: Array) -> NDArray[np.intp]:
    """Numbers of the classes to show, in order: all, or those with the most mistakes."""
    wrong = counts * ~np.eye(len(counts), dtype=bool)
    mistakes = wrong.sum(axis=0) + wrong.sum(axis=1)
    kept: NDArray[np.intp] = np.sort(np.argsort(-mistakes, kind="stable")[:MANY])
    return kept


def _missed_labels(evidence: Evidence) -> Section:
    y, said, names = evidence.rows.y, evidence.said, evidence.names
    missed, added = (y & ~said).sum(axis=0), (said & ~y).sum(axis=0)
    order = np.argsort(-(missed + added), kind="stable")[:MANY]
    words = f"The label with the most mistakes is {names[order[0]]}: missed {missed[order[0]]:,} "
    words += f"times, predicted wrongly {added[order[0]]:,} times."
    charts = [
        bars_chart(
            {names[k]: float(counts[k]) for k in order},
            title=title,
            of="rows",
            what="label",
            how=",d",
        )
        for title, counts in (("Missed", missed), ("Predicted wrongly", added))
    ]
    return Section("Confusions", [words], charts)


# --- probabilities -----------------------------------------------------------------------------


def reliability_section(evidence: Evidence) -> Section | None:
    """Return the section about calibration; None without probabilities."""
    proba, y, classes = evidence.proba, evidence.rows.y, evidence.classes
    if proba is None:
        return None
    curves = {
        name: reliability_curve(y, proba, label=c, classes=classes)
        for c, name in zip(classes, evidence.names, strict=True)
    }
    worst = sorted(curves, key=lambda name: -curves[name].error)[:CURVES]
    shown = {name: curves[name] for name in curves if name in worst}
    many = "all classes" if len(shown) == len(curves) else "the worst classes"
    by_class = reliability_chart(shown, title=f"Probability of each class: {many}")
    table = Table(
        ["class", "calibration error", "largest of a bin", "mean forecast", "share of rows"],
        [
            [n, c.error, c.max_error, float(c.weight @ c.forecast), float(c.weight @ c.observed)]
            for n, c in list(curves.items())[:200]
        ],
        "Calibration by class",
        dict.fromkeys(
            ("calibration error", "largest of a bin", "mean forecast", "share of rows"), ".4f"
        ),
        beside=True,
    )
    if evidence.multi_label:
        return Section("Reliability", [_RELIABLE], [by_class, table])
    top = reliability_curve(y, proba, classes=classes)
    words = f"{_RELIABLE} The expected calibration error of the predicted class is {top.error:.4f}."
    charts = [
        reliability_chart({"predicted class": top}, title="Probability of the predicted class"),
        confidence_chart(proba.max(axis=1), classes[proba.argmax(axis=1)] == y),
    ]
    return Section("Reliability", [words], [*charts, by_class, table])


_RELIABLE = (
    "Of the rows with a predicted probability of 80%, 80% should be correct: points on the "
    "dashed line. A point is a bin of rows; larger points have more rows. Bars are 95% intervals."
)
