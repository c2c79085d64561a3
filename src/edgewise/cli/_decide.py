"""Decisions of the commands: cost files, and the thresholds that `fit --decide` writes."""

import csv
import hashlib
import io
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.targets import encode
from .._ground.atomic import write_text
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.wording import did_you_mean
from ..decide import DecisionClassifier, Offsets
from ..decide._metrics import measured
from ..decide._offsets import decide_by_offsets
from ._screen import plain

Array = NDArray[np.float64]

METRICS = {"macro-f1": "macro_f1", "balanced-accuracy": "balanced_accuracy", "accuracy": "accuracy"}
_TINY = 1e-300


def metric_of(words: str, classes: NDArray[Any]) -> Any:
    """The metric that --decide names: one of METRICS, or recall:CLASS:LEAST."""
    if words in METRICS:
        return METRICS[words]
    kind, _, rest = words.partition(":")
    name, colon, least = rest.rpartition(":")
    labels = [label for label in classes.tolist() if str(label) == name]
    try:
        share = float(least)
    except ValueError:
        share = math.nan
    if kind != "recall" or not colon or not labels or not 0.0 < share <= 1.0:
        raise InvalidParameterError(
            f"--decide must be one of {', '.join(METRICS)}, or recall:CLASS:LEAST with one of the "
            f"classes {', '.join(map(str, classes))} and a recall above 0 and at most 1. "
            f"Got {words!r}.{did_you_mean(name, classes)}"
        )
    return "recall", labels[0], share


def out_of_fold(decider: DecisionClassifier, y: NDArray[Any]) -> dict[str, dict[str, float]]:
    """The metric of out-of-fold predictions without thresholds and with them."""
    held = ~np.isnan(decider.oof_proba_[:, 0])
    proba, truth = decider.oof_proba_[held], encode(decider.classes_, y[held], "y").astype(np.intp)
    answers = {
        "without": proba.argmax(axis=1),
        "with": decide_by_offsets(proba, decider.offsets_.offsets),
    }
    return {
        name: measured(decider.metric, decider.classes_, truth, said)
        for name, said in answers.items()
    }


class Decision(NamedTuple):
    """Thresholds that `fit --decide` writes: offsets of the log probabilities."""

    metric: str
    offsets: Array  # (K,)

    def places(self, proba: Array) -> NDArray[np.intp]:
        said: NDArray[np.intp] = (np.log(np.maximum(proba, _TINY)) + self.offsets).argmax(axis=1)
        return said


def decision_file(model: Path) -> Path:
    """Return the path of a model's decision file."""
    return model.with_name(f"{model.name}.decision.json")


def write_decision(model: Path, metric: str, classes: NDArray[Any], found: Offsets) -> Path:
    facts = {
        "model_sha256": _fingerprint(model),
        "metric": metric,
        "classes": [str(label) for label in classes],
        "offsets": found.offsets,
        "applied": found.applied,
        "gain": found.gain,
        "gain_error": found.gain_error,
    }
    write_text(decision_file(model), json.dumps(plain(facts), indent=2) + "\n")
    return decision_file(model)


def read_decision(model: Path, classes: NDArray[Any]) -> Decision | None:
    """The decision beside a model file; None if there is none."""
    path = decision_file(model)
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text())
        offsets = np.array(found["offsets"], dtype=np.float64)
        metric, key = str(found["metric"]), found["model_sha256"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InvalidDataError(f"{path} was not written by fit --decide.") from None
    if key != _fingerprint(model):
        raise InvalidDataError(
            f"{path} belongs to another model than {model.name}: fit it again with --decide, or "
            "remove the file."
        )
    if offsets.shape != (len(classes),) or not np.isfinite(offsets).all():
        raise InvalidDataError(
            f"{path} must contain a number for each of the {len(classes)} classes. "
            f"Got {found['offsets']!r}."
        )
    return Decision(metric, offsets)


def _fingerprint(model: Path) -> str:
    return hashlib.sha256(model.read_bytes()).hexdigest()


def read_cost(path: Path, classes: NDArray[Any]) -> Array:
    """The cost matrix of a CSV file in the order of the classes."""
    rows = [row for row in csv.reader(io.StringIO(path.read_text())) if row]
    names = [str(label) for label in classes]
    order = range(len(names))
    if rows and _is_named(rows, len(names)):
        columns, first = [w.strip() for w in rows[0][1:]], [row[0].strip() for row in rows[1:]]
        if sorted(columns) != sorted(names) or first != columns:
            raise InvalidDataError(
                f"{path} must name the classes {', '.join(names)} in its first line and, in the "
                f"same order, its first column. Got {', '.join(columns)} and {', '.join(first)}."
            )
        order = [columns.index(name) for name in names]  # type: ignore[assignment]
        rows = [row[1:] for row in rows[1:]]
    try:
        matrix = np.array([[float(cell) for cell in row] for row in rows])
    except ValueError:
        matrix = np.zeros(0)
    if matrix.shape != (len(names), len(names)):
        raise InvalidDataError(
            f"{path} must contain a number for each of the {len(names)} true classes (rows) and "
            f"each of the {len(names)} predictions (columns), with the names of the classes around "
            "them or without."
        )
    return matrix[np.ix_(order, order)]


def _is_named(rows: list[list[str]], n_classes: int) -> bool:
    return len(rows) == n_classes + 1 and len(rows[0]) == n_classes + 1
