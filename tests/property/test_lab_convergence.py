"""What must hold for the votes, masses and bounds of any weighting."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from stump_mh import StumpMH
from support import table

from edgewise.lab import convergence as lab

examples = settings(max_examples=60, deadline=None)
SIZES = st.tuples(st.integers(1, 12), st.integers(2, 7))  # rows, classes
SIGNS = st.sampled_from([-1.0, 1.0])


def weights(shape):
    """Whole numbers, many of them zero or equal, or anything between."""
    whole = arrays(np.float64, shape, elements=st.integers(0, 4).map(float))
    return whole | arrays(np.float64, shape, elements=st.floats(0, 1, allow_subnormal=False))


@st.composite
def weightings(draw, *, any_labels, sizes=SIZES):
    """W, Y: weights and labels, one per row or any."""
    n, K = draw(sizes)
    W = draw(weights((n, K)))
    assume(W.sum() > 1e-6)
    if any_labels:
        return W, draw(arrays(np.float64, (n, K), elements=SIGNS))
    return W, lab.one_hot(draw(arrays(np.int64, n, elements=st.integers(0, K - 1))), K)


BOTH = weightings(any_labels=False) | weightings(any_labels=True)


@examples
@given(weightings(any_labels=False))
def test_best_votes_for_one_label_have_the_sharp_mass(problem):
    W, Y = problem
    n, K = Y.shape
    n_occurring = len(set(Y.argmax(axis=1).tolist()))
    mass = lab.best_votes(W, Y).mass
    assert mass >= lab.sharp_constant(K) - 1e-12
    assert mass >= lab.sharp_constant(K, n_occurring) - 1e-12
    assert lab.sharp_constant(K, n_occurring) >= lab.sharp_constant(K, n)


@examples
@given(BOTH)
def test_best_votes_for_any_labels_have_the_elementary_mass(problem):
    W, Y = problem
    assert lab.best_votes(W, Y).mass >= lab.elementary_bound(Y.shape[1]) - 1e-12


@examples
@given(weightings(any_labels=True))
def test_best_votes_have_the_mass_for_their_numbers_of_labels(problem):
    W, Y = problem
    numbers = set((Y > 0).sum(axis=1).tolist())
    bound = lab.mass_bound(Y.shape[1], numbers)
    assert lab.best_votes(W, Y).mass >= bound - 1e-9
    assert bound >= lab.elementary_bound(Y.shape[1]) - 1e-9


@examples
@given(BOTH)
def test_best_votes_are_the_best_of_all(problem):
    W, Y = problem
    every_vote = np.array(list(product([-1.0, 1.0], repeat=Y.shape[1])))
    largest = np.abs(every_vote @ (W / W.sum() * Y).T).sum(axis=1).max()
    best = lab.best_votes(W, Y)
    assert best.mass == pytest.approx(largest, abs=1e-13)
    assert lab.vote_mass(W, Y, best.votes) == pytest.approx(best.mass, abs=1e-15)
    bracket = lab.best_votes(W, Y, method="bracket", n_starts=4)
    assert bracket.mass <= largest + 1e-13
    assert bracket.upper >= largest - 1e-13


@examples
@given(BOTH, st.randoms(use_true_random=False))
def test_average_mass_of_all_votes_is_elementary_at_least(problem, random):
    W, Y = problem
    K = Y.shape[1]
    masses = [lab.vote_mass(W, Y, v) for v in product([-1, 1], repeat=K)]
    assert np.mean(masses) >= lab.elementary_bound(K) - 1e-12
    assert max(masses) == pytest.approx(lab.best_votes(W, Y).mass, abs=1e-13)
    signs = np.array([random.choice([-1.0, 1.0]) for _ in range(K)])
    turned = lab.best_votes(W, Y * signs)  # columns of Y turned over, and rows: nothing changes
    assert turned.mass == pytest.approx(max(masses), abs=1e-13)


@examples
@given(BOTH, st.data())
def test_edge_is_at_most_the_vote_mass_and_attained(problem, data):
    W, Y = problem
    v = data.draw(arrays(np.float64, Y.shape[1], elements=SIGNS))
    phi = data.draw(arrays(np.float64, len(Y), elements=SIGNS))
    mass, pseudo = lab.vote_mass(W, Y, v), lab.pseudo_problem(W, Y, v)
    assert abs(lab.edges(W, Y, v, phi).sum()) <= mass + 1e-13
    assert lab.edges(W, Y, v, pseudo.labels).sum() == pytest.approx(mass, abs=1e-13)
    assert lab.edges(W, Y, v, phi).sum() == pytest.approx(
        (pseudo.weights * pseudo.labels * phi).sum(), abs=1e-13
    )


@settings(max_examples=30, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 4)), elements=SIGNS))
def test_no_weighting_beats_the_worst(Y):
    """The linear program is bounded from both sides: its weighting, and its mixed votes."""
    worst = lab.worst_weighting(Y)
    assert worst.mass == pytest.approx(worst.lower, abs=1e-12)
    assert worst.mass == pytest.approx(lab.best_votes(worst.weights, Y).mass, abs=1e-13)
    rng = np.random.default_rng(0)
    for W in rng.dirichlet(np.full(Y.size, 0.5), size=20).reshape(20, *Y.shape):
        average = sum(
            q * lab.vote_mass(W, Y, v)
            for q, v in zip(worst.probabilities, worst.votes, strict=True)
        )
        assert average >= worst.lower - 1e-12


@examples
@given(
    n=st.integers(1, 10**6), K=st.integers(2, 100), delta=st.floats(1e-3, 1.0),
    error=st.sampled_from(["hamming", "argmax"]),
    initial_weights=st.sampled_from(["balanced", "uniform"]),
)  # fmt: skip
def test_versions_of_the_rounds_bound_are_ordered(n, K, delta, error, initial_weights):
    edge, sharp, elementary, khintchine = (
        lab.rounds_bound(n, K, delta, version=v, error=error, initial_weights=initial_weights)
        for v in ("edge", "sharp", "elementary", "khintchine")
    )
    assert edge <= sharp <= min(elementary, khintchine)
    assert sharp <= 9 * edge
    if n >= np.sqrt(2 * K):
        assert elementary <= khintchine


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(2, 6),
    initial_weights=st.sampled_from(["balanced", "uniform"]),
    many=st.booleans(),
)
def test_certificates_of_boosted_stumps_hold(seed, K, initial_weights, many):
    X, y = table(seed, n=30, K=K)
    if many:
        also = np.random.default_rng(seed).random((30, K)) < 0.3
        y = ((np.arange(K) == y[:, None]) | also).astype(int)
    model = StumpMH(n_estimators=4, initial_weights=initial_weights).fit(X, y)
    found = lab.certificate(model, X, y)
    assert found.checks == dict.fromkeys(found.checks, True)
    assert max(found.discrepancy.values()) < 1e-12
