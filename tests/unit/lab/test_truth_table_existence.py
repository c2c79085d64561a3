"""Existence and uniqueness against brute force, and the exact linear algebra below them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from edgewise import InvalidDataError
from edgewise.lab.truth_table import TruthTable, _exact, _existence


def directions(M):
    """Integer directions, enough for every separation of up to four classifiers.

    The directions s v >= 0 form a cone, and if it separates so does one of its edges, modulo what
    leaves all cells alone. An edge is orthogonal to M - 1 independent rows of signs, so its entries
    are minors of order M - 1 <= 3: for signs those are 0 or 4 in size (2 for order 2).
    """
    return np.array(list(itertools.product(range(-1, 2), repeat=M)))


def separable(patterns, candidates):
    margins = candidates @ patterns.T
    return bool(((margins >= 0).all(axis=1) & (margins > 0).any(axis=1)).any())


@pytest.mark.parametrize("M", [1, 2, 3])
def test_every_set_of_cells_is_judged_as_brute_force_does(M):
    every = np.array(list(itertools.product([-1, 1], repeat=M)))
    candidates = directions(M)
    for bits in range(1, 2 ** len(every)):
        cells = every[[bool(bits >> i & 1) for i in range(len(every))]]
        found = TruthTable.from_cells(cells, np.ones(len(cells))).existence
        assert found.certified
        assert found.exists == (not separable(cells, candidates))
        assert found.rank == np.linalg.matrix_rank(cells)
        assert found.unique == (found.exists and found.rank == M)
        if not found.exists:
            assert (cells @ found.direction >= 0).all()
            assert (cells @ found.direction > 0).any()


def test_random_sets_of_four_classifiers(seed):
    rng = np.random.default_rng(seed)
    candidates = directions(4)
    verdicts = set()
    for _ in range(30):
        cells = np.unique(rng.choice([-1, 1], size=(rng.integers(3, 11), 4)), axis=0)
        found = TruthTable.from_cells(cells, np.ones(len(cells))).existence
        assert found.certified
        assert found.exists == (not separable(cells, candidates))
        verdicts.add(found.exists)
    assert verdicts == {True, False}


def test_the_sufficient_condition_needs_independent_pairs():
    """Four full pairs of four classifiers, of rank three: the slide would say unique."""
    rows = np.array([[1, 1, 1, 1], [-1, 1, 1, 1], [1, -1, 1, 1], [-1, -1, 1, 1]])
    table = TruthTable.from_cells(np.vstack([rows, -rows]), np.arange(1, 9))
    found = table.existence
    assert found.full_pairs == 4
    assert found.rank == 3
    assert found.exists
    assert not found.sufficient
    assert not found.unique


def test_a_minimum_without_full_pairs():
    """Three cells that balance: no pair is full, yet there is one minimum."""
    cells = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, -1]])
    found = TruthTable.from_cells(cells, [1, 2, 3, 4]).existence
    assert found.full_pairs == 0
    assert found.unique
    assert found.certified


def test_a_perfect_classifier_is_the_witness():
    rng = np.random.default_rng(0)
    H = rng.choice([-1, 1], size=(200, 5))
    H[:, 3] = 1
    table = TruthTable.from_predictions(np.ones(200, dtype=int), H)
    np.testing.assert_array_equal(table.existence.direction, [0, 0, 0, 1, 0])
    with pytest.raises(InvalidDataError, match=r"no minimum.*\[0, 0, 0, 1, 0\].*smoothed"):
        table.minimise()
    assert table.smoothed().existence.exists


@pytest.mark.parametrize("separated", [False, True])
def test_many_cells_are_decided_by_newtons_weights_first(separated, monkeypatch):
    rng = np.random.default_rng(0)
    H = rng.choice([-1, 1], size=(1200, 18))
    H[:, 2] = H[:, 3]
    if separated:
        H[:, 0] = 1
    table = TruthTable.from_predictions(np.ones(1200, dtype=int), H)
    assert len(table.pairs.m) - table.existence.full_pairs > _existence._MANY
    quick = table.existence
    monkeypatch.setattr(_existence, "_MANY", 10**9)  # by the linear program
    slow = _existence.decide(table.pairs)
    assert quick.exists == slow.exists == (not separated)
    assert quick.certified
    assert slow.certified
    assert quick.rank == slow.rank == 17


# --- exact linear algebra ---------------------------------------------------------------------


def test_ranks_of_sixty_columns(seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1, 1], size=(500, 60))
    assert _exact.rank(rows) == 60
    rows[:, 7] = rows[:, 11]
    rows[:, 20] = -rows[:, 21]
    assert _exact.rank(rows) == 58
    chosen = _exact.independent_rows(rows)
    assert len(chosen) == 58
    assert np.linalg.matrix_rank(rows[chosen]) == 58


def test_rank_is_not_fooled_by_one_prime(monkeypatch):
    """The signs J - 2 I of order 5 have the determinant 48, a multiple of 3."""
    rows = np.ones((5, 5), dtype=int) - 2 * np.eye(5, dtype=int)
    assert len(_exact._independent_modulo(rows, 3)) == 4
    monkeypatch.setattr(_exact, "_PRIMES", (3, *_exact._PRIMES))
    assert _exact.rank(rows) == 5


def test_rows_outside_the_first_part_are_found():
    rows = np.ones((5000, 3), dtype=int)
    rows[4000, 1] = -1
    rows[4999, 2] = -1
    assert _exact.rank(rows) == 3
    assert set(_exact.independent_rows(rows)) >= {4000, 4999}


def test_null_space_vectors_are_exact(seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1, 1], size=(7, 9))
    near = np.linalg.svd(rows)[2][-1]
    v = _exact.null_space_vector(rows[_exact.independent_rows(rows)], near)
    assert (_exact.product(rows, v) == 0).all()
    direction = np.array(v, dtype=float)
    assert abs(direction @ near) / np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-4)


def test_combinations():
    rows = np.array([[1, 1, 1], [1, -1, 1]])
    assert _exact.combination(rows, [3, 1, 3]) == [Fraction(2), Fraction(1)]
    assert _exact.combination(rows, [3, 1, 4]) is None


def test_products_of_huge_integers():
    v = [2**70, -(2**70) + 1]
    assert _exact.product(np.array([[1, 1], [1, -1]]), v).tolist() == [1, 2**71 - 1]
