"""The choice between summing histograms by rows and by columns."""

import numpy as np
import scipy.sparse as sp

from edgewise import _core
from edgewise._data.sparse import SparseRows


def binned(X):
    return _core.BinnedData(X, None, 255, 1)


def test_columns_that_are_read_whole_count_in_the_choice():
    """Images: most pixels are dark, the middle is not. Rows hold the shorter lists."""
    rng = np.random.default_rng(0)
    n, d = 2000, 784
    density = np.where(np.arange(d) % 4 == 0, 0.7, 0.01)
    X = np.where(rng.random((n, d)) < density, rng.integers(1, 255, (n, d)), 0).astype(np.uint8)
    data = binned(X)
    assert data.sparse
    assert not data.pays_by_columns(n)


def test_wide_data_with_few_entries_is_summed_by_columns():
    rng = np.random.default_rng(0)
    n, d = 2000, 4000
    X = np.where(rng.random((n, d)) < 0.02, rng.integers(1, 255, (n, d)), 0).astype(float)
    data = binned(SparseRows.of(sp.csr_array(X)))
    assert data.sparse
    assert data.pays_by_columns(n)
    assert not data.pays_by_columns(n // 20)
