"""Every row's leaf, however it is found: as a member of a leaf, by a walk, or 32 rows at once."""

import numpy as np
import pytest

from edgewise import _core

ALONE = -1


def walked(tree, X):
    """The leaf of each row of X, by a plain walk."""
    feature, left, threshold = tree.feature, tree.left, tree.threshold
    leaves = []
    for x in X:
        at = 0
        while feature[at] >= 0:
            value = x[feature[at]]
            goes_left = tree.missing_left[at] if np.isnan(value) else value <= threshold[at]
            at = left[at] + (not goes_left)
        leaves.append(left[at])
    return np.array(leaves)


def fitted_state(X, y):
    """A posterior that knows most rows: those are left out of the search for splits."""
    data = _core.BinnedData(X, None, 255, 1)
    posterior = _core.Posterior(y, None, np.zeros(2), "by_class")
    limits = _core.GrowLimits(12, 0, 1)
    for _ in range(12):
        posterior.add(
            _core.grow_class_trees(
                data, posterior, [(0, ALONE), (1, ALONE)], "newton", limits, 1.0, 1.0, 1
            ),
            1,
        )
    return data, posterior


@pytest.mark.parametrize("negligible", [0.0, 0.5, 50.0], ids=["all", "most", "few"])
@pytest.mark.parametrize("leaves", [2, 20, 32, 100, 256, 257, 600])
@pytest.mark.parametrize("n", [31, 4001])
def test_rows_are_in_the_leaf_that_a_walk_leads_to(n, leaves, negligible):
    rng = np.random.default_rng(n + leaves)
    X = rng.normal(size=(n, 5)).round(2)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=n) > 0).astype(np.int32)
    data, posterior = fitted_state(X, y)
    limits = _core.GrowLimits(leaves, 0, 1, negligible)
    (tree,) = _core.grow_class_trees(data, posterior, [(0, ALONE)], "newton", limits, 1.0, 1.0, 2)
    np.testing.assert_array_equal(tree.leaf_of_row, walked(tree, X))


def test_trees_of_blocks_take_only_the_arrays_that_there_are():
    """A growing tree has no covers yet, and nothing is read past the end of an empty array."""
    X = np.random.default_rng(0).random((200, 2))
    data = _core.BinnedData(X, None, 255, 1, [], [])
    posterior = _core.Posterior((X[:, 0] > 0.5).astype(np.int32), None, np.zeros(2), "by_row")
    limits = _core.GrowLimits(max_leaf_nodes=4, max_depth=0, min_samples_leaf=5)
    tree = _core.PairTreeGrower(data, posterior, limits).grow(True, 0.1, 1, limits)
    store = _core.ForestStore()
    store.append([tree])
    cuts = _core.Cuts(_core.Summary(X, None, 1.0, 1), 255, [])
    (again,) = _core.trees_on_bins(cuts, store.arrays())
    assert len(tree.cover) == len(again.cover) == 0
    np.testing.assert_array_equal(again.feature, tree.feature)
