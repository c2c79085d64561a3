"""The reference's tree grower: one split against brute force, then the order of growth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.reference._tree import Grower, Node, first_of_the_best


def thresholds_of(x):
    """Midpoints of all values of a feature, then +inf, which parts values from missing ones."""
    values = np.unique(x[~np.isnan(x)])
    return [*(values[:-1] + (values[1:] - values[:-1]) / 2), np.inf]


def candidates(X, rows):
    """(feature, threshold, missing_left, goes_left) of every way to part the rows, in order."""
    for j in range(X.shape[1]):
        x = X[rows, j]
        for missing_left in (False, True):
            for threshold in thresholds_of(X[:, j]):
                if np.isfinite(threshold) and not (x <= threshold).any() & (x > threshold).any():
                    continue
                left = np.where(np.isnan(x), missing_left, x <= threshold)
                yield j, threshold, missing_left, left


def split_by_brute_force(X, rows, a, b, w, min_samples_leaf):
    """(gain, feature, threshold, missing_left, goes_left) of a node, or None.

    Parts the rows by every threshold in turn; a, b, w are such that sums are exact.
    """
    A, B = w[rows] * a, w[rows] * b
    best, best_score = None, 0.0
    for candidate in candidates(X, rows):
        left = candidate[-1]
        if min(left.sum(), (~left).sum()) < min_samples_leaf:
            continue
        if B[left].sum() <= 0 or B[~left].sum() <= 0:
            continue
        score = A[left].sum() ** 2 / B[left].sum() + A[~left].sum() ** 2 / B[~left].sum()
        if score > best_score * (1 + 1e-7):
            best, best_score = candidate, score
    gain = best_score - A.sum() ** 2 / max(B.sum(), 1e-300)
    if best is None or gain <= 1e-10 * best_score:
        return None
    j, threshold, missing_left, left = best
    x = X[rows, j]
    if np.isfinite(threshold):  # the middle one of the thresholds that part the values alike
        below = (x <= threshold).sum()
        alike = [t for t in thresholds_of(X[:, j])[:-1] if (x <= t).sum() == below]
        threshold = alike[(len(alike) - 1) // 2]
    if not np.isnan(x).any():
        missing_left = left.sum() >= (~left).sum()
    return gain, j, threshold, missing_left, left


def dyadic(rng, low, high, n):
    return rng.integers(low, high, size=n) / 4


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 14),
    d=st.integers(1, 3),
    missing=st.sampled_from([0.0, 0.3, 0.9]),
    min_samples_leaf=st.integers(1, 3),
    least_squares=st.booleans(),
    weighted=st.booleans(),
)
def test_best_split_is_that_of_brute_force(
    seed, n, d, missing, min_samples_leaf, least_squares, weighted
):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(n, d)).astype(float)
    X[rng.random((n, d)) < missing] = np.nan
    a = dyadic(rng, -8, 9, n)
    b = np.ones(n) if least_squares else dyadic(rng, 0, 5, n)
    w = dyadic(rng, 1, 9, n) if weighted else np.ones(n)
    rows = np.flatnonzero(rng.random(n) < 0.7)  # a node need not hold every value of a feature
    a, b = a[rows], b[rows]
    split = Grower(X, w, 2, min_samples_leaf).best_split(Node(rows), a, b)
    expected = split_by_brute_force(X, rows, a, b, w, min_samples_leaf)
    if expected is None:
        assert split is None
        return
    assert split is not None
    assert split.gain == pytest.approx(expected[0], rel=1e-12)
    assert split[1:4] == expected[1:4]
    np.testing.assert_array_equal(split.goes_left, expected[4])


def first_split(x, a, **kwargs):
    X = np.asarray(x, dtype=float).reshape(len(a), -1)
    rows = np.asarray(kwargs.pop("rows", np.arange(len(a))))
    grower = Grower(X, np.ones(len(a)), kwargs.pop("max_leaf_nodes", 2), 1)
    return grower.best_split(Node(rows), np.asarray(a, dtype=float)[rows], np.ones(len(rows)))


def test_cut_is_centred_in_the_gap_of_the_node():
    x = [0, 1, 2, 3, 4, 5]
    a = [-1, 9, 9, 9, 9, 1]
    assert first_split(x, a, rows=[0, 5]).threshold == 2.5  # bins 0 and 5: cut (0 + 5 - 1) // 2
    assert first_split(x, a, rows=[0, 4, 5]).threshold == 1.5  # cut (0 + 4 - 1) // 2


def test_ties_go_to_the_lowest_feature_and_cut():
    x = [0, 1, 2, 3]
    assert first_split(np.transpose([np.negative(x), x]), [1, 1, -1, -1]).feature == 0
    assert first_split(x, [1, 0, 0, 1]).threshold == 0.5


def test_ties_send_missing_values_right_before_they_take_the_lowest_cut():
    # Cut 1.5 with the missing row on the right gains as much as 0.5 with it on the left.
    split = first_split([0, 1, 2, np.nan], [0, 2, 0, 0])
    assert (split.threshold, split.missing_left) == (1.5, False)


@pytest.mark.parametrize(("excess", "place"), [(0.0, 0), (5e-8, 0), (2e-7, 1)])
def test_a_later_score_must_be_larger_by_more_than_rounding(excess, place):
    assert first_of_the_best(np.array([3.0, 3.0 * (1 + excess), 1.0])) == place


def test_missing_rows_of_a_node_are_set_apart_by_an_infinite_threshold():
    # Bins above those of the node's values part the rows alike; a value there is not missing.
    split = first_split([1, 2, np.nan, np.nan, 9], [1, 1, -1, -1, 0], rows=[0, 1, 2, 3])
    assert split.threshold == np.inf
    assert not split.missing_left
    np.testing.assert_array_equal(split.goes_left, [True, True, False, False])


def test_missing_values_follow_the_larger_child_where_none_were_seen():
    assert first_split([0, 1, 1], [-1, 1, 1]).missing_left is False
    assert first_split([0, 0, 1], [-1, -1, 1]).missing_left is True
    assert first_split([0, 1], [-1, 1]).missing_left is True


def test_no_split_without_a_gain():
    assert first_split([0, 1, 2], [0.1, 0.1, 0.1]) is None
    assert first_split([1, 1, 1], [1, -1, 1]) is None
    assert first_split([np.nan] * 3, [1, -1, 1]) is None


def grown(x, a, max_leaf_nodes, w=None):
    X = np.asarray(x, dtype=float).reshape(len(a), -1)
    a = np.asarray(a, dtype=float)
    w = np.ones(len(a)) if w is None else w
    grower = Grower(X, w, max_leaf_nodes, 1)
    return X, grower.grow(
        lambda i: (a[i], np.ones(len(i))), lambda i: np.array([w[i] @ a[i] / w[i].sum()])
    )


def test_leaf_of_the_largest_gain_is_split_first():
    # The root parts at 3.5; then the right half gains most, then the left one.
    x, a = range(8), [-1.5, -1.5, -1.25, -1.25, 0.5, 0.5, 2, 2]
    _, tree = grown(x, a, 3)
    assert [node.split.threshold if node.split else None for node in tree.nodes] == [
        3.5, None, 5.5, None, None,
    ]  # fmt: skip
    assert tree.nodes[0].children == (1, 2)
    assert tree.nodes[2].children == (3, 4)


def test_equal_gains_split_the_older_leaf_first():
    _, tree = grown(range(8), [-2, -2, -1, -1, 1, 1, 2, 2], 3)
    assert tree.nodes[0].children == (1, 2)
    assert tree.nodes[1].children == (3, 4)


@pytest.mark.parametrize("max_leaf_nodes", [1, 2, 5, 100])
def test_rows_reach_their_leaf_and_leaves_part_the_rows(max_leaf_nodes):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, size=(60, 3)).astype(float)
    x[rng.random((60, 3)) < 0.2] = np.nan
    X, tree = grown(x, rng.uniform(-2, 2, size=60), max_leaf_nodes)
    leaves = [node for node in tree.nodes if node.split is None]
    assert len(leaves) <= max_leaf_nodes
    np.testing.assert_array_equal(
        np.sort(np.concatenate([leaf.rows for leaf in leaves])), range(60)
    )
    steps = tree.predict(X)
    for leaf in leaves:
        np.testing.assert_array_equal(steps[leaf.rows], np.tile(leaf.value, (len(leaf.rows), 1)))
    if max_leaf_nodes == 100:
        assert len(leaves) > 20
