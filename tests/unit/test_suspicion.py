"""Suspicious rows: planted label flips come first; the figures themselves; what is refused."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from support import VARIANTS, table, uneven_weights

from edgewise import (
    AdaBoostMHClassifier,
    AOSOLogitBoostClassifier,
    InvalidDataError,
    InvalidParameterError,
    LogitBoostClassifier,
    MartiBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    Suspicion,
    suspicious_rows,
)


def flipped(y, share, seed):
    """Labels of which a share is exchanged for another one, and the rows where that happened."""
    rng = np.random.default_rng(seed)
    K = y.max() + 1
    rows = rng.choice(len(y), int(share * len(y)), replace=False)
    noisy = y.copy()
    noisy[rows] = (y[rows] + rng.integers(1, K, size=len(rows))) % K
    return noisy, rows


@pytest.fixture(scope="module", params=["digits", "synthetic"])
def planted(request):
    if request.param == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        X, y = make_classification(
            1500, 20, n_informative=8, n_classes=5, class_sep=1.5, flip_y=0.0, random_state=0
        )
    return X, *flipped(y, 0.1, seed=0)


def precision(estimator, planted, how="margin"):
    """Share of planted flips among as many of the most suspicious rows; by chance a tenth."""
    X, noisy, rows = planted
    found = suspicious_rows(estimator.fit(X, noisy), X, noisy, how=how)
    return np.isin(found.rows[: len(rows)], rows).mean()


MARGIN = {
    "aoso": (AOSOLogitBoostClassifier(n_estimators=40), 0.65),
    "logitboost": (LogitBoostClassifier(n_estimators=20), 0.65),
    "mh": (AdaBoostMHClassifier(n_estimators=40), 0.60),
    "mh stump": (AdaBoostMHClassifier(base="stump", n_estimators=150), 0.60),
    "mh one_vs_all": (AdaBoostMHClassifier(base="one_vs_all", n_estimators=20), 0.60),
    "samme": (SAMMEClassifier(n_estimators=40, random_state=0), 0.50),
    "softmax": (SoftmaxBoostClassifier(n_estimators=40, random_state=0), 0.65),
}
WEIGHT = {
    "mh": (AdaBoostMHClassifier(n_estimators=40), 0.60),
    "mh stump": (AdaBoostMHClassifier(base="stump", n_estimators=150), 0.60),
    "samme": (SAMMEClassifier(n_estimators=40, random_state=0), 0.60),
}


@pytest.mark.parametrize(("estimator", "least"), MARGIN.values(), ids=MARGIN)
def test_planted_flips_have_low_margins(estimator, least, planted):
    assert precision(estimator, planted) > least


@pytest.mark.parametrize(("estimator", "least"), WEIGHT.values(), ids=WEIGHT)
def test_planted_flips_are_heavy(estimator, least, planted):
    assert precision(estimator, planted, how="weight") > least


def test_last_round_alone_has_forgotten(planted):
    """What the mean over the rounds is for."""
    X, noisy, rows = planted
    model = LogitBoostClassifier(n_estimators=60, min_samples_leaf=1, learning_rate=0.3)
    scores = model.fit(X, noisy).decision_function(X)
    true = np.arange(len(X)), noisy
    own = scores[true]
    scores[true] = -np.inf
    last = np.argsort(own - scores.max(axis=1))
    of_last = np.isin(last[: len(rows)], rows).mean()
    assert precision(model, planted) > of_last


# --- the figures ------------------------------------------------------------------------------


def margins_by_hand(model, X, y):
    means = np.zeros(len(X))
    for scores in model.model_.staged_scores(X, 1):
        moved = scores - model.model_.start
        span = max(row.max() - row.min() for row in moved)
        for i, label in enumerate(y):
            best = max(moved[i, k] for k in range(moved.shape[1]) if k != label)
            means[i] += (moved[i, label] - best) / span / model.n_iter_
    return means


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("K", [2, 4])
def test_score_is_the_mean_margin(make, K):
    X, y = table(0, n=50, K=K, missing=0.1)
    model = make().fit(X, y)
    found = suspicious_rows(model, X, y)
    assert isinstance(found, Suspicion)
    margins = margins_by_hand(model, X, y)
    np.testing.assert_allclose(found.score, (1 - margins) / 2, atol=1e-12)
    assert ((found.score >= 0) & (found.score <= 1)).all()
    assert sorted(found.rows) == list(range(50))
    assert (np.diff(found.score[found.rows]) <= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_the_algorithm(weighted):
    """One round: w_i exp(-alpha) or exp(alpha) per label, in units of the first weight."""
    X, y = table(1, n=60, K=3)
    w = uneven_weights(1, 60) if weighted else None
    share = (np.ones(60) if w is None else w) / (60 if w is None else w.sum())
    model = AdaBoostMHClassifier(base="stump", n_estimators=1).fit(X, y, sample_weight=w)
    signs = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    first = np.where(signs > 0, 0.5, 0.25)
    growth = (first * np.exp(-signs * model.model_.scores(X, 1))).sum(axis=1)
    found = suspicious_rows(model, X, y, sample_weight=w, how="weight").score
    np.testing.assert_allclose(found, growth / (share * growth).sum(), rtol=1e-9)
    assert (share * found).sum() == pytest.approx(1.0)

    model = SAMMEClassifier(n_estimators=1, max_leaf_nodes=3).fit(X, y, sample_weight=w)
    growth = np.where(model.predict(X) == y, np.exp(-model.history_["alpha"][0]), 1.0)
    found = suspicious_rows(model, X, y, sample_weight=w, how="weight").score
    np.testing.assert_allclose(found, growth / (share * growth).sum(), rtol=1e-9)


def test_weights_of_long_fits_do_not_overflow():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = AdaBoostMHClassifier(base="stump", n_estimators=2000).fit(X, y)
    score = suspicious_rows(model, X, y, how="weight").score
    assert np.isfinite(score).all()
    assert score.mean() == pytest.approx(1.0, abs=1e-9)


def test_classifiers_of_another_library():
    X, y = table(2, n=80, K=3, noise=0.1)
    for model in (
        SAMMEClassifier(base=DecisionTreeClassifier(max_depth=2), n_estimators=5, random_state=0),
        AdaBoostMHClassifier(base=DecisionTreeClassifier(max_depth=2), n_estimators=5),
    ):
        model.fit(X, y)
        np.testing.assert_allclose(
            suspicious_rows(model, X, y).score, (1 - margins_by_hand(model, X, y)) / 2, atol=1e-12
        )


def test_labels_may_have_names():
    X, y = table(3, n=60, K=3)
    names = np.array(["c", "a", "b"])
    one = suspicious_rows(AOSOLogitBoostClassifier(n_estimators=4).fit(X, y), X, y)
    other = AOSOLogitBoostClassifier(n_estimators=4).fit(X, names[y])
    np.testing.assert_allclose(suspicious_rows(other, X, names[y]).score, one.score, atol=1e-6)


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_no_rounds_suspect_nobody():
    X, y = np.ones((6, 1)), np.array([0, 1, 2, 0, 1, 2])
    model = LogitBoostClassifier().fit(X, y)
    assert model.n_iter_ == 0
    found = suspicious_rows(model, X, y)
    assert found.score.tolist() == [0.5] * 6
    assert found.rows.tolist() == list(range(6))


# --- what is refused --------------------------------------------------------------------------

X, Y = table(4, n=40, K=3)
FITTED = AdaBoostMHClassifier(n_estimators=2).fit(X, Y)


def test_unfitted_estimator_is_refused():
    with pytest.raises(NotFittedError, match="AdaBoostMHClassifier"):
        suspicious_rows(AdaBoostMHClassifier(), X, Y)


@pytest.mark.parametrize("other", [MartiBoostClassifier(), DecisionTreeClassifier(), None])
def test_other_estimators_are_refused(other):
    with pytest.raises(InvalidParameterError, match=f"booster.*Got {type(other).__name__}"):
        suspicious_rows(other, X, Y)


def test_several_labels_are_refused():
    model = AdaBoostMHClassifier(n_estimators=2).fit(X, np.eye(3, dtype=int)[Y])
    with pytest.raises(InvalidDataError, match="one label each.*indicator matrix"):
        suspicious_rows(model, X, np.eye(3, dtype=int)[Y])
    with pytest.raises(ValueError, match="1d"):
        suspicious_rows(FITTED, X, np.eye(3, dtype=int)[Y])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X, np.where(Y == 2, 7, Y)), "label 7.*training labels 0, 1, 2"),
        ((X, Y[:-1]), "40 rows.*39"),
        ((X[:, :2], Y), "2 features.*4 features"),
        ((X, np.where(Y == 2, np.nan, Y)), "NaN"),
    ],
)
def test_bad_rows_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        suspicious_rows(FITTED, *arguments)


def test_unknown_figure_is_refused():
    with pytest.raises(InvalidParameterError, match="'margin' or 'weight'. Got 'loss'"):
        suspicious_rows(FITTED, X, Y, how="loss")


def test_weights_are_for_boosters_that_have_some():
    model = LogitBoostClassifier(n_estimators=2).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="how='margin'. Got LogitBoostClassifier"):
        suspicious_rows(model, X, Y, how="weight")
    with pytest.raises(ValueError, match="negative"):
        suspicious_rows(FITTED, X, Y, sample_weight=-np.ones(40))
