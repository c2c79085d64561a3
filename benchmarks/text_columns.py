"""Text columns of real tables: as categories, as integer codes, and left out.

AutoBoost with its defaults on every table of the field that has text columns. Wanted: log loss as
categories at most 1.02 of the other two, in the median over the seeds.
"""

from argparse import Namespace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from edgewise import AutoBoostClassifier

from . import report
from .field import load_split, table_names

COLUMNS = ["table", "most values", "categories", "codes", "left out", "over codes", "over left out"]
MOST = 1.02


def run(args: Namespace) -> None:
    """A line per table, medians over the seeds."""
    lines = [line for table in table_names() if (line := _line(table, args)) is not None]
    title = f"log loss of AutoBoost by the form of text columns, medians of {args.seeds} seeds"
    report.print_table(title, COLUMNS, [[line[key] for key in COLUMNS] for line in lines])
    worst = max(max(line["over codes"], line["over left out"]) for line in lines)
    verdict = f": {report.verdict(worst, MOST)}" if args.judged else ""
    report.note(f"text columns: worst ratio {worst:.3f}, wanted at most {MOST}{verdict}")
    report.save("categories-tables", vars(args), lines, quick=args.quick)


def _line(table: str, args: Namespace) -> dict[str, Any] | None:
    """Nothing for tables without text."""
    cells = []
    for seed in range(args.seeds):
        X, X_test, y, y_test = load_split(table, seed=seed, max_rows=args.table_rows)
        text = [name for name in X.columns if isinstance(X[name].dtype, pd.CategoricalDtype)]
        if not text:
            return None
        rest = X.columns.drop(text)
        forms = {"categories": (X, X_test), "codes": (_coded(X, X, text), _coded(X_test, X, text))}
        if len(rest):
            forms["left out"] = (X[rest], X_test[rest])
        cells.append({form: _loss(*rows, y, y_test, args) for form, rows in forms.items()})
    found = {form: float(np.median([cell[form] for cell in cells])) for form in cells[0]}
    found.setdefault("left out", float("inf"))
    return {
        "table": table,
        "most values": max(int(X[name].nunique()) for name in text),
        **found,
        "over codes": found["categories"] / found["codes"],
        "over left out": found["categories"] / found["left out"],
    }


def _coded(X: Any, known: Any, text: list[str]) -> Any:
    """Places among the training rows' values; what they do not have is missing."""
    codes = {
        name: X[name].cat.set_categories(known[name].cat.categories).cat.codes for name in text
    }
    return X.assign(**{name: code.where(code >= 0).astype(float) for name, code in codes.items()})


def _loss(X: Any, X_test: Any, y: Any, y_test: Any, args: Namespace) -> float:
    model = AutoBoostClassifier(n_jobs=args.threads).fit(X, y)
    return float(log_loss(y_test, model.predict_proba(X_test), labels=model.classes_))
