"""A report about one fitted model."""

import inspect
from typing import Any

from numpy.typing import ArrayLike

from ._data import data_section
from ._evidence import Evidence, ask, gather
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
    figures_section,
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
    """All about a fitted classifier, on rows it was not fitted to.

    Parameters
    ----------
    estimator : a fitted classifier
        One of this library tells most; any of scikit-learn's kind, a pipeline or a search will do.
    X, y : held-out rows and their labels, or an indicator matrix for several labels per row.
    X_train, y_train : the rows it was fitted to, for learning curves, margins and suspicious rows.
    command : how the report was made, shown as it is.
    title : of the page; if None, the name of the algorithm.
    """
    evidence = gather(ask(estimator, X, y, X_train, y_train))
    page = Page(
        title=title or type(evidence.estimator).__name__,
        kind="model report",
        subtitle=what_it_is(evidence.estimator),
        sections=sections(evidence),
        tiles=[*tiles(evidence), *_size_tiles(evidence)],
        command=command or "estimator.report(X, y)",
    )
    return render(page)


def sections(evidence: Evidence) -> list[Section]:
    """Those for which there is something to tell."""
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
