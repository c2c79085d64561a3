"""Tables and comparisons for the boosters that vote, beside their references."""

import numpy as np
from support import table, trees_of

from edgewise import _core

BASES = ["stump", "hamming_tree", "product", "one_vs_all"]


def labels_of(y):
    """Signs (n, K) of labels or of an indicator matrix."""
    return np.where(y if y.ndim == 2 else y[:, None] == np.unique(y), 1.0, -1.0)


def many_labels(seed, n=70, K=4, missing=0.1):
    """X and an indicator matrix: rows with none, some and all of the labels."""
    X, _ = table(seed, n=n, missing=missing)
    rng = np.random.default_rng([seed, 2])
    turn = rng.normal(size=(X.shape[1], K))
    y = np.nan_to_num(X) @ turn + rng.normal(size=(n, K)) > 0
    y[0], y[1] = True, False
    return X, y.astype(int)


def splits_of(tree):
    return [node.split and node.split[1:4] for node in tree.nodes]


def levels_of_a_product(nodes):
    """The stumps of a product that is written as a tree: all nodes of a level are alike."""
    stumps, level = [], 0
    while nodes[2**level - 1] is not None:
        assert set(nodes[2**level - 1 : 2 ** (level + 1) - 1]) == {nodes[2**level - 1]}
        stumps.append(nodes[2**level - 1])
        level += 1
    return stumps


def splits_of_base(classifier):
    if hasattr(classifier, "stumps"):
        return [s for stump in classifier.stumps if (s := splits_of(stump.tree)[0])]
    if hasattr(classifier, "trees"):
        return [splits_of(tree) for tree in classifier.trees]
    return [splits_of(classifier.tree)]


def assert_same_splits(fast, slow):
    assert fast.n_iter_ == len(slow.rounds)
    for m, (_, classifier) in enumerate(slow.rounds):
        trees = list(trees_of(fast.model_, m))
        found = levels_of_a_product(trees[0]) if hasattr(classifier, "stumps") else trees
        assert found == splits_of_base(classifier), f"round {m}"


def assert_equivalent(X, fast, slow):
    assert_same_splits(fast, slow)
    np.testing.assert_allclose(fast.model_.scores(X, 1), slow.scores, atol=1e-7)
    for name in ("edge", "alpha", "z", "bound", "hamming_loss"):
        np.testing.assert_allclose(fast.history_[name], slow.history[name], atol=1e-7, err_msg=name)
    mass = np.nan_to_num(slow.history["vote_mass"], nan=1.0)  # one tree per class: no votes
    np.testing.assert_allclose(fast.history_["vote_mass"], mass, atol=1e-7)
    np.testing.assert_allclose(fast.history_["loss"], fast.history_["bound"], rtol=1e-12)


def mostly_zeros(seed, n=300, K=4):
    """A table that the core stores sparsely."""
    X, y = table(seed, n=n, K=K, d=6)
    X[np.random.default_rng(seed).random(X.shape) < 0.85] = 0.0
    X[::17, 1] = np.nan
    assert _core.BinnedData(X, None, 255, 1).sparse
    return X, y


def costs_of(y, K):
    return np.where(y[:, None] == np.arange(K), 0.0, 1.0)
