"""edgewise.lab.convergence: every quantity against loops, every constant against enumeration."""

import doctest
import math
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from edgewise import InvalidDataError, InvalidParameterError
from edgewise._families.best_votes import promised_share
from edgewise.lab import convergence as lab


def random_problem(seed, n=7, K=4, *, any_labels=False):
    """W (n, K), Y (n, K), votes v (K,) and outputs phi (n,)."""
    rng = np.random.default_rng(seed)
    Y = np.where(np.arange(K) == rng.integers(K, size=n)[:, None], 1.0, -1.0)
    if any_labels:
        Y = rng.choice([-1.0, 1.0], size=(n, K))
    W = rng.dirichlet(np.ones(n * K)).reshape(n, K)
    return W, Y, rng.choice([-1.0, 1.0], size=K), rng.choice([-1.0, 1.0], size=n)


def brute_force_mass(W, Y):
    """The largest mass over all 2^K votes, by loops."""
    return max(
        sum(
            abs(sum(w * y * s for w, y, s in zip(ws, ys, v, strict=True)))
            for ws, ys in zip(W, Y, strict=True)
        )
        for v in product([-1, 1], repeat=Y.shape[1])
    )


# --- the quantities of the paper --------------------------------------------------------------


def test_edges_are_the_sums_of_equation_9(seed):
    W, Y, v, phi = random_problem(seed)
    expected = [sum(W[i, k] * v[k] * phi[i] * Y[i, k] for i in range(7)) for k in range(4)]
    np.testing.assert_allclose(lab.edges(W, Y, v, phi), expected, atol=1e-15)
    wrong = [sum(W[i, k] for i in range(7) if phi[i] != Y[i, k]) for k in range(4)]  # eq. 7
    right = [sum(W[i, k] for i in range(7) if phi[i] == Y[i, k]) for k in range(4)]  # eq. 8
    np.testing.assert_allclose(lab.edges(W, Y, v, phi), v * (np.subtract(right, wrong)), atol=1e-15)


def test_weights_count_by_their_ratios():
    W, Y, v, phi = random_problem(0)
    np.testing.assert_allclose(lab.edges(1e300 * W, Y, v, phi), lab.edges(W, Y, v, phi))
    assert lab.vote_mass(3 * W, Y, v) == pytest.approx(lab.vote_mass(W, Y, v))


def test_energy_is_equation_6(seed):
    W, Y, v, phi = random_problem(seed)
    gamma = lab.edges(W, Y, v, phi).sum()
    for alpha in (-0.3, 0.0, 0.7):
        expected = np.cosh(alpha) - np.sinh(alpha) * gamma
        assert lab.energy(W, Y, v, phi, alpha) == pytest.approx(expected, abs=1e-14)


def test_best_alpha_and_its_energy(seed):
    W, Y, v, phi = random_problem(seed)
    gamma = lab.edges(W, Y, v, phi).sum()
    alpha = lab.best_alpha(W, Y, v, phi)
    assert alpha == pytest.approx(0.5 * np.log((1 + gamma) / (1 - gamma)), abs=1e-14)  # eq. 11
    assert lab.energy(W, Y, v, phi) == pytest.approx(math.sqrt(1 - gamma**2), abs=1e-14)
    assert lab.energy(W, Y, v, phi, alpha) == pytest.approx(lab.energy(W, Y, v, phi), abs=1e-14)


def test_best_alpha_of_abstaining_votes_is_least(seed):
    W, Y, v, phi = random_problem(seed)
    v[1] = 0.0
    alpha, least = lab.best_alpha(W, Y, v, phi), lab.energy(W, Y, v, phi)
    assert lab.energy(W, Y, v, phi, alpha) == pytest.approx(least, abs=1e-14)
    for other in alpha + np.array([-0.5, -0.01, 0.01, 0.5]):
        assert lab.energy(W, Y, v, phi, float(other)) > least


def test_perfect_and_absent_votes():
    Y = lab.one_hot([0, 1], 2)
    W = np.full((2, 2), 0.25)
    assert lab.best_alpha(W, Y, [1, -1], [1, -1]) == np.inf
    assert lab.energy(W, Y, [1, -1], [1, -1]) == 0.0
    assert lab.best_alpha(W, Y, [0, 0], [1, -1]) == 0.0
    assert lab.energy(W, Y, [0, 0], [1, -1]) == 1.0


def test_pseudo_problem_has_the_same_edge(seed):
    W, Y, v, phi = random_problem(seed)
    y, w = lab.pseudo_problem(W, Y, v)
    assert (w * phi * y).sum() == pytest.approx(lab.edges(W, Y, v, phi).sum(), abs=1e-15)
    plus = [sum(W[i, k] for k in range(4) if v[k] * Y[i, k] == 1) for i in range(7)]
    minus = [sum(W[i, k] for k in range(4) if v[k] * Y[i, k] == -1) for i in range(7)]
    np.testing.assert_allclose(w, np.abs(np.subtract(plus, minus)), atol=1e-15)
    np.testing.assert_array_equal(y, np.sign(np.subtract(plus, minus)))
    assert lab.vote_mass(W, Y, v) == pytest.approx(w.sum(), abs=1e-15)


def test_two_classes_keep_all_mass_only_with_opposite_votes():
    """Equality in eq. 14 needs v_1 = -v_2; with equal votes all can be lost."""
    Y, W = lab.one_hot([0, 1, 1], 2), np.full((3, 2), 1 / 6)
    assert lab.vote_mass(W, Y, [1, -1]) == pytest.approx(1.0)
    assert lab.vote_mass(W, Y, [1, 1]) == 0.0


# --- labels and first weights -----------------------------------------------------------------


def test_label_matrix():
    expected = [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    np.testing.assert_array_equal(lab.label_matrix(["a", "c", "b"]), expected)
    np.testing.assert_array_equal(lab.label_matrix(["a"], ["a", "b"]), [[1, -1]])
    indicator = np.array([[1, 0, 1], [0, 0, 0]])
    for y in (indicator, indicator.tolist(), sparse.csr_array(indicator), indicator.astype(bool)):
        np.testing.assert_array_equal(lab.label_matrix(y), [[1, -1, 1], [-1, -1, -1]])
    np.testing.assert_array_equal(lab.one_hot([0, 2, 1], 3), expected)


def test_sign_patterns_are_all_up_to_the_sign():
    patterns = lab.sign_patterns(4)
    both = {tuple(row) for row in np.concatenate([patterns, -patterns])}
    assert both == set(product([-1.0, 1.0], repeat=4))


def test_initial_weights_of_one_label_are_equation_2():
    W = lab.initial_weights(lab.one_hot([0, 2], 3))
    np.testing.assert_allclose(W, [[1 / 4, 1 / 8, 1 / 8], [1 / 8, 1 / 8, 1 / 4]])


def test_initial_weights_of_many_labels_and_rows_of_unequal_weight():
    Y = np.array([[1, 1, -1], [-1, -1, -1], [1, 1, 1]])
    W = lab.initial_weights(Y, sample_weight=[1, 2, 1])
    np.testing.assert_allclose(W, [[1 / 16, 1 / 16, 1 / 8], [1 / 6] * 3, [1 / 12] * 3])
    uniform = lab.initial_weights(Y, "uniform", [1, 2, 1])
    np.testing.assert_allclose(uniform, [[1 / 12] * 3, [1 / 6] * 3, [1 / 12] * 3])


# --- best votes -------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [1, 2, 3, 6, 9, 10, 11])
def test_exact_votes_are_the_best_of_all(n_classes):
    W, Y, *_ = random_problem(n_classes, n=3, K=n_classes, any_labels=True)
    best = lab.best_votes(W, Y)
    assert best.mass == pytest.approx(brute_force_mass(W, Y), abs=1e-14)
    assert best.mass == pytest.approx(lab.vote_mass(W, Y, best.votes), abs=1e-15)
    assert best.upper == best.mass
    assert best.exact
    assert best.votes[0] == 1


def test_exact_votes_of_more_rows_than_fit_into_a_block():
    W, Y, *_ = random_problem(0, n=9000, K=5)
    every_vote = np.array(list(product([-1, 1], repeat=5)))
    expected = np.abs(every_vote @ (W * Y).T).sum(axis=1).max()
    assert lab.best_votes(W, Y).mass == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("any_labels", [False, True])
@pytest.mark.parametrize("n_classes", [1, 2, 5, 12])
def test_bracket_holds_the_best_mass(n_classes, any_labels, seed):
    W, Y, *_ = random_problem(seed, n=60, K=n_classes, any_labels=any_labels)
    exact, bracket = (lab.best_votes(W, Y, method=m) for m in ("exact", "bracket"))
    assert bracket.mass == pytest.approx(lab.vote_mass(W, Y, bracket.votes), abs=1e-15)
    assert bracket.mass <= exact.mass + 1e-14
    assert exact.mass <= bracket.upper + 1e-14
    assert bracket.mass >= 0.99 * exact.mass
    krivine = math.pi / (2 * math.log(1 + math.sqrt(2)))  # no relaxation is further off
    assert bracket.upper <= krivine * exact.mass


def nearly_worst(rng, K):
    """Weights near the worst ones for a row per class, where no votes have more than C_K."""
    p = (K - 2) / (3 * K - 4) if K % 2 == 0 else (K - 1) / (3 * K - 1)
    W = np.full((K, K), (1 - p) / (K * (K - 1)))
    np.fill_diagonal(W, p / K)
    return W * np.exp(10 ** rng.uniform(-3, 0) * rng.normal(size=(K, K)))


def test_bracketed_votes_have_the_promised_mass():
    """However few starts: votes are drawn until they do."""
    rng = np.random.default_rng(0)
    for seed in range(600):
        K = int(rng.integers(4, 8))
        W, Y = nearly_worst(rng, K), lab.one_hot(np.arange(K), K)
        found = lab.best_votes(W, Y, method="bracket", n_starts=1, random_state=seed)
        assert found.mass >= lab.sharp_constant(K) * (1 - 1e-12)
        assert found.mass == pytest.approx(lab.vote_mass(W, Y, found.votes))


def test_promised_mass_of_rows_without_a_label():
    """They are not rows with one label: for even K the best votes may keep less than C_K."""
    W, Y = np.ones((1, 4)), -np.ones((1, 4))
    assert promised_share(W * Y) == lab.elementary_bound(4)
    one = lab.one_hot([0, 1], 4)
    assert promised_share(one) == promised_share(-one) == lab.sharp_constant(4)


def test_more_than_twenty_classes_are_bracketed():
    W, Y, *_ = random_problem(0, n=50, K=30)
    best = lab.best_votes(W, Y)
    assert best.mass <= best.upper <= best.mass * 1.001
    assert best.mass >= lab.sharp_constant(30)


def test_bracket_is_sharp_on_the_worst_weighting():
    W, Y = symmetric_worst(32)
    best = lab.best_votes(W, Y, method="bracket")
    assert best.mass == pytest.approx(lab.sharp_constant(32), abs=1e-12)
    assert best.upper == pytest.approx(lab.sharp_constant(32), rel=1e-5)


def test_bracket_where_classes_and_rows_have_no_weight():
    W, Y, *_ = random_problem(0, n=20, K=6)
    W[:, [0, 3]], W[4] = 0.0, 0.0
    exact, bracket = (lab.best_votes(W, Y, method=m) for m in ("exact", "bracket"))
    assert bracket.mass == pytest.approx(exact.mass)
    assert bracket.votes[0] == 1


def test_bracket_is_reproducible():
    W, Y, *_ = random_problem(0, n=100, K=25, any_labels=True)
    here, there = (lab.best_votes(W, Y, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(here.votes, there.votes)
    assert (here.mass, here.upper) == (there.mass, there.upper)


# --- constants --------------------------------------------------------------------------------


def symmetric_worst(K):
    """The worst weighting of one row of each of K classes, as in the proof: (W, Y)."""
    own = Fraction(K - 2, 3 * K - 4) if K % 2 == 0 else Fraction(K - 1, 3 * K - 1)
    W = np.full((K, K), float((1 - own) / (K * (K - 1))))
    np.fill_diagonal(W, float(own / K))
    return W, lab.one_hot(np.arange(K), K)


def test_sharp_constants():
    expected = [1, 1, 1 / 2, 1 / 2, 3 / 7, 3 / 7, 2 / 5, 2 / 5]
    assert [lab.sharp_constant(K) for K in range(1, 9)] == pytest.approx(expected)
    constants = [lab.sharp_constant(K) for K in range(1, 2000)]
    assert constants == sorted(constants, reverse=True)
    assert 1 / 3 < constants[-1] < 0.3336


@pytest.mark.parametrize("n_classes", range(2, 13))
def test_sharp_constant_is_attained_by_the_symmetric_weighting(n_classes):
    W, Y = symmetric_worst(n_classes)
    assert W.sum() == pytest.approx(1.0)
    assert lab.best_votes(W, Y).mass == pytest.approx(lab.sharp_constant(n_classes), abs=1e-14)


@pytest.mark.parametrize("n", [2, 4, 6, 8, 10])
def test_sharp_constant_is_attained_by_an_even_number_of_rows_and_one_more_class(n):
    b = 2 / (n * (3 * n + 2))
    W = np.full((n, n + 1), b)
    W[:, n] = 2 * b
    W[np.arange(n), np.arange(n)] = n * b / 2
    assert W.sum() == pytest.approx(1.0)
    best = lab.best_votes(W, lab.one_hot(np.arange(n), n + 1))
    assert best.mass == pytest.approx(lab.sharp_constant(n + 1, n), abs=1e-14)


@pytest.mark.parametrize("n_classes", range(2, 9))
def test_sharp_constant_by_random_votes(n_classes, seed):
    """Votes drawn as in the proof have the mass C_K on average, for any row with one label."""
    K, half = n_classes, n_classes // 2
    probability = (K - 2) / (3 * K - 4) if K % 2 == 0 else (K - 1) / (3 * K - 1)
    split = [np.isin(np.arange(K), plus) * 2.0 - 1 for plus in combinations(range(K), half)]
    rows = np.random.default_rng(seed).dirichlet(np.full(K, 0.5), size=200)
    rows[:, 1:] *= -1
    equal, drawn = np.abs(rows.sum(axis=1)), np.abs(rows @ np.array(split).T).mean(axis=1)
    average = probability * equal + (1 - probability) * drawn
    assert (average >= lab.sharp_constant(K) - 1e-14).all()


def test_elementary_bound_is_the_average_of_random_votes():
    for K in range(1, 13):
        votes = np.array(list(product([-1, 1], repeat=K)))
        assert lab.elementary_bound(K) == np.abs(votes.sum(axis=1)).mean() / K


def test_elementary_bound_is_at_least_one_over_the_root_of_2K():
    for K in (*range(1, 300), 10_001):
        binomial = Fraction(math.comb(K - 1, (K - 1) // 2), 2 ** (K - 1))
        assert lab.elementary_bound(K) == float(binomial)
        assert 2 * K * binomial**2 >= 1


@pytest.mark.parametrize("n_classes", range(1, 11))
def test_elementary_bound_is_attained_by_all_sign_patterns(n_classes):
    Y = lab.sign_patterns(n_classes)
    best = lab.best_votes(np.ones_like(Y), Y)
    assert best.mass == pytest.approx(lab.elementary_bound(n_classes), abs=1e-14)


def test_average_mass_of_a_row_is_least_where_all_weights_are_equal(seed):
    rows = np.random.default_rng(seed).dirichlet(np.full(7, 0.5), size=100)
    votes = np.array(list(product([-1, 1], repeat=7)))
    average = np.abs(rows @ votes.T).mean(axis=1)
    assert (average >= lab.elementary_bound(7)).all()


# --- linear programs --------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", range(2, 8))
def test_worst_weighting_of_one_label_has_the_mass_C_K(n_classes):
    Y = lab.one_hot(np.arange(n_classes), n_classes)
    worst = lab.worst_weighting(Y)
    assert worst.lower == pytest.approx(lab.sharp_constant(n_classes), abs=1e-12)
    assert worst.mass == pytest.approx(lab.sharp_constant(n_classes), abs=1e-12)
    assert worst.mass == pytest.approx(lab.best_votes(worst.weights, Y).mass, abs=1e-14)


@pytest.mark.parametrize("n_classes", range(2, 7))
def test_worst_weighting_of_fewer_rows_than_classes(n_classes):
    for n in range(1, n_classes):
        worst = lab.worst_weighting(lab.one_hot(np.arange(n), n_classes))
        assert worst.mass == pytest.approx(lab.sharp_constant(n_classes, n), abs=1e-12)
        assert lab.sharp_constant(n_classes, n) >= 1 / n


def test_more_rows_than_classes_are_no_worse():
    worst = lab.worst_weighting(lab.one_hot([0, 1, 2, 3, 0, 1, 2, 3, 1], 4))
    assert worst.mass == pytest.approx(lab.sharp_constant(4), abs=1e-12)


@pytest.mark.parametrize("n_classes", range(1, 7))
def test_worst_weighting_of_any_labels_has_the_elementary_mass(n_classes):
    worst = lab.worst_weighting(lab.sign_patterns(n_classes))
    assert worst.mass == pytest.approx(lab.elementary_bound(n_classes), abs=1e-12)


def test_mixed_votes_prove_the_bound(seed):
    """On average they have at least the mass `lower`, whatever the weighting."""
    _, Y, *_ = random_problem(seed, n=6, K=4, any_labels=True)
    worst = lab.worst_weighting(Y)
    assert worst.probabilities.sum() == pytest.approx(1.0)
    for W in np.random.default_rng(seed).dirichlet(np.full(24, 0.3), size=50):
        masses = [lab.vote_mass(W.reshape(6, 4), Y, v) for v in worst.votes]
        assert worst.probabilities @ masses >= worst.lower - 1e-12


@pytest.mark.parametrize("labels", [{1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}])
def test_mass_bound_by_the_number_of_labels_is_that_of_all_such_rows(labels):
    both = np.concatenate([lab.sign_patterns(5), -lab.sign_patterns(5)])
    Y = both[np.isin((both > 0).sum(axis=1), list(labels))]
    assert lab.mass_bound(5, labels) == pytest.approx(lab.worst_weighting(Y).mass, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 8, 15])
def test_mass_bound_of_all_numbers_of_labels_is_elementary(n_classes):
    found = lab.mass_bound(n_classes, range(n_classes + 1))
    assert found == pytest.approx(lab.elementary_bound(n_classes), abs=1e-9)


def test_mass_bound_by_name():
    assert lab.mass_bound(7, "one_hot") == lab.mass_bound(7, [6]) == lab.sharp_constant(7)
    assert lab.mass_bound(7) == lab.elementary_bound(7)
    assert lab.mass_bound(41, [1, 2]) == lab.elementary_bound(41)
    assert lab.elementary_bound(40) < lab.mass_bound(40, [1, 2]) < lab.sharp_constant(40)


# --- rounds -----------------------------------------------------------------------------------


def test_rounds_bound_by_hand():
    """n = 100, K = 5, delta = 0.2: log 800 = 6.6846, log 200 = 5.2983, C_5 = 3/7, e_5 = 3/8."""
    bound = lab.rounds_bound
    assert bound(100, 5, 0.2, version="edge") == math.ceil(50 * 6.684611727668) + 1 == 336
    assert bound(100, 5, 0.2, version="edge", error="argmax") == 266
    assert bound(100, 5, 0.2) == math.ceil(50 * 6.684611727668 * 49 / 9) + 1 == 1821
    assert bound(100, 5, 0.2, version="elementary") == math.ceil(334.2305863834 * 64 / 9) + 1
    assert bound(100, 5, 0.2, version="khintchine") == math.ceil(334.2305863834 * 10) + 1
    assert bound(3, 50, 0.2, version="khintchine") == math.ceil(50 * math.log(294) * 9) + 1
    uniform = bound(100, 5, 0.2, version="edge", initial_weights="uniform")
    assert uniform == math.ceil(50 * math.log(500)) + 1
    argmax = bound(100, 5, 0.2, version="edge", initial_weights="uniform", error="argmax")
    assert argmax == math.ceil(50 * math.log(250)) + 1


@pytest.mark.parametrize("initial_weights", ["balanced", "uniform"])
@pytest.mark.parametrize("error", ["hamming", "argmax"])
def test_no_risk_below_the_bound_leaves_an_error(initial_weights, error, seed):
    """The least exponential risk of scores with one error is above what T* rounds leave."""
    n, K, delta = 6, 5, 0.3
    rng = np.random.default_rng(seed)
    Y = lab.one_hot(rng.integers(K, size=n), K)
    W = lab.initial_weights(Y, initial_weights)
    rounds = lab.rounds_bound(
        n, K, delta, version="edge", error=error, initial_weights=initial_weights
    )
    risk_after = (1 - delta**2) ** (rounds / 2)
    least = np.inf
    for _ in range(200):
        f = 30 * Y  # right beyond doubt, except for one row
        if error == "hamming":
            i, k = rng.integers(n), rng.integers(K)
            f[i, k] = -Y[i, k] * rng.exponential(0.01)
        else:
            i = rng.integers(n)
            own, other = int(Y[i].argmax()), int((Y[i].argmax() + rng.integers(1, K)) % K)
            f[i, own] = rng.uniform(-2, 2)
            f[i, other] = f[i, own] + rng.exponential(0.01)
        least = min(least, float((W * np.exp(-f * Y)).sum()))
    assert risk_after < least


# --- bad input --------------------------------------------------------------------------------

GOOD_W, GOOD_Y = np.full((2, 3), 1 / 6), lab.one_hot([0, 1], 3)

BAD = {
    "other labels": (
        lambda: lab.vote_mass(GOOD_W, [[0, 1, -1]] * 2, [1, 1, 1]),
        ["Y", "-1 and +1", "0"],
    ),
    "labels of one dimension": (lambda: lab.vote_mass([1.0], [1.0], [1]), ["Y", "(1,)"]),
    "no rows": (lambda: lab.best_votes(np.ones((0, 3)), np.ones((0, 3))), ["Y", "(0, 3)"]),
    "shapes": (lambda: lab.best_votes(GOOD_W.T, GOOD_Y), ["W", "(2, 3)", "(3, 2)"]),
    "negative weight": (lambda: lab.best_votes(-GOOD_W, GOOD_Y), ["W", "negative", "-0.1"]),
    "no weight": (lambda: lab.best_votes(0 * GOOD_W, GOOD_Y), ["W", "positive", "zero"]),
    "NaN": (lambda: lab.best_votes(np.nan * GOOD_W, GOOD_Y), ["W", "finite", "nan"]),
    "text": (lambda: lab.best_votes([["a"]], [[1]]), ["W", "numbers", "a"]),
    "votes": (lambda: lab.edges(GOOD_W, GOOD_Y, [1, 1], [1, 1]), ["v", "(3,)", "(2,)"]),
    "outputs": (lambda: lab.edges(GOOD_W, GOOD_Y, [1, 1, 1], [1]), ["phi", "(2,)", "(1,)"]),
    "best alpha": (lambda: lab.energy(GOOD_W, GOOD_Y, [1, 1, 0.5], [1, 1]), ["-1, 0 or +1", "0.5"]),
    "exact": (
        lambda: lab.best_votes(np.ones((1, 25)), -np.ones((1, 25)), method="exact"),
        ["'exact'", "24", "25", "'bracket'"],
    ),
    "indicator": (lambda: lab.label_matrix([[0, 2]]), ["0 and 1", "2"]),
    "columns": (lambda: lab.label_matrix([[0, 1]], [1, 2, 3]), ["3 classes", "2 columns"]),
    "unknown label": (lambda: lab.label_matrix(["c"], ["a", "b"]), ["c", "a, b"]),
    "codes": (lambda: lab.one_hot([0, -1], 3), ["codes", "-1"]),
    "large codes": (lambda: lab.one_hot([0, 3], 3), ["n_classes=3", "3"]),
    "sample weight": (
        lambda: lab.initial_weights(GOOD_Y, sample_weight=[1.0]),
        ["sample_weight", "(2,)", "(1,)"],
    ),
    "program": (lambda: lab.worst_weighting(-np.ones((20, 11))), ["8192", "20", "11"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_data(case):
    call, words = BAD[case]
    with pytest.raises(InvalidDataError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


BAD_PARAMETERS = {
    "method": lambda: lab.best_votes(GOOD_W, GOOD_Y, method="greedy"),
    "n_starts": lambda: lab.best_votes(GOOD_W, GOOD_Y, n_starts=0),
    "random_state": lambda: lab.best_votes(GOOD_W, GOOD_Y, random_state=None),
    "alpha": lambda: lab.energy(GOOD_W, GOOD_Y, [1, 1, 1], [1, 1], alpha=np.nan),
    "kind": lambda: lab.initial_weights(GOOD_Y, "even"),
    "labels": lambda: lab.mass_bound(3, "two"),
    "labels ": lambda: lab.mass_bound(3, [4]),
    "labels  ": lambda: lab.mass_bound(3, []),
    "n_classes": lambda: lab.sharp_constant(0),
    "n_classes ": lambda: lab.rounds_bound(10, 1, 0.1),
    "n_classes  ": lambda: lab.sign_patterns(21),
    "n_rows": lambda: lab.sharp_constant(3, 0),
    "delta": lambda: lab.rounds_bound(10, 3, 0.0),
    "delta ": lambda: lab.rounds_bound(10, 3, 1.5),
    "version": lambda: lab.rounds_bound(10, 3, 0.1, version="best"),
    "error": lambda: lab.rounds_bound(10, 3, 0.1, error="log"),
    "initial_weights": lambda: lab.rounds_bound(10, 3, 0.1, initial_weights="even"),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters(case):
    with pytest.raises(InvalidParameterError, match=f"'{case.strip()}' parameter"):
        BAD_PARAMETERS[case]()


def test_public_names_are_documented():
    for name in lab.__all__:
        assert getattr(lab, name).__doc__, name


def test_examples_of_the_page():
    page = Path(__file__).parents[3] / "docs" / "lab_convergence.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried >= 12
    assert failed == 0
