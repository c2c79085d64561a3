"""The reference's splits of categories: all ways to part them, against itertools."""

from itertools import combinations

import numpy as np
import pytest

from edgewise.reference._categories import MISSING, best_sets, bipartitions, numbered
from edgewise.reference._gini_tree import grow
from edgewise.reference._tree import Grower, Table, first_of_the_best, newton_score


@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_bipartitions_are_all_of_them_once(m):
    found = {frozenset(np.flatnonzero(row).tolist()) for row in bipartitions(m)}
    assert len(found) == len(bipartitions(m)) == 2 ** (m - 1) - 1
    everything = frozenset(range(m))
    for n_left in range(1, m):
        for left in map(frozenset, combinations(range(m), n_left)):
            assert (left in found) != (everything - left in found)


def test_values_are_numbered_in_their_order():
    values, number = numbered(np.array([7.0, -2.0, np.nan, 7.0, np.inf, -np.inf, 0.0]))
    assert values.tolist() == [-2.0, 0.0, 7.0]
    assert number.tolist() == [2, 0, MISSING, 2, MISSING, MISSING, 1]


def test_a_column_without_values_is_all_missing():
    values, number = numbered(np.full(3, np.nan))
    assert values.tolist() == []
    assert number.tolist() == [MISSING] * 3


def best_by_brute_force(x, a, b, min_samples_leaf):
    """The score of the best pair of sets, and the pair as sets of categories."""
    seen, best = sorted(set(x.tolist())), (0.0, None)
    for n_left in range(1, len(seen)):
        for chosen in combinations(seen, n_left):
            left = np.isin(x, chosen)
            if min(left.sum(), (~left).sum()) < min_samples_leaf:
                continue
            score = sum(a[s].sum() ** 2 / b[s].sum() for s in (left, ~left))
            if score > best[0] * (1 + 1e-9):
                best = score, {frozenset(chosen), frozenset(seen) - frozenset(chosen)}
    return best


@pytest.mark.parametrize("min_samples_leaf", [1, 8])
@pytest.mark.parametrize("missing", [False, True])
def test_the_best_sets_are_those_of_brute_force(min_samples_leaf, missing, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(MISSING if missing else 0, 6, size=40)
    a, b = rng.normal(size=40), rng.uniform(0.2, 1.0, size=40)
    score, left = best_sets(x, np.array([a, b]), newton_score, min_samples_leaf, first_of_the_best)
    expected, pair = best_by_brute_force(x, a, b, min_samples_leaf)
    assert score == pytest.approx(expected)
    assert frozenset(left.tolist()) in pair
    assert MISSING not in left
    if not missing:
        assert 2 * np.isin(x, left).sum() <= len(x)


def test_of_equal_sides_the_one_with_the_lowest_category_is_left():
    a = np.array([1.0, 1.0, -1.0, -1.0])
    for x, expected in (([3, 3, 5, 5], [3]), ([5, 5, 3, 3], [3])):
        _, left = best_sets(
            np.array(x), np.array([a, np.ones(4)]), newton_score, 1, first_of_the_best
        )
        assert left.tolist() == expected


def test_one_category_cannot_be_parted():
    score, _ = best_sets(np.zeros(5, dtype=int), np.ones((2, 5)), newton_score, 1, np.argmax)
    assert score == 0.0


def test_trees_send_what_they_have_not_seen_to_the_right():
    X = np.array([[4.0], [4.0], [9.0], [9.0], [9.0], [1.0]])
    grower = Grower(X, np.ones(6), 2, 1, categorical=[0])
    g = np.array([1.0, 1.0, -1.0, -1.0, -1.0, 1.0])
    tree = grower.grow(lambda i: (g[i], np.ones(len(i))), lambda i: np.array([g[i].mean()]))
    # Three rows go each way: those with the lowest category go left.
    assert tree.nodes[0].split.categories.tolist() == [1.0, 4.0]
    seen = tree.predict(np.array([[4.0], [9.0], [1.0]]))
    assert seen.ravel().tolist() == [1.0, -1.0, 1.0]
    unseen = tree.predict(np.array([[5.0], [np.nan], [np.inf]]))
    assert unseen.ravel().tolist() == [-1.0, -1.0, -1.0]


def test_two_categories_are_parted_like_numbers(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(2, size=(60, 3)).astype(float)
    stats = np.eye(3)[rng.integers(3, size=60)] * rng.uniform(0.5, 2.0, size=(60, 1))
    numbers, nominal = grow(Table(X), stats, 6), grow(Table(X, [0, 1, 2]), stats, 6)
    np.testing.assert_allclose(nominal.predict(X), numbers.predict(X))
