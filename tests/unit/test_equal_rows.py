"""How rows are laid out for histograms changes nothing: the trees are the same."""

import numpy as np
import pytest
from support import DRAWLESS_VARIANTS, trees_of

from edgewise import _core

N_COPIES = 60


def one_hot_table(seed, n=600):
    """Two groups of columns of which each row has a one in one, or in none, and a column of
    numbers; and labels."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(8, size=n), rng.integers(20, size=n)
    numbers = rng.normal(size=n)
    X = np.column_stack([np.eye(8)[first], np.eye(20)[second], numbers])
    X[rng.random(n) < 0.1, :8] = 0.0
    y = (first + (second > 9) + (numbers > 0.3 * rng.normal(size=n))) % 3
    return X, y


@pytest.mark.parametrize("name", DRAWLESS_VARIANTS)
@pytest.mark.parametrize("min_samples_leaf", [1, 5])
def test_sparse_rows_grow_the_trees_of_dense_ones(name, min_samples_leaf):
    """Copies of a column make the table dense, and lose every tie against the column itself."""
    X, y = one_hot_table(0)
    crowded = np.hstack([X, np.repeat(X[:, -1:], N_COPIES, axis=1)])
    assert _core.BinnedData(X, None, 255, 1).row_widths == [3]
    assert not _core.BinnedData(crowded, None, 255, 1).sparse
    make = DRAWLESS_VARIANTS[name]
    sparse, dense = (
        make(n_estimators=5, min_samples_leaf=min_samples_leaf).fit(table, y)
        for table in (X, crowded)
    )
    np.testing.assert_array_equal(sparse.decision_function(X), dense.decision_function(crowded))
    assert list(trees_of(sparse.model_, 0)) == list(trees_of(dense.model_, 0))
