"""Votes: the coefficients that lower the energy most, against brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from edgewise._families.coefficients import KINDS, binary, binary_of_edge, real, signs_of, ternary
from edgewise.reference._mh_votes import coefficients as greedy

SHARES = st.lists(
    st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 1.0)), min_size=1, max_size=7
).filter(lambda pairs: sum(map(sum, pairs)) > 0.1)


def energy(c, right, wrong):
    """Eq. (4): sum of right exp(-c) + wrong exp(c)."""
    return float((right * np.exp(-c) + wrong * np.exp(c)).sum())


def shares(pairs):
    """Right and wrong shares of entries that vote the better way; they sum to one."""
    both = np.sort(np.array(pairs), axis=1) / np.sum(pairs)
    return both[:, 1], both[:, 0]


def least_energy(right, wrong):
    """2 sqrt(P N): the energy of one alpha for all, minimised."""
    return 2 * np.sqrt(right.sum() * wrong.sum())


@pytest.mark.parametrize("seed", range(5))
def test_alpha_minimises_the_energy(seed):
    right, wrong = shares(np.random.default_rng(seed).uniform(0.1, 1, size=(4, 2)))
    found = binary(right, wrong, 0.0)
    best = minimize_scalar(lambda a: energy(np.full(4, a), right, wrong), bounds=(0, 10))
    assert found.alpha == pytest.approx(best.x, abs=1e-5)
    assert energy(found.of_entry, right, wrong) == pytest.approx(least_energy(right, wrong))
    gamma = right.sum() - wrong.sum()
    assert found.edge == pytest.approx(gamma)
    assert found.alpha == pytest.approx(0.5 * np.log((1 + gamma) / (1 - gamma)))  # eq. (11)
    assert energy(found.of_entry, right, wrong) == pytest.approx(np.sqrt(1 - gamma**2))


@settings(max_examples=150, deadline=None)
@given(pairs=SHARES)
def test_ternary_votes_are_the_best_of_all_subsets(pairs):
    right, wrong = shares(pairs)
    found = ternary(right, wrong, 1e-12)
    votes = found.of_entry != 0
    abstained = (right + wrong)[~votes].sum()
    achieved = least_energy(right[votes], wrong[votes]) + abstained
    best = min(
        least_energy(right[chosen], wrong[chosen]) + (right + wrong)[~chosen].sum()
        for bits in product([False, True], repeat=len(right))
        if (chosen := np.array(bits)).any()
    )
    assert achieved <= best + 1e-12


@settings(max_examples=100, deadline=None)
@given(pairs=SHARES)
def test_freer_votes_have_no_more_energy(pairs):
    """Without smoothing, which spoils the optima a little."""
    right, wrong = (np.maximum(side, 1e-3) for side in shares(pairs))
    z = {kind: energy(of(right, wrong, 0.0).of_entry, right, wrong) for kind, of in KINDS.items()}
    assert z["real"] <= z["ternary"] + 1e-12
    assert z["ternary"] <= z["binary"] + 1e-12
    alpha, v = greedy(right, wrong, "ternary", 0.0)
    assert z["ternary"] <= energy(alpha * v, right, wrong) + 1e-12


def test_greedy_abstention_is_beaten_somewhere():
    """Else the order of the ratios would be needless."""
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(300):
        right, wrong = shares(rng.uniform(size=(6, 2)))
        alpha, v = greedy(right, wrong, "ternary", 0.0)
        best = energy(ternary(right, wrong, 0.0).of_entry, right, wrong)
        gains.append(energy(alpha * v, right, wrong) - best)
    assert min(gains) > -1e-12
    assert max(gains) > 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_real_votes_minimise_the_energy_entry_by_entry(seed):
    right, wrong = shares(np.random.default_rng(seed).uniform(0.1, 1, size=(5, 2)))
    found = real(right, wrong, 0.0)
    assert found.alpha == 1.0
    assert energy(found.of_entry, right, wrong) == pytest.approx(2 * np.sqrt(right * wrong).sum())
    assert found.edge == pytest.approx((right - wrong).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_wrong_gives_finite_coefficients(kind):
    right, wrong = np.array([0.75, 0.25]), np.zeros(2)
    found = KINDS[kind](right, wrong, 1e-6)
    assert np.isfinite(found.of_entry).all()
    assert (found.of_entry > 5).all()
    assert found.edge == 1.0


def test_coefficients_of_an_edge():
    assert binary_of_edge(0.5, 0.0).alpha == pytest.approx(0.5 * np.log(3))
    assert binary_of_edge(1.0, 1e-6).alpha == pytest.approx(0.5 * np.log(1e6), abs=1e-6)
    assert binary_of_edge(1.0 + 1e-15, 1e-6).edge == pytest.approx(1.0)


def test_votes_that_cancel_vote_against():
    """As eq. (12) has it: +1 only where more is right than wrong; rounding does not decide."""
    mass = np.array([1.0, 1.0, 1.0, 1.0])
    edges = np.array([0.0, 1e-16, -1e-16, 1e-6])
    assert signs_of(edges, mass).tolist() == [-1.0, -1.0, -1.0, 1.0]
