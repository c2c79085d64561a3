"""A report about one fitted model."""

import inspect
from typing import Any

from numpy.typing import ArrayLike

from ._data import data_section
from ._decisions import decisions_section
from ._evidence import Evidence, ask, gather
from ._findings import FINDINGS, findings_section
from ._inputs import Section
from ._page import Page, Tile, render
from ._predictions import confusions_section, figures_section, reliability_section, tiles
from ._report import Report
from ._training import (
    curves_section,
    importances_section,
    margins_section,
    model_section,
    story_section,
    suspicious_section,
)

SECTIONS = (
    findings_section,
    figures_section,
    decisions_section,
    curves_section,
    confusions_section,
    reliability_section,
    margins_section,
    importances_section,
    story_section,
    suspicious_section,
    model_section,
    data_section,
)


def model_report(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    X_train: Any = None,
    y_train: ArrayLike | None = None,
    command: str | None = None,
    title: str | None = None,
) -> Report:
    """Build a page about a fitted classifier, on rows it was not fitted to.

    Parameters
    ----------
    estimator : fitted classifier
        A booster of this library, any scikit-learn classifier, a pipeline, a search or a
        `DecisionClassifier`.
    X : array-like or data frame of shape (n_rows, n_features)
        Held-out rows.
    y : array-like of shape (n_rows,) or (n_rows, n_labels)
        Their labels, or an indicator matrix.
    X_train : like X, default=None
        Rows of the fit, for learning curves, margins, data findings and suspicious labels.
    y_train : array-like, default=None
        Labels of the rows of the fit.
    command : str, default=None
        Command that made the report, shown as it is.
    title : str, default=None
        Title of the page. None uses the name of the algorithm.

    Returns
    -------
    Report
        The page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.report import model_report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> page = model_report(model, X[1::2], y[1::2])
    >>> "MART" in page.title
    True
    """
    evidence = gather(ask(estimator, X, y, X_train, y_train))
    told = sections(evidence)
    page = Page(
        title=title or type(evidence.estimator).__name__,
        kind="model report",
        subtitle=what_it_is(evidence.estimator),
        sections=told,
        findings=told[0].words if told[0].title == FINDINGS else (),
        tiles=[*tiles(evidence), *_size_tiles(evidence)],
        command=command or "estimator.report(X, y)",
    )
    return render(page)


def sections(evidence: Evidence) -> list[Section]:
    """Return the sections that have content."""
    told = [make(evidence) for make in SECTIONS]
    return [section for section in told if section is not None]


def what_it_is(estimator: Any) -> str:
    """The first sentence of the description of a class."""
    return (inspect.getdoc(type(estimator)) or "").strip().split("\n\n")[0].replace("\n", " ")


def _size_tiles(evidence: Evidence) -> list[Tile]:
    rounds = getattr(evidence.estimator, "n_iter_", None)
    what = "labels" if evidence.multi_label else "classes"
    shown = [Tile("held-out rows", f"{len(evidence.rows):,}", f"{len(evidence.classes)} {what}")]
    if isinstance(rounds, int):
        shown.append(Tile("rounds", f"{rounds:,}", getattr(evidence.estimator, "stop_reason_", "")))
    return shown
