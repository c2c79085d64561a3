"""Remedies for rare classes, on the most imbalanced tables: macro-F1, balanced accuracy, log loss.

One booster for all (Newton boosting, the same rounds), so that only the remedy differs: none, class
weights, focal loss, logit adjustment, equal priors, and thresholds fitted for macro-F1.
"""

from argparse import Namespace
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss

from edgewise import NewtonBoostClassifier
from edgewise.decide import DecisionClassifier, adjust_priors
from edgewise.losses import FocalLoss, LogitAdjustedLoss

from .. import report
from ..field.tables import TableSplit, load_split
from .probabilities import chosen, most_imbalanced

COUNT = 10
FIGURES = ("macro-F1", "balanced accuracy", "log loss")


def run(args: Namespace) -> None:
    """A line per remedy, means over tables and seeds."""
    tables = most_imbalanced(chosen(args.data_sets), COUNT, args.cost_rows)
    cells: list[dict[str, Any]] = []
    for table in tables:
        for seed in range(args.cost_seeds):
            found = of_split(load_split(table, seed, args.cost_rows), args)
            cells += [{"table": table, "seed": seed, **one} for one in found]
        report.save("decisions-imbalance", vars(args), cells, quick=args.quick)
    names = list(dict.fromkeys(cell["remedy"] for cell in cells))
    report.print_table(
        f"remedies for rare classes: means of {len(tables)} tables, {args.cost_seeds} seeds",
        ["remedy", *FIGURES],
        [
            [name, *(float(np.mean([c[f] for c in cells if c["remedy"] == name])) for f in FIGURES)]
            for name in names
        ],
    )


def of_split(split: TableSplit, args: Namespace) -> list[dict[str, Any]]:
    def booster(**more: Any) -> NewtonBoostClassifier:
        return NewtonBoostClassifier(n_estimators=args.cost_rounds, n_jobs=args.threads, **more)

    X, y, X_test, y_test = split.X_train, split.y_train, split.X_test, split.y_test
    priors = np.bincount(y) / len(y)
    plain = booster().fit(X, y)
    chances = {
        "none": plain.predict_proba(X_test),
        "class weights": booster(class_weight="balanced").fit(X, y).predict_proba(X_test),
        "focal loss": booster(loss=FocalLoss()).fit(X, y).predict_proba(X_test),
        "logit adjustment": booster(loss=LogitAdjustedLoss(priors)).fit(X, y).predict_proba(X_test),
    }
    equal = np.full(len(priors), 1.0 / len(priors))
    chances["equal priors"] = adjust_priors(chances["none"], priors, equal)
    said = {name: proba.argmax(axis=1) for name, proba in chances.items()}
    decided = DecisionClassifier(booster(), metric="macro_f1", cv=3).fit(X, y)
    said["thresholds"], chances["thresholds"] = decided.predict(X_test), chances["none"]
    labels = np.arange(len(priors))
    return [
        {
            "remedy": name,
            "macro-F1": float(f1_score(y_test, said[name], average="macro")),
            "balanced accuracy": float(balanced_accuracy_score(y_test, said[name])),
            "log loss": float(log_loss(y_test, proba, labels=labels)),
        }
        for name, proba in chances.items()
    ]
