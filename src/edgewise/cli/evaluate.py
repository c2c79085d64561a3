"""edgewise evaluate: how good a model is on labelled rows."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data.targets import encode
from ..comparison import judged
from ..metrics import confusion_matrix, error_interval, worst_confusions
from . import _options as o
from ._data import Reading
from ._failures import guarded
from ._models import labels_for, load_model, opened_for, rows_for
from ._screen import console, show_json, table

EPILOG = (
    "Examples:  edgewise evaluate cars.edgewise test.csv   |   "
    "edgewise evaluate letter.edgewise letter:test --json"
)


@guarded
def evaluate(
    model: o.ModelFile,
    data: o.Data,
    target: o.Target = None,
    as_json: o.Json = False,
    format: o.Format = None,
    header: o.Header = None,
) -> None:
    """Judge a model on a table with labels: error with interval, log loss, calibration, classes."""
    fitted = load_model(model)
    opened = opened_for(fitted, Reading(format, header), data)
    labels, column = labels_for(fitted, opened, target)
    figures = _figures(fitted, rows_for(fitted, opened), labels)
    facts = {"model": str(model), "data": data, "target": column, **figures}
    if as_json:
        show_json(facts)
    else:
        _show(facts)


def _figures(fitted: Any, X: Any, y: NDArray[Any]) -> dict[str, Any]:
    proba = fitted.predict_proba(X)
    codes = encode(fitted.classes_, y, "y").astype(np.intp)
    said = fitted.classes_[proba.argmax(axis=1)]
    figures = judged(codes, proba)
    wrong = figures.pop("wrong")
    worst = worst_confusions(y, said, classes=fitted.classes_)
    return {
        "rows": len(y),
        "wrong": wrong,
        "error": wrong / len(y),
        "interval": error_interval(wrong, len(y)),
        **figures,
        "classes": _of_classes(y, said, fitted.classes_),
        "worst_confusions": [asdict(confusion) for confusion in worst],
    }


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
