"""The first section: findings about the data and the model, in sentences."""

from typing import Any

import numpy as np

from .._tools.findings import (
    Finding,
    Outcome,
    data_findings,
    model_findings,
    written_findings,
)
from .._tools.rounds import has_rounds, share_wrong, staged_figures
from ._evidence import Evidence
from ._inputs import Section
from ._training import feature_names

FINDINGS = "Findings"


def findings_section(evidence: Evidence) -> Section | None:
    """Return the section of the findings; None if there are none."""
    found = findings_of(evidence)
    return Section(FINDINGS, [str(finding) for finding in found]) if found else None


def findings_of(evidence: Evidence) -> list[Finding]:
    """Return findings about the fit and the training rows (or the held-out rows, if alone)."""
    if evidence.multi_label:
        return []
    rows = evidence.train if evidence.train is not None else evidence.rows
    found = []
    if rows.X is not None and evidence.estimator is not None:
        names = feature_names(evidence.estimator, int(np.shape(rows.X)[1]))
        written: dict[int, str] = getattr(evidence.estimator, "notations_", {})
        found = data_findings(rows.X, rows.y, names)
        found += written_findings([names[j] for j in written])
    return found + _about_the_fit(evidence)


def _about_the_fit(evidence: Evidence) -> list[Finding]:
    estimator: Any = evidence.estimator
    losses = np.empty(0)
    boosted = has_rounds(estimator) and "member" not in getattr(estimator, "history_", {})
    if boosted and evidence.rows.X is not None:
        held = evidence.staged_rows(evidence.rows)
        losses = staged_figures(estimator, held.X, held.y).log_loss
    train = evidence.train
    outcome = None
    if estimator is not None and train is not None and train.X is not None:
        error = share_wrong(train.y, estimator.predict(train.X))
        outcome = Outcome(error, float(evidence.wrong.mean()), len(evidence.wrong))
    return model_findings(outcome, losses)
