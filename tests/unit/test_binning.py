"""Binning: where the cuts are, and in which bin a value falls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise import _core
from edgewise._data import features

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def binned(X, weights=None, max_bins=255, n_threads=1):
    return _core.BinnedData(np.asarray(X), weights, max_bins, n_threads)


def cuts_of(column, **kwargs):
    return binned(np.asarray(column, dtype=float).reshape(-1, 1), **kwargs).cuts(0)


def codes_of(data):
    return np.array([[data.code(i, f) for f in range(data.n_features)] for i in range(data.n_rows)])


def midpoints(values):
    """Between every two neighbours; the lower one itself where no double lies between."""
    cuts = []
    for a, b in zip(values[:-1], values[1:], strict=True):
        with np.errstate(over="ignore"):
            mid = a + (b - a) / 2 if np.isfinite(b - a) else a / 2 + b / 2
        cuts.append(mid if a < mid < b else a)
    return cuts


def oracle_codes(X, data):
    """Number of cuts below each value; one more than the last bin for missing values."""
    columns = []
    for f, x in enumerate(X.T):
        cuts = np.array(data.cuts(f))
        columns.append(np.where(np.isnan(x), len(cuts) + 1, np.searchsorted(cuts, x)))
    return np.stack(columns, axis=1)


# --- few values: every midpoint ---------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=40))
def test_few_values_are_cut_at_every_midpoint(column):
    values = np.unique(np.array(column) + 0.0)
    cuts = cuts_of(column)
    assert cuts == midpoints(values)
    assert all(a <= c < b for a, c, b in zip(values[:-1], cuts, values[1:], strict=True))


@pytest.mark.parametrize("max_bins", [2, 3, 16, 255])
def test_as_many_values_as_bins_are_all_told_apart(max_bins):
    x = np.random.default_rng(0).permutation(np.repeat(np.arange(max_bins), 3)).astype(float)
    assert cuts_of(x, max_bins=max_bins) == list(np.arange(max_bins - 1) + 0.5)


def test_one_value_more_than_bins_loses_one_cut():
    assert len(cuts_of(np.arange(256), max_bins=255)) == 254
    assert len(cuts_of(np.arange(17), max_bins=16)) == 15


def test_constant_column_has_no_cut():
    assert cuts_of([3.5] * 7) == []
    assert cuts_of([np.nan] * 4) == []
    assert cuts_of([np.nan, 2.0, np.nan]) == []


def test_negative_zero_is_zero():
    data = binned([[-0.0], [0.0], [1.0], [-1.0]])
    assert data.cuts(0) == [-0.5, 0.5]
    assert codes_of(data).ravel().tolist() == [1, 1, 2, 0]


def test_infinite_values_choose_no_cut_and_fall_into_the_outer_bins():
    data = binned([[-np.inf], [0.0], [1.0], [2.0], [np.inf]])
    assert data.cuts(0) == [0.5, 1.5]
    assert codes_of(data).ravel().tolist() == [0, 0, 1, 2, 2]


def test_only_infinite_values_share_one_bin():
    data = binned([[-np.inf], [np.inf], [np.nan]])
    assert data.cuts(0) == []
    assert codes_of(data).ravel().tolist() == [0, 0, 1]


def test_huge_values_do_not_overflow():
    assert cuts_of([-1.7e308, 1.7e308]) == [0.0]
    assert cuts_of([1.0e308, 1.6e308]) == [1.3e308]


def test_denormal_and_neighbouring_values_are_told_apart():
    tiny = 5e-324
    x = [0.0, tiny, 1.0, np.nextafter(1.0, 2.0)]
    data = binned(np.reshape(x, (-1, 1)))
    assert codes_of(data).ravel().tolist() == [0, 1, 2, 3]
    assert data.cuts(0)[0] == 0.0  # no double lies between: "x <= 0" parts them
    assert data.cuts(0)[2] == 1.0


# --- many values: quantiles -------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [2, 7, 64, 255])
def test_quantile_bins_are_balanced(max_bins, seed):
    x = np.random.default_rng(seed).normal(size=5000)
    cuts = cuts_of(x, max_bins=max_bins)
    assert len(cuts) == max_bins - 1
    counts = np.bincount(np.searchsorted(cuts, x), minlength=max_bins)
    assert abs(counts - len(x) / max_bins).max() <= 1
    assert not np.isin(cuts, x).any()  # between the values


def oracle_quantile_cuts(column, mass, max_bins):
    """Bins filled from the left: one is closed where that comes nearest to an even share of what
    is left for the bins that are left."""
    values, of_row = np.unique(column, return_inverse=True)
    masses = [int(m) for m in np.bincount(of_row, mass)]
    cuts, filled, left = [], 0, sum(masses)
    for i in range(len(values) - 1):
        if len(cuts) == max_bins - 1:
            break
        filled += masses[i]
        share = left / (max_bins - len(cuts))
        if filled >= share or abs(filled - share) < abs(filled + masses[i + 1] - share):
            cuts += midpoints(values[i : i + 2])
            left, filled = left - filled, 0
    return cuts


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    max_bins=st.integers(2, 12),
    levels=st.integers(13, 60),
    weighted=st.booleans(),
)
def test_quantile_cuts_are_those_of_the_oracle(seed, max_bins, levels, weighted):
    rng = np.random.default_rng(seed)
    column = (levels * rng.beta(0.5, 2.0, size=200)).round()  # heavy values and light ones
    if len(np.unique(column)) <= max_bins:
        return
    w = rng.integers(1, 9, size=200) if weighted else np.ones(200)
    # Weights count in whole units of 2^-20 of the largest.
    mass = np.round(w / w.max() * 2**20)
    cuts = cuts_of(column, weights=w.astype(float) if weighted else None, max_bins=max_bins)
    assert cuts == oracle_quantile_cuts(column, mass, max_bins)


def test_quantile_cuts_are_midpoints_of_neighbouring_values(seed):
    x = np.random.default_rng(seed).exponential(size=1000)
    values = np.sort(x)
    cuts = cuts_of(x, max_bins=20)
    assert set(cuts) <= set(midpoints(values))


def test_heavy_value_has_a_bin_of_its_own():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0, 1, 3000), np.full(3000, 0.5)])
    cuts = np.array(cuts_of(x, max_bins=16))
    in_bin = np.searchsorted(cuts, x) == np.searchsorted(cuts, 0.5)
    assert in_bin.sum() <= 3000 + 2 * 6000 / 16
    counts = np.bincount(np.searchsorted(cuts, x[~in_bin]), minlength=16)
    assert counts.max() <= 2.5 * 3000 / 15


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), max_bins=st.integers(2, 30), levels=st.integers(2, 200))
def test_cuts_ascend_and_number_at_most_max_bins(seed, max_bins, levels):
    rng = np.random.default_rng(seed)
    x = rng.integers(levels, size=300) * rng.choice([1.0, 1e-300, 1e300])
    cuts = cuts_of(x, max_bins=max_bins)
    n_values = len(np.unique(x))
    assert np.all(np.diff(cuts) > 0)
    assert len(cuts) <= min(n_values, max_bins) - 1
    assert len(cuts) >= min(n_values, 2) - 1  # something is told apart


# --- weights ----------------------------------------------------------------------------------


def test_weight_is_repetition(seed):
    rng = np.random.default_rng(seed)
    x, times = rng.normal(size=600), rng.integers(1, 5, size=600)
    weighted = cuts_of(x, weights=times.astype(float), max_bins=20)
    assert weighted == cuts_of(np.repeat(x, times), max_bins=20)
    assert weighted != cuts_of(x, max_bins=20)


@pytest.mark.parametrize("weight", [1.0, 3.7, 1e-12, 1e12])
def test_equal_weights_are_none(weight, seed):
    x = np.random.default_rng(seed).normal(size=600)
    assert cuts_of(x, weights=np.full(600, weight), max_bins=20) == cuts_of(x, max_bins=20)


def test_weights_do_not_matter_for_few_values():
    x = np.arange(40.0) % 8
    w = np.random.default_rng(0).uniform(1e-6, 1, size=40)
    assert cuts_of(x, weights=w) == cuts_of(x)


# --- order, threads, types --------------------------------------------------------------------


def awkward_table(seed, n=400):
    """Quantile columns, few values, missing, infinite, constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 12))
    X[:, 1] = rng.integers(5, size=n)
    X[rng.random(n) < 0.3, 2] = np.nan
    X[rng.random(n) < 0.1, 3] = np.inf
    X[rng.random(n) < 0.1, 3] = -np.inf
    X[:, 4] = 2.5
    X[:, 5] = np.nan
    X[:, 6] *= 1e300
    X[:, 7] *= 1e-310
    X[:, 8] = np.where(rng.random(n) < 0.8, 0.0, X[:, 8])
    return X


def test_codes_count_the_cuts_below(seed):
    X = awkward_table(seed)
    for max_bins in (255, 11):
        data = binned(X, max_bins=max_bins)
        np.testing.assert_array_equal(codes_of(data), oracle_codes(X, data))


def test_offsets_leave_a_place_for_missing_values_only_where_there_are_some():
    X = awkward_table(0)
    data = binned(X)
    places = [len(data.cuts(f)) + 1 + np.isnan(x).any() for f, x in enumerate(X.T)]
    assert data.offset.tolist() == [0, *np.cumsum(places)]


def test_order_of_rows_does_not_matter(seed):
    X = awkward_table(seed)
    w = np.random.default_rng(seed).uniform(0.1, 9, size=len(X))
    order = np.random.default_rng(seed).permutation(len(X))
    for weights, shuffled in ((None, None), (w, w[order])):
        here, there = binned(X, weights, 31), binned(X[order], shuffled, 31)
        assert [here.cuts(f) for f in range(12)] == [there.cuts(f) for f in range(12)]
        np.testing.assert_array_equal(codes_of(here)[order], codes_of(there))


@pytest.mark.parametrize("n_threads", [2, 4, 7])
def test_threads_do_not_matter(n_threads):
    X = np.repeat(awkward_table(0), 30, axis=0)  # 12 000 rows: more than one piece
    here, there = binned(X, None, 31), binned(X, None, 31, n_threads)
    assert [here.cuts(f) for f in range(12)] == [there.cuts(f) for f in range(12)]
    sample = range(0, len(X), 97)
    assert [[here.code(i, f) for f in range(12)] for i in sample] == [
        [there.code(i, f) for f in range(12)] for i in sample
    ]


def test_layout_follows_the_density():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(200, 5))
    assert not binned(dense).sparse
    sparse = np.where(rng.random((200, 5)) < 0.9, 0.0, dense)
    assert binned(sparse).sparse
    np.testing.assert_array_equal(codes_of(binned(sparse)), oracle_codes(sparse, binned(sparse)))


DTYPES = "f2 f4 f8 f16 i1 i2 i4 i8 u1 u2 u4 u8 >f2 >f4 >f8 >i2 >i4 >i8 >u4 ?".split()


def layouts(X):
    """The same matrix in several layouts."""
    yield "C", np.ascontiguousarray(X)
    yield "F", np.asfortranarray(X)
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=X.dtype)
    wide[::2, 1::3] = X
    yield "strided", wide[::2, 1::3]
    yield "reversed", np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    frozen = X.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    packed = np.zeros(len(X), dtype=[("pad", "i1"), ("x", X.dtype, (X.shape[1],))])
    packed["x"] = X
    yield "unaligned", packed["x"]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if hasattr(np, "longdouble") or d != "f16"])
def test_every_type_and_layout_gives_the_same_codes(dtype):
    rng = np.random.default_rng(3)
    whole = rng.integers(2 if dtype == "?" else 100, size=(60, 5))
    X = whole.astype(dtype)
    expected = binned(whole.astype(float))
    for name, matrix in layouts(X):
        data = binned(features.readable(matrix))
        assert [data.cuts(f) for f in range(5)] == [expected.cuts(f) for f in range(5)], name
        np.testing.assert_array_equal(codes_of(data), codes_of(expected), err_msg=name)


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f4", "f8", ">f8"])
def test_missing_values_of_every_float_type(dtype):
    X = np.array([[1, np.nan], [np.nan, 2], [3, 4]], dtype=dtype)
    data = binned(features.readable(X))
    assert codes_of(data).tolist() == [[0, 2], [2, 0], [1, 1]]


def test_readable_matrices_are_not_copied():
    for dtype in "f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 ?".split():
        X = np.zeros((6, 4), dtype=dtype)
        for view in (X, X.T, X[::2, ::-1], np.broadcast_to(X[:1], (6, 4))):
            assert np.shares_memory(features.readable(view), X)


def test_matrix_of_other_numbers_is_refused():
    with pytest.raises(ValueError, match="real numbers"):
        binned(np.zeros((3, 2), dtype=complex))
