"""edgewise evaluate: measure a model on labelled rows."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .. import minimum_cost_labels
from .._data.targets import encode
from .._tools.scorers import SHORT, score_of
from ..comparison import judged
from ..decide import cost_interval
from ..metrics import confusion_matrix, error_interval, worst_confusions
from . import _options as o
from ._data import Reading
from ._decide import Decision, read_cost, read_decision
from ._failures import guarded
from ._models import labels_for, load_model, opened_for, rows_for
from ._screen import console, show_json, table

EPILOG = o.examples(
    "edgewise evaluate cars.edgewise test.csv",
    "edgewise evaluate letter.edgewise letter:test --metric macro-f1 --json",
)

Cost = Annotated[
    Path | None,
    o.option("A CSV file with the costs of mistakes, as for predict. Adds the mean cost of a row."),
]
Metrics = Annotated[
    list[str] | None,
    o.option(f"{', '.join(SHORT)}, or the name of a scikit-learn scorer. May be repeated."),
]


@guarded
def evaluate(
    model: o.ModelFile,
    data: o.Data,
    target: o.Target = None,
    cost: Cost = None,
    metric: Metrics = None,
    as_json: o.Json = False,
    format: o.Format = None,
    header: o.Header = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
) -> None:
    """Measure a model on labelled rows: error with interval, log loss, calibration, classes."""
    fitted = load_model(model)
    opened = opened_for(fitted, Reading(format, header, encoding=encoding, decimal=decimal), data)
    labels, column = labels_for(fitted, opened, target)
    rows = rows_for(fitted, opened)
    decision = read_decision(model, fitted.classes_)
    figures = _figures(fitted, rows, labels, decision)
    figures["metrics"] = {name: score_of(name, fitted, rows, labels) for name in metric or ()}
    if cost is not None:
        figures["cost"] = _costs(fitted, rows, labels, cost)
    facts = {"model": str(model), "data": data, "target": column, **figures}
    if as_json:
        show_json(facts)
    else:
        _show(facts)


def _figures(fitted: Any, X: Any, y: NDArray[Any], decision: Decision | None) -> dict[str, Any]:
    proba = fitted.predict_proba(X)
    codes = encode(fitted.classes_, y, "y").astype(np.intp)
    places = proba.argmax(axis=1) if decision is None else decision.places(proba)
    said = fitted.classes_[places]
    figures = judged(codes, proba)
    del figures["wrong"]  # of the most probable class, which may not be the prediction
    wrong = int((places != codes).sum())
    worst = worst_confusions(y, said, classes=fitted.classes_)
    return {
        "rows": len(y),
        "decided_by": "probability" if decision is None else decision.metric,
        "wrong": wrong,
        "error": wrong / len(y),
        "interval": error_interval(wrong, len(y)),
        **figures,
        "classes": _of_classes(y, said, fitted.classes_),
        "worst_confusions": [asdict(confusion) for confusion in worst],
    }


def _costs(fitted: Any, X: Any, y: NDArray[Any], path: Path) -> dict[str, Any]:
    """The mean cost of decisions by cost, with its interval, and of the most probable class."""
    classes = fitted.classes_
    prices, proba = read_cost(path, classes), fitted.predict_proba(X)
    codes = encode(classes, y, "y").astype(np.intp)
    said = encode(classes, minimum_cost_labels(proba, prices, classes), "y").astype(np.intp)
    found = cost_interval(prices[codes, said])
    plain = prices[codes, proba.argmax(axis=1)].mean()
    return {"mean": found.mean, "interval": [found.low, found.high], "most_probable": float(plain)}


def _of_classes(y: Any, said: Any, classes: NDArray[Any]) -> list[dict[str, Any]]:
    """Recall and precision of each class; null where there is nothing to count."""
    counts, _ = confusion_matrix(y, said, classes=classes)
    hits, rows, predicted = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    return [
        {
            "class": label,
            "rows": int(rows[k]),
            "recall": hits[k] / rows[k] if rows[k] else None,
            "precision": hits[k] / predicted[k] if predicted[k] else None,
        }
        for k, label in enumerate(classes)
    ]


def _show(facts: dict[str, Any]) -> None:
    shown = console()
    low, high = facts["interval"]
    shown.print(
        f"{facts['data']}: {facts['rows']} rows, target {facts['target']!r}\n"
        f"error: {100 * facts['error']:.2f} % ({facts['wrong']} wrong; 95 % interval "
        f"{100 * low:.2f}-{100 * high:.2f})\n"
        f"log loss: {facts['log_loss']:.4f}\n"
        f"Brier score: {facts['brier']:.4f}\n"
        f"calibration error: {facts['calibration']:.4f} (classwise), "
        f"{facts['top_calibration']:.4f} (of the most probable class)\n"
    )
    if facts["decided_by"] != "probability":
        shown.print(f"decisions by thresholds for {facts['decided_by']}, fitted with the model")
    for name, score in facts["metrics"].items():
        shown.print(f"{name}: {score:.4f}")
    if "cost" in facts:
        low, high = facts["cost"]["interval"]
        shown.print(
            f"cost of a row: {facts['cost']['mean']:.4f} (95 % interval {low:.4f}-{high:.4f}); "
            f"of the most probable class {facts['cost']['most_probable']:.4f}"
        )
    rows = [_cells(of_class) for of_class in facts["classes"]]
    shown.print(table(["class", "rows", "recall %", "precision %"], rows))
    for confusion in facts["worst_confusions"]:
        shown.print(
            f"{confusion['true']} taken for {confusion['predicted']}: {confusion['count']:.0f} "
            f"rows ({100 * confusion['rate']:.1f} % of the class)"
        )


def _cells(of_class: dict[str, Any]) -> Sequence[str]:
    shares = [of_class["recall"], of_class["precision"]]
    return [
        str(of_class["class"]),
        str(of_class["rows"]),
        *("-" if share is None else f"{100 * share:.1f}" for share in shares),
    ]
