"""Columns of bins: bytes, or bits where a column has two bins."""

import numpy as np
import pytest

from edgewise import _core


def binned(X, max_bins=255):
    return _core.bin_rows(X, _core.Cuts(_core.Summary(X, None, 1.0, 1), max_bins, []), 1)


def mixed(n):
    """Columns of one, two and many values, with missing ones and without."""
    rng = np.random.default_rng(n)
    two = rng.integers(2, size=(n, 3)).astype(float)
    two[::3, 1] = np.nan
    return np.column_stack(
        [
            np.full(n, 7.0),
            two * [1.0, 2.0, -5.0],
            rng.integers(3, size=n),
            rng.normal(size=n),
            np.where(rng.random(n) < 0.3, np.nan, 1.0),
        ]
    )


def ranks(column):
    """Bins of a column of few values: ranks (of one at least), missing ones last."""
    values = np.unique(column[~np.isnan(column)])
    return np.where(np.isnan(column), max(len(values), 1), np.searchsorted(values, column))


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 250])
def test_bins_are_ranks_whatever_the_column(n):
    X = mixed(n)
    columns = _core.columns_of(binned(X)).reshape(-1, n)
    for f in range(X.shape[1]):
        np.testing.assert_array_equal(columns[f], ranks(X[:, f]), err_msg=f"column {f}")


def test_columns_of_two_values_take_a_bit_for_a_row():
    n, d = 4000, 40
    rng = np.random.default_rng(0)
    two, three = (binned(rng.integers(k, size=(n, d)).astype(float)).n_bytes for k in (2, 3))
    # Row after row a byte for every value, and beside it the columns and the joint codes.
    assert two < 1.5 * n * d < 2.0 * n * d < three
