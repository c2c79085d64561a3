"""Two classifiers on the same rows are compared by the rows on which they differ."""

import numpy as np
import pytest
from scipy.stats import binomtest

from edgewise.experiments import _paired, abc_grid, abc_search, abc_summary
from edgewise.experiments._types import Record

ROWS = 1797


def wrong(*rows):
    found = np.zeros(ROWS, dtype=bool)
    found[list(rows)] = True
    return found


def record(cell, rows, **changes):
    given = {
        "experiment": "abc-fits",
        "scale": "paper",
        "cell": cell.name,
        "seed": 0,
        "params": dict(cell.params),
        "data": cell.data,
        "data_hash": "0",
        "version": 1,
        "outcome": {
            "errors": int(rows.sum()),
            "wrong": _paired.pack(rows),
            "test_rows": ROWS,
            "rounds": 9,
        },
        "seconds": 0.0,
    }
    return Record(**given | changes)


def test_rows_survive_packing(seed):
    rows = np.random.default_rng(seed).random(ROWS) < 0.03
    np.testing.assert_array_equal(_paired.unpack(_paired.pack(rows), ROWS), rows)
    assert len(_paired.pack(rows)) < ROWS // 4


def test_discordant_rows_are_counted():
    cell = abc_grid.cell("optdigits", "mart", 20, 0.1)
    first, second = record(cell, wrong(1, 2, 3)), record(cell, wrong(3, 4))
    assert _paired.discordant(first, second) == (2, 1)
    assert _paired.discordant(first, record(cell, wrong(3), data_hash="1")) is None
    old = record(cell, wrong(3), outcome={"errors": 1, "test_rows": ROWS})
    assert _paired.discordant(first, old) is None


@pytest.mark.parametrize("pair", [(9, 2), (2, 9), (0, 4), (5, 5), (0, 0)])
def test_p_values_are_those_of_the_sign_test(pair):
    found, n = _paired.Discordant(*pair), sum(pair)
    one = binomtest(pair[0], n, alternative="greater").pvalue if n else 1.0
    two = binomtest(pair[0], n).pvalue if n else 1.0
    assert _paired.one_sided(found) == pytest.approx(one)
    assert _paired.two_sided(found) == pytest.approx(two)


def search_finding(full_rows, rows):
    cell = next(each for each in abc_search.cells("paper") if "own" in each.params)
    full = abc_grid.cell("optdigits", "abc-mart", *abc_grid.USUAL)
    held = {cell.name: record(cell, rows), full.name: record(full, full_rows)}
    return next(f for f in abc_search.findings("paper", held) if f.verdict != "not run")


def test_a_search_that_errs_on_more_of_the_same_rows_is_worse():
    """43 and 54 errors are within the binomial band; that no row is better says more."""
    assert search_finding(wrong(*range(43)), wrong(*range(54))).verdict == "more errors"
    assert search_finding(wrong(*range(54)), wrong(*range(43))).verdict == "fewer errors"
    assert search_finding(wrong(*range(43)), wrong(*range(100, 154))).verdict == "agrees"


def test_significance_of_the_summary_is_paired():
    cells = {a: abc_grid.cell("letter", a, *abc_grid.USUAL) for a in ("mart", "abc-mart")}
    rows = {"mart": wrong(*range(120)), "abc-mart": wrong(*range(108))}
    held = {cell.name: record(cell, rows[a]) for a, cell in cells.items()}
    found = abc_summary.findings("paper", held)
    (claim,) = [f for f in found if "Letter:" in f.what and f.verdict != "not run"]
    assert claim.verdict == "holds"
    assert "McNemar on 12 and 0 rows" in claim.ours
