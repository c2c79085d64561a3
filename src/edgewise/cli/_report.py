"""Reports of the commands, made by `edgewise.report`."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import report as reports
from .._data.rows import stratified_split
from .._data.targets import encode
from .._ground.errors import InvalidDataError
from .._ground.wording import counted
from ..comparison import OURS, Comparison, Row
from ..tables import Table
from ._screen import spinner

HELD_OUT = 0.2  # share of the rows that a report on a fit judges by
MISSING = "a report needs the extra 'report', for instance: pip install 'edgewise[report]'"


def can_report() -> bool:
    """Return whether the libraries of reports are installed."""
    return all(importlib.util.find_spec(name) for name in ("jinja2", "vl_convert"))


# --- of a fit -----------------------------------------------------------------------------------


def save_model_report(
    fitted: Any, table: Table, path: Path, command: str, test: tuple[Any, Any] | None
) -> tuple[str, ...]:
    """Write a report on test rows, or on a fifth of the rows and a model of the others.

    `fitted` may be a DecisionClassifier. Returns the findings.
    """
    title = f"{type(getattr(fitted, 'estimator_', fitted)).__name__} on {table.name}"
    train = (table.X, table.y)
    if test is None:
        classes = np.unique(table.y)
        kept, held = stratified_split(encode(classes, table.y, "y"), HELD_OUT, 0)
        if len(held) == 0:
            raise InvalidDataError(
                "Every class has only one row, so the report can hold none out. Pass --test."
            )
        train, test = table.take(kept), table.take(held)
        notations = getattr(getattr(fitted, "estimator_", fitted), "notations_", {})
        fitted = clone(fitted).fit(*train)
        if notations:
            getattr(fitted, "estimator_", fitted).notations_ = notations
        title += f" (a model of {counted(len(kept), 'row')}, tested on {len(held)} others)"
    with spinner("writing the report"):
        page = reports.model_report(
            fitted, *test, X_train=train[0], y_train=train[1], command=command, title=title
        )
        page.save(path)
    return page.findings


# --- of a comparison ----------------------------------------------------------------------------


def save_comparison_report(
    comparison: Comparison,
    path: Path,
    *,
    command: str,
    protocol: str,
    table: Table,
    test: tuple[Any, Any] | None,
) -> None:
    facts = table.summary()
    told = reports.Comparison(
        data=comparison.data["name"],
        results=[_result(row) for row in comparison.rows()],
        protocol=f"{protocol}. Intervals are of 95 %; calibration is the classwise expected "
        f"calibration error. {_whose(comparison)}",
        facts={
            "rows": facts["rows"],
            "features": facts["features"],
            "classes": len(comparison.classes),
            "missing values": facts["missing"],
            "hash of the data": comparison.data["hash"][:16],
        },
        paired_test=_paired(comparison),
        curves=[
            reports.LearningCurve(
                method, curve, int(np.argmin(curve)) + 1, of="test error, first fold"
            )
            for method in comparison.methods
            if (curve := comparison.of(method)[0].curve)
        ],
        best=_best(comparison, table, test),
        best_name=comparison.best,
        failures={**comparison.failed, **comparison.skipped},
        command=command,
    )
    with spinner("writing the report"):
        reports.comparison_report(told).save(path)


def _result(row: Row) -> reports.MethodResult:
    return reports.MethodResult(
        method=row.method,
        error=row.error,
        interval=row.interval,
        log_loss=row.log_loss,
        brier=row.brier,
        calibration=row.calibration,
        fit_seconds=row.fit_seconds,
        predict_seconds=row.predict_seconds,
        model_bytes=row.model_bytes,
        fold_errors=row.errors if len(row.errors) > 1 else (),
        note=row.library,
    )


def _paired(comparison: Comparison) -> reports.PairedTest | None:
    paired = comparison.paired()
    return None if paired is None else reports.PairedTest(**vars(paired))


def _whose(comparison: Comparison) -> str:
    if not comparison.cross_validated:
        return ""
    if comparison.best in OURS:
        return f"The sections about {comparison.best} show its model of the first fold."
    return f"The sections about {comparison.best} show all rows, each when held out."


def _best(comparison: Comparison, table: Table, test: tuple[Any, Any] | None) -> reports.HeldOut:
    """Return the model of the first split, fitted again, or for a peer only its predictions."""
    method = comparison.best
    if method not in OURS:
        rows, proba = comparison.held_out(method)
        labels, said = comparison.classes[comparison.truth[rows]], proba.argmax(axis=1)
        return reports.HeldOut(labels, comparison.classes[said], comparison.classes, proba)
    tested = comparison.tested[0, 0]
    if test is None:
        train = table.take(np.setdiff1d(np.arange(len(table.y)), tested))
        test = table.take(tested)
    else:
        train = (table.X, table.y)
    with spinner(f"{method}, fitted again for the report"):
        model = (
            OURS[method]
            .estimator(  # type: ignore[attr-defined]
                **comparison.parameters[method],
                random_state=comparison.protocol["seed"],
                n_jobs=comparison.protocol["threads"],
            )
            .fit(*train)
        )
    proba = model.predict_proba(test[0])
    said = model.classes_[proba.argmax(axis=1)]
    return reports.HeldOut(
        test[1], said, model.classes_, proba, model, test[0], X_train=train[0], y_train=train[1]
    )
