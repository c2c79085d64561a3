"""The 0/1 cost against all votes of small integers, by both methods."""

import itertools

import numpy as np
import pytest

from edgewise.lab.truth_table import TruthTable, _zero_one

# Cells of the arrangement of all hyperplanes s beta = 0 of M classifiers: the threshold functions
# of M - 1 variables (Muroga 1971; OEIS A000609).
N_CELLS = {1: 2, 2: 4, 3: 14, 4: 104, 5: 1882, 6: 94572}


def some_table(seed, M, n=60, accuracy=0.6):
    rng = np.random.default_rng(seed)
    H = np.where(rng.random((n, M)) < accuracy, 1, -1)
    return TruthTable.from_predictions(np.ones(n, dtype=int), H)


def least_errors(table, largest):
    """Over all integer votes with entries up to `largest`, a tie being an error."""
    votes = np.array(
        list(itertools.product(range(-largest, largest + 1), repeat=table.n_classifiers))
    )
    wrong = table.patterns @ votes.T <= 0
    return (table.counts @ wrong).min()


@pytest.mark.parametrize("M", N_CELLS)
def test_every_cell_of_the_arrangement_has_a_vote(M):
    votes = _zero_one.all_votes(M)
    patterns = np.array(list(itertools.product((1, -1), repeat=M)))
    signs = patterns[: 2 ** (M - 1)] @ votes.T
    assert (signs != 0).all()
    assert len(votes) == N_CELLS[M]
    assert len(np.unique(np.packbits(signs > 0, axis=0), axis=1).T) == N_CELLS[M]


@pytest.mark.parametrize("M", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("method", ["enumeration", "program"])
def test_least_errors(M, method, monkeypatch, seed):
    if method == "program":
        monkeypatch.setattr(_zero_one, "LARGEST_INTEGER", ())
    table = some_table(seed, M)
    found = table.zero_one_minimum()
    assert found.errors == least_errors(table, (0, 1, 1, 1, 2, 3)[M])
    assert found.proven
    assert found.lower_bound == pytest.approx(found.errors)
    assert table.errors(found.beta) == found.errors
    assert found.contains(found.beta)


def test_the_two_methods_agree_on_six_classifiers(monkeypatch):
    table = some_table(4, 6, n=80)
    enumerated = table.zero_one_minimum()
    monkeypatch.setattr(_zero_one, "LARGEST_INTEGER", ())
    programmed = table.zero_one_minimum()
    assert programmed.errors == enumerated.errors
    assert programmed.proven
    assert programmed.n_cones is None
    assert enumerated.n_cones >= 1


def test_seven_classifiers_go_to_the_program():
    table = some_table(0, 7, n=50, accuracy=0.7)
    found = table.zero_one_minimum(time_limit=30)
    assert found.n_cones is None
    assert found.proven
    assert table.errors(found.beta) == found.errors
    rng = np.random.default_rng(0)
    votes = rng.normal(size=(2000, 7))
    assert found.errors <= min(table.errors(v) for v in votes)


def test_the_cost_is_constant_on_the_cone(seed):
    table = some_table(seed, 4, n=200)
    found = table.zero_one_minimum()
    rng = np.random.default_rng(seed)
    inside = [v for v in rng.normal(size=(4000, 4)) if found.contains(v)]
    assert len(inside) > 5
    assert {table.errors(v) for v in inside} == {found.errors}


def test_facets_are_all_that_bound_the_cone(seed):
    found = some_table(seed, 4, n=200).zero_one_minimum()
    facets = found.facets()
    assert 4 <= len(facets) < len(found.halfspaces)
    rng = np.random.default_rng(seed)
    for v in rng.normal(size=(500, 4)):
        assert (facets @ v > 0).all() == found.contains(v)


def test_cones_of_equal_cost_are_counted():
    """Two classifiers of equal merit that disagree on as many examples each way."""
    table = TruthTable.from_cells([[1, 1], [1, -1], [-1, 1]], [5, 2, 2])
    found = table.zero_one_minimum()
    assert found.errors == 2  # the pair (1, -1) costs 2 on either side
    assert found.n_cones == 1
    assert len(found.halfspaces) == 1  # only (1, 1) matters
    # X_1, X_2, X_3 > 0 and X_0 = X_1 + X_2 + X_3 < 0: one of four must give way
    table = TruthTable.from_cells([[-1, 1, 1], [1, -1, 1], [1, 1, -1], [-1, -1, -1]], [2] * 4)
    assert table.zero_one_minimum().errors == 2
    assert table.zero_one_minimum().n_cones == 4


def test_nothing_to_decide():
    table = TruthTable.from_cells([[1, 1], [-1, -1]], [3, 3])
    found = table.zero_one_minimum()
    assert found.errors == 3
    assert found.n_cones == 1
    assert found.halfspaces.shape == (0, 2)


def test_thirteen_classifiers_are_not_called_proven():
    """Twenty examples of which a vote gets all right: the bound is reached, the claim is modest."""
    table = some_table(1, 13, n=15, accuracy=0.8)
    found = table.zero_one_minimum(time_limit=20)
    assert found.errors == found.lower_bound == 0
    assert not found.proven
