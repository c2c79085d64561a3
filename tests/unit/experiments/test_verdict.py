"""Verdicts: bands, claims, intervals, and the P-values that Li prints."""

import pytest
from scipy.stats import binom

from edgewise.experiments import _li, _verdict


def test_band_is_the_central_95_percent_of_a_binomial():
    low, high = _verdict.band(102, 4000)
    assert (low, high) == (83, 122)
    below, above = binom.cdf(low - 1, 4000, 102 / 4000), binom.sf(high, 4000, 102 / 4000)
    assert below < 0.025 < binom.cdf(low, 4000, 102 / 4000)
    assert above < 0.025 < binom.sf(high - 1, 4000, 102 / 4000)


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (82, "fewer errors"),
        (83, "agrees"),
        (122, "agrees"),
        (123, "more errors"),
        (None, "not run"),
    ],
)
def test_a_count_is_judged_by_the_band_around_the_papers(ours, verdict):
    finding = _verdict.errors_beside("Letter", ours, 102, 4000)
    assert (finding.verdict, finding.tolerance) == (verdict, "83 to 122")


def test_a_rate_is_judged_in_percent():
    assert _verdict.rate_beside("x", 9.9, 6.38, 2100).verdict == "more errors"
    assert _verdict.rate_beside("x", 6.4, 6.38, 2100).verdict == "agrees"
    assert _verdict.rate_beside("x", 1.0, 6.38, 2100).verdict == "fewer errors"
    assert _verdict.rate_beside("x", None, 6.38, 2100).verdict == "not run"


def test_without_a_number_of_the_paper_nothing_is_judged():
    assert _verdict.errors_beside("x", 5, None, 100).verdict == "not judged"
    assert _verdict.errors_beside("x", None, None, 100).verdict == "not run"


def test_claims_hold_fail_or_were_not_run():
    verdicts = [_verdict.claim("x", holds, "found").verdict for holds in (True, False, None)]
    assert verdicts == ["holds", "fails", "not run"]


def test_exact_numbers():
    assert _verdict.close("x", 0.5 + 1e-10, 0.5, 1e-9).verdict == "agrees"
    assert _verdict.close("x", 0.5 + 1e-8, 0.5, 1e-9).verdict == "differs"
    assert _verdict.close("x", None, 0.5, 1e-9).verdict == "not run"


@pytest.mark.parametrize("data", ["letter", "pendigits", "zipcode", "optdigits", "isolet"])
def test_significance_is_the_papers_test(data):
    """The slides print P-values to two decimals, and the counts they are of."""
    known = _li.DATA_SETS[data]
    p = _verdict.significance(known.mart, known.abc_mart, known.test_rows)
    assert round(p, 2) == _li.P_VALUES[data]


def test_significance_of_equal_counts_is_a_coin():
    assert _verdict.significance(100, 100, 1000) == pytest.approx(0.5)
    assert _verdict.significance(0, 0, 1000) == 0.5


def test_prediction_interval_against_the_formula():
    """Three draws 1, 2, 3: mean 2, deviation 1, t(2) = 4.3027, sqrt(1 + 1/3)."""
    low, high = _verdict.prediction_interval([1.0, 2.0, 3.0])
    half = 4.302652729911275 * (4 / 3) ** 0.5
    assert (low, high) == pytest.approx((2 - half, 2 + half))
