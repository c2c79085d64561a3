"""Cut points from counts of parts are those of all distinct values, however few are listed."""

import pickle

import numpy as np
import pytest

from edgewise import _core

LEAST = 1024  # values of a column that a summary must be able to list


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def summary_of(X, weights, largest, within=None, n_parts=5, order=None):
    """Merged from parts, in some order."""
    rows = np.array_split(np.arange(len(X)), n_parts)
    merged = None
    for part in rows if order is None else [rows[i] for i in order]:
        w = None if weights is None else weights[part]
        summary = _core.Summary(X[part], w, largest, 2, LEAST, within)
        merged = summary if merged is None else merged.merged(summary)
    return merged


def found(X, weights=None, max_bins=255):
    """Cuts, and the looks it took."""
    largest = 1.0 if weights is None else weights.max()
    search = _core.CutSearch(summary_of(X, weights, largest), max_bins, [])
    n_looks = 1
    while any(map(len, within := search.open())):
        search.take(summary_of(X, weights, largest, within))
        n_looks += 1
    return search.cuts(), n_looks


def columns(rng, n):
    """Continuous, of heavy tails, rounded, of both signs, with heavy values, nearly constant."""
    heavy = rng.normal(size=n)
    heavy[rng.random(n) < 0.3] = 0.25
    return np.column_stack(
        [
            rng.normal(size=n),
            rng.standard_cauchy(n) ** 3,
            np.round(rng.normal(size=n), 4),
            rng.exponential(size=n) * rng.choice([-1e-300, 1e300], size=n),
            heavy,
            1.0 + rng.random(n) * 1e-12,
            rng.integers(0, 900, n),
        ]
    )


@pytest.mark.parametrize("max_bins", [2, 17, 255])
@pytest.mark.parametrize("weighted", [False, True])
def test_cuts_are_those_of_all_values(rng, max_bins, weighted):
    X = columns(rng, 40_000)
    X[rng.random(X.shape) < 0.01] = np.nan
    X[7, 0], X[8, 0], X[9, 1] = np.inf, -np.inf, -0.0
    weights = rng.exponential(size=len(X)) if weighted else None
    cuts, n_looks = found(X, weights, max_bins)
    whole = _core.BinnedData(X, weights, max_bins, 1, [])
    binned = _core.bin_rows(X, cuts, 1)
    for f in range(X.shape[1]):
        assert binned.cuts(f) == whole.cuts(f), f
    assert n_looks >= 2  # so few values are listed here that it may take dozens


def test_summaries_do_not_depend_on_the_order_of_parts(rng):
    X = columns(rng, 30_000)
    states = {
        pickle.dumps(summary_of(X, None, 1.0, n_parts=n, order=order))
        for n, order in ((1, None), (5, None), (5, [3, 1, 4, 0, 2]), (60, None))
    }
    assert len(states) == 1


def test_few_values_take_one_look(rng):
    cuts, n_looks = found(rng.integers(0, 1000, (20_000, 2)).astype(float))
    assert n_looks == 1
    assert len(_core.bin_rows(np.zeros((1, 2)), cuts, 1).cuts(0)) == 254


def test_rows_that_changed_between_two_looks_are_noticed(rng):
    X = rng.normal(size=(20_000, 2))
    search = _core.CutSearch(summary_of(X, None, 1.0), 255, [])
    within = search.open()
    with pytest.raises(ValueError, match="rows have changed"):
        search.take(summary_of(X[:-50], None, 1.0, within))
    with pytest.raises(ValueError, match="finer counts"):
        search.cuts()


def test_bad_requests_are_refused(rng):
    X = rng.normal(size=(100, 2))
    with pytest.raises(ValueError, match="1024 values or more"):
        _core.Summary(X, None, 1.0, 1, 10)
    with pytest.raises(ValueError, match="ranges for every column"):
        _core.Summary(X, None, 1.0, 1, LEAST, [[1, 2]])
    with pytest.raises(ValueError, match="must ascend"):
        _core.Summary(X, None, 1.0, 1, LEAST, [[2, 1], []])


def test_bins_settle_in_room_of_others(rng):
    X = np.round(rng.normal(size=(3000, 9)) * [1, 1, 1, 9, 9, 0.4, 0.4, 99, 99])
    data = _core.bin_rows(X, _core.Cuts(_core.Summary(X, None, 1.0, 1), 255, []), 1)
    before = _core.columns_of(data)
    room = np.zeros(_core.room_of(data) + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    with pytest.raises(ValueError, match="too little room"):
        _core.settle(data, room[start : start + 64])
    with pytest.raises(ValueError, match="a multiple of 64 bytes"):
        _core.settle(data, room[start + 1 :])
    _core.settle(data, room[start : start + _core.room_of(data)])
    np.testing.assert_array_equal(_core.columns_of(data), before)
    room[:] = 0
    assert not np.array_equal(_core.columns_of(data), before)  # it is there that they are
