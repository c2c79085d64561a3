"""Verdicts, by rules that do not depend on the results."""

from collections.abc import Sequence
from math import sqrt
from statistics import mean, stdev

from scipy.stats import binom, norm, t

from ._types import Finding, Verdict

LEVEL = 0.95
NOT_RUN = "not run"


def band(errors: float, rows: int) -> tuple[int, int]:
    """The central 95 % of the error counts of a classifier with the true rate errors / rows.

    Used for a paper's count if nothing else is known of its rows. Both counts come from the same
    rows, so two programs that do the same differ by less: the band is too wide rather than too
    narrow.
    """
    low, high = binom.interval(LEVEL, rows, errors / rows)
    return int(low), int(high)


def errors_beside(
    what: str, ours: float | None, paper: float | None, rows: int, note: str = ""
) -> Finding:
    """Compare error counts: ours agrees if it is within the binomial band around the paper's."""
    if paper is None:
        verdict: Verdict = "not run" if ours is None else "not judged"
        return Finding(what, None, ours, "", verdict, note)
    low, high = band(paper, rows)
    return Finding(what, paper, ours, f"{low} to {high}", place(ours, low, high), note)


def rate_beside(what: str, ours: float | None, paper: float, rows: int, note: str = "") -> Finding:
    """Compare error rates in percent of `rows` rows in the same way."""
    low, high = (100 * count / rows for count in band(paper * rows / 100, rows))
    return Finding(what, paper, ours, f"{low:.2f} to {high:.2f}", place(ours, low, high), note)


def place(ours: float | None, low: float, high: float) -> Verdict:
    """Return the position of an error count relative to a band."""
    if ours is None:
        return "not run"
    if ours > high:
        return "more errors"
    return "agrees" if ours >= low else "fewer errors"


def claim(what: str, holds: bool | None, found: str, note: str = "") -> Finding:
    """Judge a statement of the paper; None if it was not run."""
    verdict: Verdict = "not run" if holds is None else "holds" if holds else "fails"
    return Finding(what, "claimed", found if holds is not None else None, "", verdict, note)


def unjudged(finding: Finding) -> Finding:
    """Return a finding without a verdict: at small scale the paper's numbers do not apply."""
    if finding.verdict == "not run":
        return finding
    return Finding(finding.what, None, finding.ours, "", "not judged", finding.note)


def close(what: str, ours: float | None, paper: float, tolerance: float, note: str = "") -> Finding:
    """Compare with a number that the paper gives exactly: ours may differ by rounding."""
    if ours is None:
        verdict: Verdict = "not run"
    else:
        verdict = "agrees" if abs(ours - paper) <= tolerance else "differs"
    return Finding(what, paper, ours, f"within {tolerance:g}", verdict, note)


def prediction_interval(found: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % prediction interval of another normal draw, from at least two draws."""
    n = len(found)
    half = t.ppf((1 + LEVEL) / 2, n - 1) * stdev(found) * sqrt(1 + 1 / n)
    return mean(found) - half, mean(found) + half


def significance(errors: float, fewer: float, rows: int) -> float:
    """The one-sided P-value of Li's summary table for `fewer` against `errors`.

    It treats both counts as binomial and independent, and their rates as normal with the variances
    p (1 - p) / rows. On one test set the counts are not independent: if the rows are known,
    `_paired` has the right test. This one is used because the paper prints its values.
    """
    a, b = errors / rows, fewer / rows
    spread = sqrt((a * (1 - a) + b * (1 - b)) / rows)
    return float(norm.sf((a - b) / spread)) if spread > 0 else 0.5
