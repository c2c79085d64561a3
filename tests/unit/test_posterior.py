"""The state of a logistic fit: the layouts against each other and against NumPy."""

import numpy as np
import pytest

from edgewise import _core

ALONE = -1


def grown(n, K, *, weighted, pairs, rounds=4):
    """Rounds of trees for every class, or for pairs of classes, and what they were grown on."""
    rng = np.random.default_rng(K)
    X = rng.normal(size=(n, 3))
    y = rng.integers(K, size=n).astype(np.int32)
    y[:K] = np.arange(K)
    w = rng.uniform(0.5, 2.0, size=n) if weighted else None
    start = np.log(np.bincount(y) / n)
    data = _core.BinnedData(X, w, 255, 1)
    posterior = _core.Posterior(y, w, start, "by_class")
    limits = _core.GrowLimits(6, 0, 1)
    targets = [(k, (k + 1) % K if pairs else ALONE) for k in range(K)]
    trees = []
    for _ in range(rounds):
        trees.append(
            _core.grow_class_trees(data, posterior, targets, "newton", limits, 1.0, 0.7, 1)
        )
        posterior.add(trees[-1], 1)
    return y, w, start, trees


def probabilities(posterior, n):
    return np.array([posterior.probabilities(i) for i in range(n)])


# 61 rows: whole vectors and a rest; classes: less and more than a vector, with all kinds of rests.
@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 3, 4, 7, 8, 13, 16, 29])
def test_rows_first_and_classes_first_give_the_same_bits(K, weighted, pairs):
    n = 61
    y, w, start, rounds = grown(n, K, weighted=weighted, pairs=pairs)
    by_row, by_class = (_core.Posterior(y, w, start, layout) for layout in ("by_row", "by_class"))
    for trees in rounds:
        assert by_row.loss_after(trees, 1) == by_class.loss_after(trees, 2)
        by_row.add(trees, 1)
        by_class.add(trees, 2)
        np.testing.assert_array_equal(probabilities(by_row, n), probabilities(by_class, n))
        assert by_row.class_losses(1) == by_class.class_losses(2)


@pytest.mark.parametrize("layout", ["by_row", "by_class", "lists"])
def test_probabilities_are_the_soft_max_of_the_scores(layout):
    n, K = 150, 5
    y, w, start, rounds = grown(n, K, weighted=True, pairs=False)
    posterior = _core.Posterior(y, w, start, layout)
    scores = np.tile(start, (n, 1))
    for trees in rounds:
        for k, tree in enumerate(trees):
            scores[:, k] += np.asarray(tree.values)[tree.leaf_of_row]
        expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        losses = -w * np.log(expected[np.arange(n), y]) / w.sum()
        if layout != "lists":
            assert posterior.loss_after(trees, 1) == pytest.approx(losses.sum(), rel=1e-9)
        posterior.add(trees, 1)
        np.testing.assert_allclose(probabilities(posterior, n), expected, rtol=1e-12)
        by_label = np.bincount(y, weights=losses)
        np.testing.assert_allclose(posterior.class_losses(1), by_label, rtol=1e-9)
