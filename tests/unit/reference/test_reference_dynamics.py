"""The reference of the dynamics: AdaBoost's steps are what they should be."""

import numpy as np
import pytest

from edgewise.reference import dynamics

RULES = {
    "arc-gv": dynamics.arc_gv,
    "ascent": dynamics.ascent,
    "adaboost-star": dynamics.adaboost_star(0.05),
}


def matrix(seed, m=7, n=9):
    """Random signs such that equal votes are right on every example."""
    M = np.where(np.random.default_rng(seed).random((m, n)) < 0.25, -1, 1)
    M[M.sum(axis=1) <= 0] = 1
    M[np.arange(n) % m, np.arange(n)] = -1
    return M


def exponential_loss(M, d, votes):
    return (d * np.exp(-(M @ votes))).sum()


def test_the_3x3_case():
    walk = dynamics.adaboost_map(1 - 2 * np.eye(3), np.full(3, 1 / 3), 60)
    np.testing.assert_allclose(walk.edges[-3:], (np.sqrt(5) - 1) / 2, atol=1e-14)
    np.testing.assert_array_equal(walk.choices[:6], [0, 1, 2, 0, 1, 2])


def test_the_vote_minimises_the_exponential_loss(seed):
    """Along the chosen column the derivative by the vote is zero, by finite differences."""
    M, d = matrix(seed), np.random.default_rng(seed).dirichlet(np.ones(7))
    walk = dynamics.adaboost_map(M, d, 12)
    votes, h = np.zeros(9), 1e-6
    for j, alpha in zip(walk.choices, walk.alphas, strict=True):
        unit = np.eye(9)[j]
        best = votes + alpha * unit
        up, down = (exponential_loss(M, d, best + sign * h * unit) for sign in (1, -1))
        assert (up - down) / (2 * h) == pytest.approx(0, abs=1e-8)
        steepest = [
            exponential_loss(M, d, votes + h * e) - exponential_loss(M, d, votes - h * e)
            for e in np.eye(9)
        ]
        assert steepest[j] == pytest.approx(min(steepest), abs=1e-12)
        votes = best


def test_the_map_is_adaboost_by_votes(seed):
    """With the target 0 the walk by votes is the map."""
    M, d = matrix(seed), np.random.default_rng(seed).dirichlet(np.ones(7))
    by_map = dynamics.adaboost_map(M, d, 20)
    by_votes = dynamics.coordinate_walk(M, d, 20, lambda *_: 0.0)
    np.testing.assert_array_equal(by_votes.choices, by_map.choices)
    np.testing.assert_allclose(by_votes.weights, by_map.weights, rtol=1e-9)
    np.testing.assert_allclose(by_votes.votes, by_map.votes, rtol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_shorter_votes_reach_a_larger_margin(rule):
    M = matrix(3)
    d = np.full(7, 1 / 7)
    margins = [
        (M @ walk.votes).min() / walk.votes.sum()
        for walk in (
            dynamics.adaboost_map(M, d, 3000),
            dynamics.coordinate_walk(M, d, 3000, RULES[rule]),
        )
    ]
    assert margins[1] > 0
    assert margins[1] >= margins[0] - 0.01


def test_ascent_raises_the_smooth_margin():
    M, d = matrix(1), np.full(7, 1 / 7)
    votes, last = np.zeros(9), -np.inf
    walk = dynamics.coordinate_walk(M, d, 200, dynamics.ascent)
    for j, alpha in zip(walk.choices, walk.alphas, strict=True):
        votes[j] += alpha
        smooth = -np.log(np.exp(-(M @ votes)).sum()) / votes.sum()
        assert smooth > last - 1e-12 or last < 0
        last = smooth
