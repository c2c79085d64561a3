"""A summary of the data: rows, classes, features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._tools.findings import columns_of, is_missing
from ._charts import grouped_bars_chart
from ._evidence import Evidence, Labelled
from ._inputs import Cell, Section, Table
from ._training import feature_names

FEATURES = 100  # rows of the table
CLASSES = 40  # of the chart


def data_section(evidence: Evidence) -> Section:
    """Return the section about the classes and the contents of the features."""
    parts = [_classes_chart(evidence)]
    words = [_in_words("Held-out", evidence.rows)]
    if evidence.train is not None:
        words.append(_in_words("Training", evidence.train))
    rows = evidence.rows if evidence.train is None else evidence.train
    if rows.X is None:
        return Section("Data", words, parts)
    table = _features_table(evidence.estimator, rows.X)
    return Section("Data", words, [*parts, table])


def _in_words(name: str, rows: Labelled) -> str:
    width = "" if rows.X is None else f", {_shape(rows.X)[1]:,} features"
    return f"{name} rows: {len(rows):,}{width}."


def _shape(X: Any) -> tuple[int, int]:
    n, d = X.shape if hasattr(X, "shape") else np.shape(X)
    return int(n), int(d)


def _classes_chart(evidence: Evidence) -> Any:
    groups = {"held-out rows": _shares(evidence, evidence.rows)}
    if evidence.train is not None:
        groups["training rows"] = _shares(evidence, evidence.train)
    what = "label" if evidence.multi_label else "class"
    common = sorted(groups["held-out rows"], key=lambda k: -groups["held-out rows"][k])[:CLASSES]
    kept = {g: {n: v for n, v in shares.items() if n in common} for g, shares in groups.items()}
    title = f"Share of rows of each {what}"
    if len(common) < len(evidence.classes):
        title += f": the {len(common)} most frequent"
    return grouped_bars_chart(kept, title=title, of="share of rows", what=what)


def _shares(evidence: Evidence, rows: Labelled) -> dict[str, float]:
    truth = rows.y if rows.y.ndim == 2 else rows.y[:, np.newaxis] == evidence.classes
    return dict(zip(evidence.names, truth.mean(axis=0).tolist(), strict=True))


# --- features ----------------------------------------------------------------------------------


def _features_table(estimator: Any, X: Any) -> Table:
    n, d = _shape(X)
    names = feature_names(estimator, d)
    rows = [
        [name, *_summary(column, n)]
        for name, column, _ in zip(names, columns_of(X), range(FEATURES), strict=False)
    ]
    caption = "Contents of the features"
    if d > FEATURES:
        caption += f": the first {FEATURES} of {d:,}"
    head = ["feature", "missing", "distinct", "smallest", "median", "largest"]
    return Table(head, rows, caption, {"missing": ".1%"}, beside=True)


def _summary(column: NDArray[Any], n: int) -> list[Cell]:
    """Share missing, number of values, smallest, median, largest; of words only the first two."""
    if column.dtype.kind == "M":
        return _summary_of_dates(column, n)
    if column.dtype.kind == "O":
        column = np.array([None if is_missing(v) else v for v in column], dtype=object)
    try:
        numbers = column.astype(np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        present = [str(v) for v in column if v is not None]
        return [1 - len(present) / n, len(set(present)), "words", None, None]
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return [1.0, 0, None, None, None]
    ends = float(known.min()), float(np.median(known)), float(known.max())
    return [1 - len(known) / n, len(np.unique(known)), *ends]


def _summary_of_dates(column: NDArray[Any], n: int) -> list[Cell]:
    """As of numbers, with the dates as people write them."""
    known = np.sort(column[~np.isnat(column)])
    if not len(known):
        return [1.0, 0, None, None, None]
    midnight = bool((known == known.astype("M8[D]")).all())
    ends = known[[0, len(known) // 2, -1]].astype("M8[D]" if midnight else "M8[s]")
    return [1 - len(known) / n, len(np.unique(known)), *map(str, ends)]
