"""The reference's stumps and Hamming trees: against Appendix C as printed, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import table, uneven_weights

from edgewise.reference import _hamming_tree
from edgewise.reference._mh_votes import first_weights, label_matrix


def signed_weights(seed, y):
    return first_weights(label_matrix(y), uneven_weights(seed, len(y)), "balanced") * label_matrix(
        y
    )


def best_stump(X, S):
    """STUMPBASE of Kégl's Figure 2, with its slips repaired: feature, threshold, votes, edge."""
    best = (None, -np.inf, np.where(S.sum(axis=0) > 0, 1, -1), np.abs(S.sum(axis=0)).sum())
    for j in range(X.shape[1]):
        order = np.argsort(X[:, j], kind="stable")
        s = X[order, j]
        edges = S.sum(axis=0)  # of the constant classifier
        for i in range(len(s) - 1):
            edges = edges - 2 * S[order[i]]
            if s[i] != s[i + 1] and np.abs(edges).sum() > best[3] + 1e-12:
                votes = np.where(edges > 0, 1, -1)
                best = (j, (s[i] + s[i + 1]) / 2, votes, np.abs(edges).sum())
    return best


@pytest.mark.parametrize("K", [2, 3, 6])
def test_stump_is_that_of_appendix_c(seed, K):
    X, y = table(seed, n=50, K=K)
    S = signed_weights(seed, y)
    stump = _hamming_tree.grow(X, S, 2)
    feature, threshold, votes, edge = best_stump(X, S)
    split = stump.tree.nodes[0].split
    assert (split.feature, split.threshold) == (feature, pytest.approx(threshold))
    np.testing.assert_array_equal(stump.votes, votes)
    phi = np.where(X[:, feature] >= threshold, 1, -1)  # Appendix C
    np.testing.assert_array_equal(stump.predict(X), phi[:, None] * votes)
    assert (S * stump.predict(X)).sum() == pytest.approx(edge)
    assert split.gain == pytest.approx(edge - np.abs(S.sum(axis=0)).sum())


def stump_edges(X, S):
    """The edge of every stump with its best votes, missing values on either side."""
    for x in X.T:
        for value in np.unique(x[~np.isnan(x)]):
            for missing in (-1, 1):
                phi = np.where(np.isnan(x), missing, np.where(x > value, 1, -1))
                if len(set(phi)) == 2:
                    yield np.abs(phi @ S).sum()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 16),
    K=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.3]),
)
def test_stump_has_the_edge_of_brute_force(seed, n, K, missing):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(n, 2)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    S = rng.integers(-8, 9, size=(n, K)).astype(float)
    rows = S.any(axis=1)
    expected = max([*stump_edges(X[rows], S[rows]), np.abs(S.sum(axis=0)).sum()])
    assert (S * _hamming_tree.grow(X, S, 2).predict(X)).sum() == pytest.approx(expected)


def test_stump_by_hand():
    # Three classes; right of the cut class 2, left of it class 0, class 1 on both sides alike.
    S = np.array([[3, -1, -1], [2, 1, -2], [-2, 1, 2], [-1, -1, 4]], dtype=float)
    stump = _hamming_tree.grow([[0.0], [1.0], [2.0], [3.0]], S, 2)
    assert stump.tree.nodes[0].split.threshold == 1.5
    np.testing.assert_array_equal(stump.votes, [-1, -1, 1])  # a classwise edge of 0 votes -1
    np.testing.assert_array_equal(stump.tree.nodes[1].value, [1, 1, -1])
    np.testing.assert_array_equal(stump.tree.nodes[2].value, [-1, -1, 1])
    assert stump.tree.nodes[0].split.gain == (8 + 0 + 9) - (2 + 0 + 3)


def test_root_without_improvement_stays_constant():
    S = np.array([[2.0, -1.0, 0.0], [2.0, -3.0, 0.0]])
    tree = _hamming_tree.grow([[0.0], [1.0]], S, 8)
    assert len(tree.tree.nodes) == 1
    np.testing.assert_array_equal(tree.votes, [1, -1, -1])
    np.testing.assert_array_equal(tree.predict(np.zeros((1, 1))), [[1, -1, -1]])


def own_edge(S):
    return np.abs(S.sum(axis=0)).sum()


def splits_in_order(tree):
    """The nodes that were split, in the order in which that happened."""
    inner = [node for node in tree.tree.nodes if node.split]
    return sorted(inner, key=lambda node: node.children)


@pytest.mark.parametrize("leaf_votes", ["stump", "own"])
def test_splits_add_at_least_their_improvement_to_the_edge(seed, leaf_votes):
    X, y = table(seed + 30, n=70, K=4, missing=0.1)
    S = signed_weights(seed, y)
    gains = [
        n.split.gain for n in splits_in_order(_hamming_tree.grow(X, S, 9, leaf_votes=leaf_votes))
    ]
    assert len(gains) >= 4
    edges = [
        (S * _hamming_tree.grow(X, S, J, leaf_votes=leaf_votes).predict(X)).sum()
        for J in range(1, len(gains) + 2)
    ]
    if leaf_votes == "own":
        np.testing.assert_allclose(np.diff(edges), gains)
    else:  # the constant of a leaf may be better than what its parent's stump says there
        assert (np.diff(edges) >= np.array(gains) - 1e-12).all()


def test_leaf_says_what_the_last_stump_on_its_path_says(seed):
    X, y = table(seed + 40, n=70, K=4)
    S = signed_weights(seed, y)
    nodes = _hamming_tree.grow(X, S, 10).tree.nodes
    for node in nodes:
        if node.split:
            L, R = (S[nodes[child].rows].sum(axis=0) for child in node.children)
            assert node.split.gain == pytest.approx(np.abs(R - L).sum() - np.abs(L + R).sum())
            for child, phi in zip(node.children, (-1, 1), strict=True):
                if not nodes[child].split:
                    np.testing.assert_array_equal(nodes[child].value, phi * np.sign(R - L))


def test_leaf_that_votes_for_itself(seed):
    X, y = table(seed + 50, n=70, K=4)
    S = signed_weights(seed, y)
    tree = _hamming_tree.grow(X, S, 10, leaf_votes="own")
    nodes = tree.tree.nodes
    for node in nodes:
        if node.split:
            L, R = (own_edge(S[nodes[child].rows]) for child in node.children)
            assert node.split.gain == pytest.approx(L + R - own_edge(S[node.rows]))
        else:
            np.testing.assert_array_equal(node.value, np.sign(S[node.rows].sum(axis=0)))
    assert (S * tree.predict(X)).sum() == pytest.approx(
        sum(own_edge(S[node.rows]) for node in nodes if not node.split)
    )


@pytest.mark.parametrize("leaf_votes", ["stump", "own"])
def test_largest_improvement_is_split_first(seed, leaf_votes):
    X, y = table(seed, n=80, K=3)
    tree = _hamming_tree.grow(X, signed_weights(seed, y), 12, leaf_votes=leaf_votes)
    nodes, order = tree.tree.nodes, splits_in_order(tree)
    assert len(order) >= 4
    for step, node in enumerate(order):
        created = nodes[: 2 * step + 1]
        waiting = [n.split.gain for n in order[step:] if any(n is c for c in created)]
        assert node.split.gain == max(waiting)


def test_limits_and_rows_without_weight(seed):
    X, y = table(seed + 60, n=80, K=3, levels=9)
    S = signed_weights(seed, y) * (np.arange(80) % 4 > 0)[:, None]
    assert max(node.depth for node in _hamming_tree.grow(X, S, 20).tree.nodes) > 2
    nodes = _hamming_tree.grow(X, S, 20, max_depth=2, min_samples_leaf=5).tree.nodes
    assert max(node.depth for node in nodes) == 2
    assert min(len(node.rows) for node in nodes) >= 5
    assert not any((node.rows % 4 == 0).any() for node in nodes)
