"""The experiments behind docs/answers: their arithmetic, and that they notice a refutation."""

from dataclasses import replace
from math import comb, sqrt

import numpy as np
import pytest
from scipy.stats import hypergeom, ttest_1samp

from edgewise import SoftmaxBoostClassifier
from edgewise.experiments import (
    EXPERIMENTS,
    _literal,
    _separated,
    adaboost_cycling,
    base_class,
    certificates,
    loose_ends,
    smoothness,
    softmax_stall,
    truth_tables,
)
from edgewise.experiments._data import Split
from edgewise.experiments._types import Record
from edgewise.lab import dynamics
from edgewise.lab.convergence import mass_bound
from edgewise.lab.truth_table import TruthTable


def ran(experiment, *names):
    """Records of some cells at small scale that need no data."""
    found = {}
    for cell in experiment.cells("small"):
        if cell.name in names:
            outcome = experiment.run(cell, None, 1)
            found[cell.name] = Record(
                experiment.name, "small", cell.name, cell.seed, dict(cell.params), None, "", 1,
                outcome, 0.0,
            )  # fmt: skip
    return found


# --- smoothness -------------------------------------------------------------------------------


def spread(x, p):
    """E (Z^2 - sigma^2)_+ of values x with probabilities p."""
    z2 = (x - p @ x) ** 2
    return p @ np.maximum(z2 - p @ z2, 0.0)


def test_no_distribution_of_range_one_beats_two_atoms():
    """The lemma behind the sharp constant: at most 1 / (6 sqrt(3)), for any number of atoms."""
    rng, bound = np.random.default_rng(0), 1 / (6 * sqrt(3))
    for _ in range(4000):
        n = int(rng.integers(2, 7))
        x = np.concatenate([[0.0, 1.0], rng.random(n)])[: n + 1]
        assert spread(x, rng.dirichlet(np.full(len(x), 0.5))) <= bound + 1e-15
    p = (3 - sqrt(3)) / 6
    assert spread(np.array([0.0, 1.0]), np.array([1 - p, p])) == pytest.approx(bound, abs=1e-15)


def test_steps_of_the_bound_for_all_distributions():
    """Step 4 of the proof: T is at most the bracket for its P, m and a, and that at most T*."""
    rng = np.random.default_rng(2)
    for _ in range(2000):
        n = int(rng.integers(2, 7))
        x, p = (
            np.concatenate([[0.0, 1.0], rng.random(n)])[: n + 1],
            rng.dirichlet(np.full(n + 1, 0.5)),
        )
        z = x - p @ x
        high = z**2 > p @ z**2
        P = p[high].sum()
        m = p[high] @ z[high] / P
        z = z if m >= 0 else -z
        assert spread(x, p) <= bracket(P, abs(m), -z.min()) + 1e-15
    P, u, v = np.meshgrid(*[np.linspace(0.005, 0.995, 100)] * 3)
    m = u * (1 - P)  # 0 <= m <= 1 - P: what both constraints on a leave
    low = P / (1 - P) * m
    assert bracket(P, m, low + v * (1 - m - low)).max() <= 1 / (6 * sqrt(3))


def bracket(P, m, a):
    rho = P / (1 - P)
    return P * (1 - P) * ((1 - 2 * a) * m + a * (1 - a) - rho**2 * m**2)


def test_curvature_is_a_covariance_and_attains_the_constant():
    rng = np.random.default_rng(1)
    for _ in range(50):
        psi, c = rng.normal(size=4), rng.random(4)
        g = np.exp(psi) / np.exp(psi).sum()
        values, vectors = np.linalg.eigh(
            np.diag(s := g * (c - g @ c)) - np.outer(g, s) - np.outer(s, g)
        )
        v = vectors[:, np.abs(values).argmax()]
        squares = (v - g @ v) ** 2
        covariance = g @ (c * squares) - (g @ c) * (g @ squares)
        assert smoothness.curvature(psi, c) == pytest.approx(abs(covariance))
    p = (3 - sqrt(3)) / 6
    worst = smoothness.curvature(np.log([1 - p, p]), np.array([0.0, 1.0]))
    assert worst == pytest.approx(smoothness.CONSTANT, rel=1e-12)


# --- soft-max boosting stalls -----------------------------------------------------------------


def test_exact_projection_repeats_its_first_stump():
    found = ran(softmax_stall.EXPERIMENT, "toy/exact", "toy/sampled")
    assert found["toy/exact"].outcome["cuts"] == 1
    first, last = found["toy/exact"].outcome["edge"]
    assert last < 0.1 * first
    assert found["toy/sampled"].outcome["cuts"] > 5
    verdicts = [f.verdict for f in softmax_stall.findings("small", found)]
    assert verdicts == ["holds", "holds", "not run"]
    broken = replace(found["toy/exact"], outcome=found["toy/exact"].outcome | {"cuts": 2})
    found["toy/exact"] = broken
    assert softmax_stall.findings("small", found)[0].verdict == "fails"


def test_a_tied_leaf_frees_the_exact_projection():
    """The proposition's exception: tied rows keep their weight while that of the others falls."""
    first = np.repeat([1.0, 0.0], 8)
    y = np.repeat([1, 0, 1], [8, 4, 4])  # half of the rows with first = 0 are of either class
    second = np.concatenate([np.repeat([0.0, 1.0], 4), y[8:]])  # decides these
    model = SoftmaxBoostClassifier(
        projection="exact", max_leaf_nodes=2, min_samples_leaf=1, n_estimators=30
    ).set_params(early_stopping=False)
    model.fit(np.column_stack([first, second]), y)
    features = model.model_.feature[np.asarray(model.model_.node_start)[:-1]]
    assert features[0] == 0
    assert set(features) == {0, 1}
    assert (model.predict(np.column_stack([first, second])) == y).all()


# --- cycles -----------------------------------------------------------------------------------


def test_lyapunov_exponent_of_a_stable_cycle_is_not_positive():
    M = dynamics.one_error_each(4)
    start = dynamics.random_weights(4, random_state=0)
    assert adaboost_cycling.lyapunov(M, start, 2000) < -0.1


def test_a_matrix_without_a_cycle_refutes_the_claim():
    experiment = adaboost_cycling.EXPERIMENT
    found = ran(experiment, "6x6", "10x10")
    assert experiment.findings("small", found)[0].verdict == "holds"
    cycling = [run for run in found["6x6"].outcome["runs"] if run["outcome"] == "cycle"]
    cycling[0] |= {"outcome": "not found", "budget": None, "lyapunov": 0.2}
    assert [f.verdict for f in experiment.findings("small", found)] == ["fails", "holds"]
    assert experiment.tables("small", found)[0].rows[0][3] != "0%"


# --- base class -------------------------------------------------------------------------------


def test_corrected_test_is_the_t_test_with_a_larger_variance():
    differences = [0.3, 0.5, 0.1, 0.4, 0.6, 0.2]
    plain = ttest_1samp(differences, 0).pvalue
    assert base_class.corrected_p(differences, 1, 0) == pytest.approx(plain)
    assert base_class.corrected_p(differences, 100, 100) > plain
    assert base_class.corrected_p([0.0] * 4, 10, 10) == 1.0


# --- certificates -----------------------------------------------------------------------------


@pytest.mark.parametrize("K", [3, 6, 9, 10])
def test_least_mass_by_cardinality(K):
    for r in range(K // 2 + 1):
        program = mass_bound(K, {r})
        assert certificates.least_mass(K, r) == pytest.approx(program, abs=1e-7)
        closed = certificates.closed_form(K, r)
        assert closed is None or closed == pytest.approx(program, abs=1e-9)


@pytest.mark.parametrize("r", [1, 2, 5, 12, 31])
def test_steps_of_the_proof_for_half_of_the_labels(r):
    """Means of |2j - p|, j hypergeometric: their closed form, and that p odd, up to r, is best."""
    mean = {
        p: float(hypergeom.pmf(np.arange(p + 1), 2 * r, r, p) @ np.abs(2 * np.arange(p + 1) - p))
        for p in range(2 * r + 1)
    }
    for m in range(1, r + 1):
        closed = 2 * r * comb(r - 1, m - 1) ** 2 / comb(2 * r, 2 * m - 1)
        assert mean[2 * m - 1] == pytest.approx(closed)
        assert mean[2 * m] < mean[2 * m - 1]
        if m < r:
            ratio = (r - m) * (2 * m + 1) / (m * (2 * r - 2 * m + 1))
            assert mean[2 * m + 1] / mean[2 * m - 1] == pytest.approx(ratio)
    assert max(mean.values()) == pytest.approx(r * certificates.closed_form(2 * r, r))


def test_a_flip_within_kappa_refutes_the_certificate():
    experiment = certificates.EXPERIMENT
    found = ran(experiment, "kappa")
    (claim,) = [f for f in experiment.findings("small", found) if "resampled" in f.what]
    assert claim.verdict == "holds"
    found["kappa"].outcome["tables"][0]["broken"] = 1
    (claim,) = [f for f in experiment.findings("small", found) if "resampled" in f.what]
    assert claim.verdict == "fails"


@pytest.mark.parametrize("seed", [0, 1])
def test_no_corner_of_the_second_certificate_changes_a_sign(seed):
    table = truth_tables.random_table(np.random.default_rng(seed))
    bounds, beta = table.stability(), table.minimise().beta
    kappa = _separated.separated_bound(table, bounds.upper)
    assert 0.1 * bounds.upper < kappa <= bounds.upper
    assert not _separated.is_separated(table, beta, 1.01 * bounds.upper)
    p = np.asarray(table.counts) / table.total
    cells = np.asarray(table.patterns, dtype=float)
    changes = _separated.corners(p, kappa)
    np.testing.assert_allclose(changes.sum(axis=1), 0, atol=1e-12)
    assert np.abs(changes).max() == pytest.approx(kappa)
    signs = np.sign(cells @ beta)
    for delta in changes[:: max(1, len(changes) // 40)]:
        changed = TruthTable.from_cells(table.patterns, np.maximum(p + delta, 0))
        np.testing.assert_array_equal(np.sign(cells @ changed.minimise().beta), signs)


def test_second_certificate_of_one_classifier_is_nearly_sharp():
    """It is right on 95 %: kappa is 0.05, where its errors are gone. The box certifies half."""
    table = TruthTable.from_cells([[1], [-1]], [95, 5])
    assert _separated.separated_bound(table, 0.05) > 0.049 > table.stability().lower
    with pytest.raises(ValueError, match="at most 3 classifiers. Got 4"):
        _separated.separated_bound(TruthTable.from_cells(*four_classifiers()), 0.1)


def four_classifiers():
    cells = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    return cells, 1 + (cells.sum(axis=1) > 0)


# --- smaller questions ------------------------------------------------------------------------


def test_path_of_cells_is_adaboost_s():
    """By hand: wrong are 4, 10, 8 of 24; then 18 and 16 of 40; then 19 of 48."""
    patterns = [(-1, 1, -1), (-1, -1, 1), (1, -1, -1), (1, 1, -1), (1, 1, 1), (1, -1, 1)]
    assert loose_ends.path_of_cells(patterns, [2, 2, 2, 4, 8, 6]) == [0, 2, 1]
    assert loose_ends.path_of_cells([(-1, 1), (1, -1), (1, 1)], [2, 3, 9]) == [0, 1]
    assert loose_ends.path_of_cells([(1, 1), (1, -1)], [5, 5]) == [0]  # nothing is wrong any more
    found = ran(loose_ends.EXPERIMENT, "decision tree")
    (claim,) = [f for f in loose_ends.findings("small", found) if "decision tree" in f.what]
    assert claim.verdict == "holds"
    found["decision tree"].outcome["same"] -= 1
    (claim,) = [f for f in loose_ends.findings("small", found) if "decision tree" in f.what]
    assert claim.verdict == "fails"


def test_literal_soft_max_boosting_learns_from_any_number_of_pairs():
    rng = np.random.default_rng(0)
    X, X_test = rng.random((120, 3)), rng.random((200, 3))
    data = Split(X, (3 * X[:, 0]).astype(int), X_test, (3 * X_test[:, 0]).astype(int))
    few, many = (_literal.softmax_boost(data, pairs, 40, 0) for pairs in (12, 360))
    assert many["errors"] < 20
    assert few["errors"] < 100  # of 200, by chance 133
    assert many["risk"] < few["risk"] < 2 / 3


def test_every_experiment_says_where_it_stands_in_its_paper():
    assert all(each.item for each in EXPERIMENTS.values())
