"""The histogram kernels: the fast one against the naive one, and the naive one against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from edgewise import _core
from edgewise._data.sparse import SparseRows


def packed(g, h):
    return g.astype(np.int64) * 2**32 + h


def histogram(data, rows, stats, *, naive):
    """(n_places, 3): sums of gradient and Hessian, number of rows."""
    rows = np.ascontiguousarray(rows, dtype=np.uint32)
    return _core.testing.histogram(data, rows, stats, naive).reshape(-1, 3)


def offsets(X, data):
    """First place of every feature, and the number of places; there is room for every bin."""
    places = [len(data.cuts(f)) + 1 + np.isnan(x).any() for f, x in enumerate(X.T)]
    given = np.diff(data.offset.astype(int))
    assert (given >= places).all()
    assert given.sum() <= 1.25 * sum(places)
    return data.offset.astype(int)


def numpy_histogram(X, data, rows, g, h):
    start = offsets(X, data)
    expected = np.zeros((start[-1], 3), dtype=np.int64)
    for f in range(data.n_features):
        for i, row in enumerate(rows):
            expected[start[f] + data.code(int(row), f)] += (g[i], h[i], 1)
    return expected


def random_table(rng, n, d, usual, missing):
    """Columns of a few to many values; a share `usual` of each is one value."""
    X = rng.integers(1, rng.integers(2, 300, size=d), size=(n, d)).astype(float)
    X[rng.random((n, d)) < usual] = 0.0
    X[rng.random((n, d)) < missing] = np.nan
    return X


def random_stats(rng, n):
    return rng.integers(-(2**20), 2**20, size=n), rng.integers(0, 2**20, size=n)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 50),
    d=st.integers(1, 9),
    usual=st.sampled_from([0.0, 0.5, 0.9]),
    missing=st.sampled_from([0.0, 0.2, 0.95]),
)
def test_kernels_agree(seed, n, d, usual, missing):
    rng = np.random.default_rng(seed)
    X = random_table(rng, n, d, usual, missing)
    data = _core.BinnedData(X, None, 255, 1)
    rows = np.flatnonzero(rng.random(n) < rng.random())
    g, h = random_stats(rng, len(rows))
    expected = numpy_histogram(X, data, rows, g, h)
    np.testing.assert_array_equal(histogram(data, rows, packed(g, h), naive=True), expected)
    np.testing.assert_array_equal(histogram(data, rows, packed(g, h), naive=False), expected)


@pytest.mark.parametrize(("usual", "sparse"), [(0.0, False), (0.9, True)])
@pytest.mark.parametrize(
    ("n", "d", "levels"),
    [(400, 80, 260), (60, 1500, 5), (3000, 3, None)],
    ids=["several blocks", "more than 1024 features in a block", "many rows"],
)
def test_kernels_agree_on_larger_tables(usual, sparse, n, d, levels):
    rng = np.random.default_rng(0)
    X = rng.integers(1, levels, size=(n, d)) * 1.0 if levels else rng.normal(size=(n, d))
    X[rng.random((n, d)) < usual] = 0.0
    X[rng.random((n, d)) < 0.01] = np.nan
    data = _core.BinnedData(X, None, 255, 1)
    assert data.sparse == sparse
    rows = rng.permutation(n)[: n * 2 // 3]
    g, h = random_stats(rng, len(rows))
    fast, naive = (histogram(data, rows, packed(g, h), naive=naive) for naive in (False, True))
    np.testing.assert_array_equal(fast, naive)
    assert naive[:, 2].sum() == len(rows) * d


@pytest.mark.parametrize("listed", [False, True], ids=["all codes", "lists of rows"])
def test_wide_tables_are_summed_column_by_column(listed):
    """All rows of a table of several blocks; half of them are looked up row by row."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3000)) * (rng.random((300, 3000)) < 0.1)
    X[rng.random(X.shape) < 0.001] = np.nan
    data = _core.BinnedData(SparseRows.of(csr_array(X)) if listed else X, None, 255, 1)
    assert data.sparse
    assert data.offset[-1] > 2**16  # places: a block has no more
    for n in (300, 150):
        rows = rng.permutation(300)[:n]
        g, h = random_stats(rng, n)
        fast, naive = (histogram(data, rows, packed(g, h), naive=naive) for naive in (False, True))
        np.testing.assert_array_equal(fast, naive)
        assert naive[:, 2].sum() == n * 3000


@pytest.mark.parametrize(
    ("levels", "n_joint"),
    [
        ([16] * 16, 8),
        ([17] * 5 + [1] + [2] * 9, 4),  # 17 17, 17 17, 17 1 2 2 2 2, 2 2 2 2 2
        ([2] * 40, 5),
        ([8] * 6, 2),
        ([300, 300, 3, 3, 3, 3, 3, 3], 4),
        ([300, 300, 3], 0),
    ],
    ids=["letters", "mixed", "answers", "octal", "two of many values", "not worth it"],
)
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_joint_columns_give_the_same_sums(levels, n_joint, missing):
    rng = np.random.default_rng(3)
    X = rng.integers(0, levels, size=(5000, len(levels))).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    data = _core.BinnedData(X, None, 255, 2, [len(levels) - 1])
    assert not data.sparse
    assert missing > 0.0 or data.n_joint == n_joint
    for n in (1, 40, 4000):  # below and above what is worth a detour
        rows = rng.permutation(5000)[:n]
        g, h = random_stats(rng, n)
        fast, naive = (histogram(data, rows, packed(g, h), naive=naive) for naive in (False, True))
        np.testing.assert_array_equal(fast, naive)
        assert naive[:, 2].sum() == n * len(levels)


def one_hot(rng, n, sizes, missing_rows=0.0):
    """Groups of columns of which each row has a one in one; in none for a share of the rows."""
    groups = [np.eye(k)[rng.integers(k, size=n)] for k in sizes]
    X = np.hstack([*groups, rng.normal(size=(n, 3))])
    X[rng.random(n) < missing_rows, 0 : sizes[0]] = 0.0
    return X


@pytest.mark.parametrize(
    ("missing_rows", "width"), [(0.0, 5), (0.1, 5), (0.9, 0)], ids=["equal", "filled up", "uneven"]
)
def test_rows_of_one_length_give_the_same_sums(missing_rows, width):
    rng = np.random.default_rng(4)
    X = one_hot(rng, 4000, [12, 30], missing_rows)
    data = _core.BinnedData(X, None, 255, 1)
    assert data.sparse
    assert data.row_widths == [width]
    for n in (1, 2, 1000, 4000):
        rows = rng.permutation(4000)[:n]
        g, h = random_stats(rng, n)
        fast, naive = (histogram(data, rows, packed(g, h), naive=naive) for naive in (False, True))
        np.testing.assert_array_equal(fast, naive)
        assert naive[:, 2].sum() == n * X.shape[1]


@pytest.mark.parametrize("usual", [0.0, 0.9])
def test_sums_of_every_feature_are_those_of_the_node(usual):
    rng = np.random.default_rng(1)
    X = random_table(rng, 200, 6, usual, 0.1)
    data = _core.BinnedData(X, None, 255, 1)
    rows = np.arange(0, 200, 3)
    g, h = random_stats(rng, len(rows))
    places = histogram(data, rows, packed(g, h), naive=False)
    sums = np.add.reduceat(places, offsets(X, data)[:-1])
    np.testing.assert_array_equal(sums, np.tile([g.sum(), h.sum(), len(rows)], (6, 1)))


def test_no_rows_give_an_empty_histogram():
    data = _core.BinnedData(np.arange(12.0).reshape(6, 2), None, 255, 1)
    none = np.zeros(0, dtype=np.int64)
    assert not histogram(data, none, none, naive=False).any()


def test_negative_gradients_do_not_borrow_from_hessians():
    data = _core.BinnedData(np.zeros((4, 1)), None, 255, 1)
    g, h = np.array([-5, -7, 3, -1]), np.array([1, 2**30, 0, 9])
    assert histogram(data, np.arange(4), packed(g, h), naive=False).tolist() == [
        [-10, 2**30 + 10, 4]
    ]
