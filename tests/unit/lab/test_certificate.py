"""Certificates: what they measure against an oracle, and that they notice what is broken."""

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from stump_mh import StumpMH
from support import table

from edgewise import AdaBoostMHClassifier, InvalidDataError, InvalidParameterError
from edgewise.lab import convergence as lab


def multi_label(seed, n=40, K=4):
    X, y = table(seed, n=n, K=K)
    also = np.random.default_rng(seed).random((n, K)) < 0.2
    return X, ((np.arange(K) == y[:, None]) | also).astype(int)


CASES = {
    "three classes": (lambda: table(0, n=40, K=3), {}),
    "uniform weights": (lambda: table(1, n=40, K=5), {"initial_weights": "uniform"}),
    "two classes": (lambda: table(2, n=30, K=2), {}),
    "many labels": (lambda: multi_label(3), {}),
    "abstaining votes": (lambda: table(4, n=40, K=4), {"ternary": True}),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys(), scope="module")
def fitted(request):
    make, parameters = request.param
    X, y = make()
    return StumpMH(n_estimators=12, **parameters).fit(X, y), X, y


def test_certificate_measures_what_the_fit_recorded(fitted):
    model, X, y = fitted
    found = lab.certificate(model, X, y)
    for name in ("edge", "alpha", "z", "bound", "hamming_loss", "vote_mass"):
        np.testing.assert_allclose(getattr(found, name), model.history_[name], atol=1e-12)
    assert max(found.discrepancy.values()) < 1e-12
    assert found.factorised.all()
    np.testing.assert_array_equal(found.rounds, np.arange(1, 13))


def test_certificate_holds(fitted):
    model, X, y = fitted
    found = lab.certificate(model, X, y)
    assert found.checks == dict.fromkeys(found.checks, True)
    assert len(found.checks) == 5
    assert found.holds
    assert (found.best_mass >= found.mass_bound - 1e-14).all()
    assert (found.vote_mass <= found.best_mass + 1e-12).all()


def test_certificate_knows_the_best_mass_of_every_round(fitted):
    model, X, y = fitted
    Y = lab.label_matrix(y)
    scores = [f.copy() for f in model.model_.staged_scores(X, 1)]
    found = lab.certificate(model, X, y)
    start = np.log(lab.initial_weights(Y, model.initial_weights))
    for t in range(1, 12):
        log_W = start - scores[t - 1] * Y
        W = np.exp(log_W - logsumexp(log_W))
        largest = max(lab.vote_mass(W, Y, v) for v in product([-1, 1], repeat=Y.shape[1]))
        assert found.best_mass[t] == pytest.approx(largest, abs=1e-12)


def test_certificate_names_the_bound_that_applies():
    X, y = table(0, n=40, K=3)
    found = lab.certificate(StumpMH(2).fit(X, y), X, y)
    assert (found.mass_bound, found.labels) == (lab.sharp_constant(3), "one label per row")
    X, y = multi_label(3)
    found = lab.certificate(StumpMH(2).fit(X, y), X, y)
    numbers = sorted(set(y.sum(axis=1).tolist()))
    assert found.mass_bound == lab.mass_bound(4, numbers)
    assert found.labels == f"{', '.join(map(str, numbers))} labels per row"


def test_certificate_of_weighted_rows():
    X, y = table(0, n=40, K=3)
    w = np.random.default_rng(0).integers(0, 4, size=40).astype(float)
    present = w > 0
    model = StumpMH(6).fit(X[present], y[present], w[present])
    found = lab.certificate(model, X, y, w)
    assert found.n_rows == present.sum()
    assert max(found.discrepancy.values()) < 1e-12
    assert found.holds
    assert max(lab.certificate(model, X, y).discrepancy.values()) > 1e-3  # without them


def test_certificate_of_some_rounds():
    X, y = table(0, n=40, K=3)
    model = StumpMH(8).fit(X, y)
    every, some = lab.certificate(model, X, y), lab.certificate(model, X, y, every=3)
    np.testing.assert_array_equal(some.rounds, [3, 6, 8])
    np.testing.assert_array_equal(some.best_mass, every.best_mass[[2, 5, 7]])
    assert some.discrepancy["z"] < 1e-12


def test_training_error_is_zero_when_the_certificate_says_so():
    X, y = table(0, n=16, K=2, noise=0.0)
    model = StumpMH(40).fit(X, y)
    found = lab.certificate(model, X, y)
    first = int(found.rounds[found.hamming_loss == 0][0])
    delta = float(found.edge[:first].min())
    assert first <= lab.rounds_bound(16, 2, delta, version="edge")
    assert found.rounds_to_zero == lab.rounds_bound(16, 2, found.edge.min(), version="edge")


def with_outputs(model, outputs, alpha):
    """The model with other outputs h / alpha, `outputs(t)` in round t."""
    n_rounds = len(alpha)

    def staged(X, n_threads):
        out = np.zeros((len(X), len(model.classes_)))
        for t in range(n_rounds):
            out += alpha[t] * outputs(t)
            yield out

    model.model_ = SimpleNamespace(n_rounds=n_rounds, staged_scores=staged)
    model.history_ = {name: np.ones(n_rounds) for name in model.history_} | {"alpha": alpha}
    return model


def test_certificate_of_rounds_that_are_not_factorised():
    X, y = table(0, n=40, K=3)
    model = with_outputs(
        StumpMH(1).fit(X, y),
        lambda t: np.random.default_rng(t).choice([-1.0, 1.0], size=(40, 3)),
        np.linspace(0.1, 0.5, 5),
    )
    found = lab.certificate(model, X, y)
    assert not found.factorised.any()
    np.testing.assert_array_equal(found.vote_mass, 1.0)  # as recorded
    assert "vote_mass" not in found.discrepancy
    assert found.discrepancy["edge"] > 0.1


def test_certificate_of_one_tree_per_class():
    """Such rounds have no votes in common, so that no vote mass can be compared with the best."""
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMHClassifier(base="one_vs_all", n_estimators=5, early_stopping=False).fit(X, y)
    found = lab.certificate(model, X, y)
    assert found.checks == dict.fromkeys(found.checks, True)
    assert np.isnan(found.vote_mass[~found.factorised]).all()
    assert "BROKEN" not in str(found)


def test_certificate_of_many_rounds_neither_overflows_nor_underflows():
    """All labels right by 50 more in every round: the risk is e^-5000 in the end."""
    X, y = table(0, n=20, K=3)
    Y = lab.label_matrix(y)
    model = with_outputs(StumpMH(1).fit(X, y), lambda t: Y, np.full(100, 50.0))
    found = lab.certificate(model, X, y)
    np.testing.assert_allclose(found.z, math.exp(-50), rtol=1e-12)
    np.testing.assert_allclose(found.best_mass, found.best_mass[0], rtol=1e-12)
    np.testing.assert_allclose(found.edge, 1.0)
    assert found.bound[-1] == 0.0
    assert found.checks["Z <= cosh(alpha) - edge sinh(alpha)"]
    assert found.checks["Hamming loss <= product of Z"]


def test_certificate_of_scores_that_were_not_boosted():
    """All labels wrong: the risk is beyond all numbers, the rest is still told."""
    X, y = table(0, n=20, K=3)
    Y = lab.label_matrix(y)
    found = lab.certificate(
        with_outputs(StumpMH(1).fit(X, y), lambda t: -Y, np.full(3, 800.0)), X, y
    )
    assert found.bound[-1] == np.inf
    assert found.hamming_loss[-1] == pytest.approx(1.0)
    assert found.rounds_to_zero is None
    assert found.checks["Hamming loss <= product of Z"]
    assert found.checks["Z <= cosh(alpha) - edge sinh(alpha)"]


def test_certificate_of_a_round_that_moves_nothing():
    X, y = table(0, n=20, K=3)
    model = with_outputs(StumpMH(1).fit(X, y), lambda t: np.ones((20, 3)), np.zeros(2))
    found = lab.certificate(model, X, y)
    np.testing.assert_allclose(found.z, 1.0)
    np.testing.assert_array_equal(found.edge, 0.0)


def test_unknown_vote_mass_breaks_nothing():
    """Rounds without votes, one classifier for each class, have no vote mass to record."""
    X, y = table(0, n=40, K=3)
    Y = lab.label_matrix(y)
    right = np.random.default_rng(0).random(Y.shape) < 0.8
    model = with_outputs(StumpMH(1).fit(X, y), lambda t: np.where(right, Y, -Y), np.full(2, 0.5))
    model.history_["vote_mass"][:] = np.nan
    found = lab.certificate(model, X, y)
    assert np.isnan(found.vote_mass).all()
    assert found.holds


def test_an_exhaustive_search_is_as_good_as_the_guard():
    """In every round its edge is at least that of the best stump for the best votes."""
    X, y = table(0, n=40, K=4)
    model, Y = StumpMH(8).fit(X, y), lab.label_matrix(y)
    stumps = [
        np.where(X[:, j] >= b, 1.0, -1.0) for j in range(X.shape[1]) for b in np.unique(X[:, j])
    ]
    W = lab.initial_weights(Y)
    for t, f in enumerate(model.model_.staged_scores(X, 1)):
        best = lab.best_votes(W, Y)
        pseudo = lab.pseudo_problem(W, Y, best.votes)
        guard = max(abs((pseudo.weights * pseudo.labels * phi).sum()) for phi in stumps)
        weak = guard / best.mass  # what the stumps achieve for weights of sum 1
        assert model.history_["edge"][t] >= guard - 1e-12
        assert guard >= weak * lab.sharp_constant(4)
        W = lab.initial_weights(Y) * np.exp(-f * Y)


BROKEN = {
    "best vote mass >= its bound": {"best_mass": 0.1},
    "vote mass <= best vote mass": {"best_mass_upper": 0.1},
    "edge <= vote mass, where factorised": {"edge": 0.99},
    "Z <= cosh(alpha) - edge sinh(alpha)": {"z": 1.0},
    "Hamming loss <= product of Z": {"hamming_loss": 1.0},
}


@pytest.mark.parametrize("check", BROKEN)
def test_each_broken_inequality_is_noticed(check):
    X, y = table(0, n=40, K=3)
    found = lab.certificate(StumpMH(4).fit(X, y), X, y)
    for name, value in BROKEN[check].items():
        column = getattr(found, name).copy()
        column[-1] = value
        broken = replace(found, **{name: column})
    assert not broken.checks[check]
    assert not broken.holds
    assert f"BROKEN  {check}" in str(broken)


def test_a_small_loss_above_a_smaller_bound_is_noticed():
    X, y = table(0, n=40, K=3)
    found = lab.certificate(StumpMH(2).fit(X, y), X, y)
    tiny = replace(found, bound=np.full(2, 1e-12), hamming_loss=np.full(2, 1.1e-12))
    assert not tiny.checks["Hamming loss <= product of Z"]


def test_certificate_as_text():
    X, y = table(0, n=40, K=3)
    lines = str(lab.certificate(StumpMH(30).fit(X, y), X, y)).splitlines()
    assert lines[0].split() == "rounds edge vote_mass best_mass z bound hamming_loss".split()
    assert [line.split()[0] for line in (lines[1], lines[12])] == ["1", "30"]
    assert lines[13] == (
        "40 rows, 3 classes, one label per row: the best vote mass is at least 0.5"
    )
    assert len(lines) == 19
    assert all(line.startswith("holds   ") for line in lines[14:])


def test_certificate_of_something_else():
    X, y = table(0, n=20, K=3)
    with pytest.raises(InvalidParameterError, match="AdaBoostMHClassifier.*DummyClassifier.*edge"):
        lab.certificate(DummyClassifier().fit(X, y), X, y)
    with pytest.raises(InvalidDataError, match="20 and 19 rows"):
        lab.certificate(StumpMH(1).fit(X, y), X, y[:-1])
    with pytest.raises(InvalidParameterError, match="'every' parameter"):
        lab.certificate(StumpMH(1).fit(X, y), X, y, every=0)


# --- the real estimator -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["balanced", "uniform"])
@pytest.mark.parametrize("base", ["stump", "hamming_tree"])
def test_adaboost_mh_keeps_its_promises(base, kind):
    X, y = load_iris(return_X_y=True)
    model = AdaBoostMHClassifier(base=base, initial_weights=kind, n_estimators=12).fit(X, y)
    found = lab.certificate(model, X, y)
    assert found.holds
    assert max(found.discrepancy.values()) < 1e-9


def test_adaboost_mh_with_many_labels_keeps_its_promises():
    X, Y = make_multilabel_classification(n_samples=120, n_classes=4, random_state=1)
    model = AdaBoostMHClassifier(base="stump", n_estimators=12).fit(X, Y)
    found = lab.certificate(model, X, Y)
    assert found.holds
    assert max(found.discrepancy.values()) < 1e-9
