"""What must hold for AdaBoost's walk, its cycles and its margins on any matrix."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from edgewise.lab import dynamics
from edgewise.reference import dynamics as reference

some = settings(max_examples=60, deadline=None)
SEEDS = st.integers(0, 2**31 - 1)


@st.composite
def matrices(draw, max_rows=12, max_columns=12):
    """Random signs; no column is right on all examples, or on none."""
    m, n = draw(st.integers(2, max_rows)), draw(st.integers(1, max_columns))
    rng = np.random.default_rng(draw(SEEDS))
    M = np.where(rng.random((m, n)) < draw(st.sampled_from([0.2, 0.4, 0.5])), -1, 1)
    for j in range(n):
        right, wrong = rng.permutation(m)[:2]
        M[right, j], M[wrong, j] = 1, -1
    return M


@st.composite
def walks(draw, **limits):
    """A matrix and a start, one of its weights zero now and then."""
    M = draw(matrices(**limits))
    d = np.random.default_rng(draw(SEEDS)).dirichlet(np.ones(len(M)))
    if len(M) > 2 and draw(st.booleans()):
        d[0] = 0.0
    return M, d / d.sum()


@some
@given(M=matrices(max_rows=20, max_columns=20))
def test_duality(M):
    """Smallest margin of the votes = largest edge under the weights, and no vector does better."""
    best = dynamics.max_margin(M)
    assert 0 <= best.gap + 1e-15 < 1e-9
    assert (M @ best.votes).min() >= best.value - 1e-9
    assert (best.weights @ M).max() <= best.value + 1e-9
    rng = np.random.default_rng(0)
    for _ in range(5):
        votes, weights = (rng.dirichlet(np.ones(size)) for size in M.T.shape)
        assert dynamics.margins(M, votes).min() <= best.value + 1e-12
        assert (weights @ M).max() >= best.value - 1e-12


@some
@given(walk=walks())
def test_the_laws_of_a_step(walk):
    """Weights on the simplex; an edge of 0 for the column just taken; edges of at least rho."""
    M, d0 = walk
    orbit = dynamics.iterate(M, d0, n_steps=300)
    weights = np.vstack([orbit.weights, orbit.final_weights])
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-13)
    assert ((weights > 0) == (d0 > 0)).all()
    assert ((orbit.edges > 0) & (orbit.edges <= 1)).all()
    for j, after in zip(orbit.choices, weights[1:], strict=True):
        assert abs(after @ M[:, j]) < 1e-13
    if (d0 > 0).all() and len(orbit.edges):
        assert orbit.edges.min() >= dynamics.max_margin(M).value - 1e-9


def on_the_brink(M, orbit):
    """Whether edges differ by about the tolerance of ties, so that rounding decides the choice."""
    edges = orbit.weights @ M
    behind = edges.max(axis=1, keepdims=True) - edges if edges.size else edges
    return (abs(behind - 1e-13) < 2e-14).any()


@some
@given(walk=walks(max_rows=8, max_columns=8))
def test_the_kernel_is_the_reference(walk):
    M, d0 = walk
    orbit = dynamics.iterate(M, d0, n_steps=25)
    expected = reference.adaboost_map(M, d0, orbit.n_steps)
    assume(not on_the_brink(M, orbit))
    np.testing.assert_array_equal(orbit.choices, expected.choices)
    np.testing.assert_allclose(orbit.weights, expected.weights, rtol=1e-6, atol=1e-12)


@some
@given(walk=walks())
def test_a_cycle_found_is_a_cycle(walk):
    M, d0 = walk
    cycle = dynamics.find_cycle(M, d0, max_steps=20_000)
    if not cycle:
        assert cycle.reason
        return
    again = dynamics.iterate(M, cycle.weights[0], n_steps=cycle.length)
    np.testing.assert_allclose(again.final_weights, cycle.weights[0], atol=1e-9)
    np.testing.assert_allclose(again.weights, cycle.weights, atol=1e-9)
    np.testing.assert_allclose(again.edges, cycle.edges, atol=1e-9)
    # The cycle condition; and an example that has lost its weight does not get it back.
    products = np.prod(1 + M[:, cycle.choices] * cycle.edges, axis=1)
    np.testing.assert_allclose(products[cycle.support], 1, atol=1e-9)
    assert cycle.residual < 1e-9
    # Support vectors share the smallest margin, which is at most the maximum.
    margins = dynamics.margins(M, cycle.votes)[cycle.support]
    np.testing.assert_allclose(margins, cycle.margin, atol=1e-9)
    assert cycle.margin <= dynamics.max_margin(M[d0 > 0]).value + 1e-9
    # As many eigenvalues are 1 as the manifold has dimensions, if it attracts.
    if cycle.is_stable:
        assert np.sum(abs(cycle.eigenvalues - 1) < 1e-6) == cycle.manifold_dimension
        assert np.sum(abs(cycle.eigenvalues) > 1 - 1e-6) == cycle.manifold_dimension


def test_edges_that_tend_to_0_are_no_cycle():
    """The first two columns contradict each other: edges of 1e-13 were taken for a cycle."""
    M = np.array([[-1, 1, 1], [1, -1, 1], [-1, 1, 1], [1, -1, -1]])
    d0 = np.array([0.0, 0.186, 0.074, 0.74])
    cycle = dynamics.find_cycle(M, d0 / d0.sum(), max_steps=20_000)
    assert not cycle
    assert "edges tend to 0" in cycle.reason


@some
@given(walk=walks(), seed=SEEDS)
def test_order_of_the_examples_does_not_matter(walk, seed):
    M, d0 = walk
    rows = np.random.default_rng(seed).permutation(len(M))
    orbit = dynamics.iterate(M, d0, n_steps=40)
    mixed = dynamics.iterate(M[rows], d0[rows], n_steps=40)
    assume(not on_the_brink(M, orbit))
    np.testing.assert_array_equal(mixed.choices, orbit.choices)
    np.testing.assert_allclose(mixed.weights, orbit.weights[:, rows], rtol=1e-6, atol=1e-12)


@some
@given(M=matrices(), rule=st.sampled_from(["optimal", "arc-gv", "ascent", "adaboost-star"]))
def test_margins_are_ordered(M, rule):
    """Smooth margin <= smallest margin <= maximum margin, within ln(m) / |lambda| of each other."""
    orbit = dynamics.iterate(M, n_steps=200, rule=rule)
    margins, smooth = orbit.margins(), orbit.smooth_margins()
    mass = np.cumsum(orbit.alphas)
    assert (smooth <= margins + 1e-12).all()
    assert (margins <= dynamics.max_margin(M).value + 1e-9).all()
    assert (margins - smooth <= np.log(len(M)) / mass + 1e-9).all()


@some
@given(M=matrices(max_rows=6, max_columns=6))
def test_exact_choices_are_those_of_the_walk(M):
    exact = dynamics.exact_choices(M, n_steps=12)
    double = dynamics.iterate(M, n_steps=12)
    # Without rounding a walk goes on where edges are smaller than the tolerance.
    np.testing.assert_array_equal(exact.choices[: double.n_steps], double.choices)
    if exact.stopped:
        assert double.stopped
        assert len(exact.choices) >= double.n_steps
