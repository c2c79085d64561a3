"""AdaBoost.MH: energies and bounds, votes, endings, many labels, classifiers of another library."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import hamming_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support import assert_same_model, table, trees_of, uneven_weights

from edgewise import (
    AdaBoostMHClassifier,
    FitWarning,
    InvalidDataError,
    InvalidParameterError,
    _core,
)
from edgewise._families.best_votes import best_votes
from edgewise._families.mh_bases import SMOOTHING

BASES = ["stump", "hamming_tree", "product", "one_vs_all"]
VOTES = ["binary", "ternary", "real"]
every_base = pytest.mark.parametrize("base", BASES)


def first_weights(y, K, kind, w=None):
    """W^(1) of Kégl's eq. (2), or equal ones, (n, K), summing to one."""
    has = y.astype(bool) if y.ndim == 2 else y[:, None] == np.arange(K)
    W = np.empty(has.shape)
    for i, row in enumerate(has):
        one_kind = row.all() or not row.any()
        for label in range(K):
            of_its_kind = (row == row[label]).sum()
            W[i, label] = 1 / K if kind == "uniform" or one_kind else 0.5 / of_its_kind
    W *= (np.ones(len(y)) if w is None else w)[:, None]
    return W / W.sum(), np.where(has, 1.0, -1.0)


def many_labels(seed, n=90, K=4):
    X, _ = table(seed, n=n, missing=0.1)
    rng = np.random.default_rng([seed, 2])
    y = np.nan_to_num(X) @ rng.normal(size=(X.shape[1], K)) + rng.normal(size=(n, K)) > 0
    y[0], y[1] = True, False
    return X, y.astype(int)


# --- energies and bounds ----------------------------------------------------------------------


@every_base
@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_history_tells_the_risk_of_the_scores(base, votes, learning_rate):
    X, y = table(1, n=80, K=4, missing=0.1)
    w = uneven_weights(1, len(y))
    model = AdaBoostMHClassifier(
        base=base, votes=votes, learning_rate=learning_rate, n_estimators=12, max_leaf_nodes=5
    ).fit(X, y, sample_weight=w)
    W, signs = first_weights(y, 4, "balanced", w)
    before = 1.0
    for m, scores in enumerate(model.model_.staged_scores(X, 1)):
        risk = (W * np.exp(-signs * scores)).sum()
        assert model.history_["bound"][m] == pytest.approx(risk, rel=1e-9)
        assert model.history_["z"][m] == pytest.approx(risk / before, rel=1e-9)
        wrong = W[signs * scores <= 0].sum()
        assert model.history_["hamming_loss"][m] == pytest.approx(wrong, abs=1e-9)
        assert wrong <= model.history_["bound"][m]
        before = risk
    np.testing.assert_allclose(np.cumprod(model.history_["z"]), model.history_["bound"])
    assert (model.history_["z"] < 1).all()


@pytest.mark.parametrize("base", ["stump", "hamming_tree", "one_vs_all"])
@pytest.mark.parametrize("y_of", [lambda s: table(s, n=120, K=5, noise=0.5), many_labels])
def test_freer_votes_lower_the_energy(base, y_of, seed):
    X, y = y_of(seed)
    z = {}
    for votes in VOTES:
        model = AdaBoostMHClassifier(base=base, votes=votes, n_estimators=1, max_leaf_nodes=4)
        z[votes] = model.fit(X, y).history_["z"][0]
    assert z["ternary"] <= z["binary"] + 1e-12
    assert z["real"] <= z["ternary"] + 1e-5  # smoothing spoils the optimum a little
    assert z["real"] < z["binary"] - 1e-3


def test_ternary_votes_abstain():
    X, y = table(2, n=200, K=8, noise=0.3)
    model = AdaBoostMHClassifier(votes="ternary", n_estimators=5, max_leaf_nodes=6).fit(X, y)
    assert (model.model_.values == 0).any()
    assert len(np.unique(np.abs(model.model_.values))) == 6  # zero, and an alpha a round


@every_base
def test_binary_votes_have_one_alpha_a_round(base):
    X, y = table(2, n=100, K=4)
    model = AdaBoostMHClassifier(base=base, n_estimators=4, max_leaf_nodes=6).fit(X, y)
    ends = model.model_.value_start[model.model_.round_start]
    for m, alpha in enumerate(model.history_["alpha"]):
        sizes = np.abs(model.model_.values[ends[m] : ends[m + 1]])
        np.testing.assert_allclose(sizes, alpha, rtol=1e-14)


@every_base
def test_full_steps_leave_no_edge_on_the_new_weights(base):
    """alpha minimises the energy, so the base classifier it came from has edge 0 afterwards."""
    X, y = table(3, n=100, K=3, noise=0.5)
    model = AdaBoostMHClassifier(base=base, n_estimators=3, max_leaf_nodes=4).fit(X, y)
    W, signs = first_weights(y, 3, "balanced")
    before = np.zeros(signs.shape)
    for scores in model.model_.staged_scores(X, 1):
        h = scores - before
        weights = W * np.exp(-signs * scores)
        assert (weights * np.sign(h) * signs).sum() / weights.sum() == pytest.approx(0, abs=1e-5)
        before = scores.copy()


def test_votes_of_largest_mass_bound_the_vote_mass():
    X, y = table(4, n=100, K=5)
    for base in ("stump", "hamming_tree", "product"):
        model = AdaBoostMHClassifier(base=base, n_estimators=8, max_leaf_nodes=5).fit(X, y)
        W, signs = first_weights(y, 5, "balanced")
        stages = [np.zeros(signs.shape), *(s.copy() for s in model.model_.staged_scores(X, 1))]
        for mass, edge, scores in zip(
            model.history_["vote_mass"], model.history_["edge"], stages[:-1], strict=True
        ):
            weights = W * np.exp(-signs * scores)
            largest = best_votes(weights * signs / weights.sum(), method="exact").mass
            assert mass <= largest + 1e-9
            if base != "hamming_tree":  # more than one stump: more than one vote vector
                assert edge <= mass + 1e-9


# --- endings ----------------------------------------------------------------------------------


def test_an_edge_of_one_is_no_end_where_features_are_drawn():
    X, y = load_digits(return_X_y=True)
    settings = {"base": "one_vs_all", "max_leaf_nodes": None, "random_state": 0}
    model = AdaBoostMHClassifier(n_estimators=30, max_features=0.5, **settings)
    model.fit(X[:150], y[:150])
    assert model.stop_reason_ == "all rounds done"
    assert (model.history_["edge"] > 1 - 1e-12).all()
    one = AdaBoostMHClassifier(n_estimators=1, max_features=0.5, **settings).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) > one.score(X[150:], y[150:]) + 0.05
    all_features = AdaBoostMHClassifier(n_estimators=30, max_features=None, **settings)
    assert all_features.fit(X[:150], y[:150]).n_iter_ == 1


@every_base
def test_edge_of_one_ends_the_fit_with_a_finite_alpha(base):
    X, y = np.arange(30.0)[:, None], (np.arange(30) >= 12).astype(int)
    model = AdaBoostMHClassifier(base=base, n_estimators=50).fit(X, y)
    assert model.n_iter_ == 1
    assert model.stop_reason_ == "a base classifier has an edge of 1"
    assert model.history_["edge"][0] == pytest.approx(1.0, abs=1e-12)
    assert model.history_["alpha"][0] == pytest.approx(0.5 * np.log((1 + SMOOTHING) / SMOOTHING))
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("base", ["stump", "one_vs_all"])
@pytest.mark.parametrize("votes", VOTES)
def test_nothing_to_hold_on_to_ends_the_fit(base, votes):
    """Exclusive or: every stump is right on half of the weight."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = (X[:, 0] != X[:, 1]).astype(int)
    with pytest.warns(FitWarning, match="learned nothing"):
        model = AdaBoostMHClassifier(base=base, votes=votes, max_leaf_nodes=2).fit(X, y)
    assert model.n_iter_ == 0
    assert model.stop_reason_ == "no base classifier has an edge"
    np.testing.assert_allclose(model.predict_proba(X), 0.5)


def test_products_see_exclusive_or_only_with_a_foothold():
    """A product of two stumps is an exclusive or, but its first factor needs an edge."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = (X[:, 0] != X[:, 1]).astype(int)
    w = np.where((X == 0).all(axis=1), 1.5, 1.0)
    model = AdaBoostMHClassifier(base="product", n_estimators=30).fit(X, y, sample_weight=w)
    assert (model.predict(X) == y).all()
    assert not (AdaBoostMHClassifier(base="stump").fit(X, y, w).predict(X) == y).all()


def test_rounds_run_out():
    X, y = table(5, n=60, K=3, noise=0.5)
    model = AdaBoostMHClassifier(base="stump", n_estimators=3).fit(X, y)
    assert model.stop_reason_ == "all rounds done"
    assert model.n_iter_ == 3


def test_a_hundred_thousand_rounds_neither_overflow_nor_underflow():
    """The state alone, and with it the risk, far beyond what exp can express."""
    signs = np.array([[1, -1], [-1, 1], [1, -1], [-1, 1]], dtype=np.int8)
    quarter = np.full(4, 0.125)
    weights = _core.LabelWeights(signs, quarter, quarter, 1)
    # Three stumps of the four rows 0 1 0 1, each wrong on one row, in the cycle of Rudin et al.
    right = np.array([[1, 1, 1, -1], [-1, 1, 1, 1], [1, -1, 1, 1], [1, 1, -1, 1]])
    for t in range(100_000):
        gamma = float((np.abs(weights.signed_weights).sum(axis=1) * right[t % 4]).sum())
        alpha = 0.5 * np.log((1 + gamma) / (1 - gamma))
        weights.add_outputs(alpha * right[t % 4][:, None] * signs.astype(float), 1)
    W = np.abs(weights.signed_weights)
    assert W.sum() == pytest.approx(1.0, abs=1e-12)
    assert (W > 0).all()
    assert weights.log_risk < -10_000
    assert np.isfinite(weights.margins).all()


def test_long_fits_stay_finite():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = AdaBoostMHClassifier(base="stump", n_estimators=4000).fit(X, y)
    assert model.n_iter_ == 4000
    assert model.history_["loss"][-1] == 0.0  # the logarithm is about -960
    for name in ("edge", "alpha", "z"):
        assert np.isfinite(model.history_[name]).all()
    assert model.history_["edge"][-1] == pytest.approx((np.sqrt(5) - 1) / 2, abs=1e-3)  # its cycle
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.predict(X) == y).all()


# --- probabilities ----------------------------------------------------------------------------


@pytest.mark.parametrize("initial_weights", ["balanced", "uniform"])
def test_nothing_to_learn_gives_the_class_frequencies(initial_weights):
    """The best constant is the link of the exponential loss at the frequencies."""
    y = np.repeat([0, 1, 2], [5, 3, 2])
    model = AdaBoostMHClassifier(votes="real", initial_weights=initial_weights, n_estimators=1)
    with pytest.warns(FitWarning, match="learned nothing"):
        proba = model.fit(np.ones((10, 2)), y).predict_proba(np.ones((1, 2)))
    np.testing.assert_allclose(proba, [[0.5, 0.3, 0.2]], atol=1e-5)


def test_frequencies_of_many_labels():
    y = np.array([[1, 1, 0]] * 3 + [[1, 0, 0]] * 3 + [[0, 1, 1]] * 2)
    model = AdaBoostMHClassifier(votes="real", initial_weights="uniform", n_estimators=1)
    with pytest.warns(FitWarning, match="learned nothing"):
        proba = model.fit(np.ones((8, 1)), y).predict_proba([[1.0]])
    np.testing.assert_allclose(proba, [[6 / 8, 5 / 8, 2 / 8]], atol=1e-5)


@pytest.mark.parametrize("initial_weights", ["balanced", "uniform"])
def test_link_of_the_exponential_loss(initial_weights):
    X, y = table(6, n=80, K=4)
    model = AdaBoostMHClassifier(initial_weights=initial_weights, n_estimators=5).fit(X, y)
    f = model.decision_function(X)
    odds = {"balanced": 3.0, "uniform": 1.0}[initial_weights]  # of the weights: 1/2 to 1/6
    alone = 1 / (1 + odds * np.exp(-2 * f))
    np.testing.assert_allclose(model.predict_proba(X), alone / alone.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


# --- many labels ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def texts():
    return make_multilabel_classification(
        300, 12, n_classes=5, n_labels=2, allow_unlabeled=True, random_state=0
    )


@every_base
def test_many_labels_are_learned(base, texts):
    X, y = texts
    model = AdaBoostMHClassifier(base=base, n_estimators=60, max_leaf_nodes=8).fit(X[:200], y[:200])
    assert model.multi_label_
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    predicted = model.predict(X[200:])
    assert predicted.shape == (100, 5)
    assert set(np.unique(predicted)) <= {0, 1}
    never = hamming_loss(y[200:], np.zeros_like(predicted))
    assert hamming_loss(y[200:], predicted) < 0.85 * never
    np.testing.assert_array_equal(predicted, (model.decision_function(X[200:]) > 0).astype(int))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, list])
@pytest.mark.parametrize("dtype", [bool, np.int8, float])
def test_indicator_matrices_of_every_kind(kind, dtype, texts):
    X, y = texts
    expected = AdaBoostMHClassifier(n_estimators=3).fit(X, y)
    given = y.astype(dtype).tolist() if kind is list else kind(y.astype(dtype))
    assert_same_model(AdaBoostMHClassifier(n_estimators=3).fit(X, given).model_, expected.model_)


def test_two_labels_are_not_two_classes():
    X, y = many_labels(0, K=2)
    model = AdaBoostMHClassifier(n_estimators=5).fit(X, y)
    assert model.decision_function(X).shape == (90, 2)
    assert model.predict_proba(X).shape == (90, 2)
    assert not np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.usefixtures("nothing_is_negligible")
@every_base
def test_weight_is_repetition_of_many_labels(base):
    X, y = many_labels(3)
    w, times = uneven_weights(3, len(y)), np.arange(len(y)) % 3 + 1
    make = {"base": base, "n_estimators": 4, "max_leaf_nodes": 5}
    weighted = AdaBoostMHClassifier(**make).fit(X, y, sample_weight=w * times)
    repeated = AdaBoostMHClassifier(**make).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times, axis=0), sample_weight=np.repeat(w, times)
    )
    np.testing.assert_array_equal(weighted.model_.threshold, repeated.model_.threshold)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@every_base
def test_fits_of_many_labels_resume(base):
    X, y = many_labels(4)
    once = AdaBoostMHClassifier(base=base, n_estimators=7).fit(X, y)
    twice = AdaBoostMHClassifier(base=base, n_estimators=3, warm_start=True).fit(X, y)
    assert_same_model(twice.set_params(n_estimators=7).fit(X, y).model_, once.model_)


@pytest.mark.parametrize("scoring", ["loss", "f1_micro", "accuracy"])
def test_early_stopping_of_many_labels(scoring, texts):
    X, y = texts
    model = AdaBoostMHClassifier(n_estimators=60, n_iter_no_change=5, scoring=scoring)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=sparse.csr_matrix(y[200:]))
    watched = model.history_["validation_score"]
    assert model.n_iter_ == watched.argmax() + 1
    if scoring == "loss":
        scores = model.decision_function(X[200:])
        margins = np.where(y[200:], scores, -scores) / np.sqrt((scores**2).mean())
        expected = -(1 / (1 + np.exp(2 * margins))).mean()
    elif scoring == "accuracy":
        expected = (model.predict(X[200:]) == y[200:]).all(axis=1).mean()
    else:
        both = (model.predict(X[200:]) & y[200:]).sum()
        expected = 2 * both / (model.predict(X[200:]).sum() + y[200:].sum())
    assert watched.max() == pytest.approx(expected)


def test_held_out_rows_of_many_labels(texts):
    X, y = texts
    model = AdaBoostMHClassifier(n_estimators=5, early_stopping=True, random_state=0).fit(X, y)
    assert len(model.history_["validation_score"]) == 5


BAD_INDICATORS = {
    "other values": (lambda y: y * 2, ["indicator matrix y", "only 0 and 1", "Got 2"]),
    "negative": (lambda y: 2 * y - 1, ["only 0 and 1", "Got -1"]),
    "missing": (lambda y: np.where(y, np.nan, 0.0), ["probabilities", "from 0 to 1", "nan"]),
    "sparse with other values": (lambda y: sparse.csr_matrix(3 * y), ["only 0 and 1", "Got 3"]),
    "words": (lambda y: np.where(y, "yes", "no"), ["only 0 and 1", "row 0, column 0"]),
    "label that never occurs": (lambda y: y * [1, 1, 0, 1], ["must occur", "Label 2 never"]),
    "too few rows": (lambda y: y[:-1], ["90 rows", "89", "inconsistent"]),
    "lists of labels": (lambda y: [np.flatnonzero(r).tolist() for r in y], ["MultiLabelBinarizer"]),
    "three dimensions": (lambda y: y[:, :, None], ["dim 3", "2"]),
}


@pytest.mark.parametrize(("change", "words"), BAD_INDICATORS.values(), ids=BAD_INDICATORS)
def test_bad_indicator_matrix_is_refused(change, words):
    X, y = many_labels(5)
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the words are checked below
        AdaBoostMHClassifier(n_estimators=2).fit(X, change(y))
    for word in words:
        assert word in str(caught.value)


def test_label_of_weightless_rows_never_occurs():
    X, y = many_labels(5)
    with pytest.raises(InvalidDataError, match=r"weight zero do not count.*Label 1 never"):
        AdaBoostMHClassifier().fit(X, y, sample_weight=1.0 - y[:, 1])


def test_label_may_be_missing_when_a_fit_resumes():
    X, y = many_labels(5)
    model = AdaBoostMHClassifier(n_estimators=2, warm_start=True).fit(X, y)
    model.set_params(n_estimators=4).fit(X, y * [1, 0, 1, 1])
    assert model.n_iter_ == 4


def test_validation_labels_must_have_as_many_columns():
    X, y = many_labels(5)
    with pytest.raises(InvalidDataError, match=r"y_val must have .* 4 labels. Got 3 columns"):
        AdaBoostMHClassifier(n_estimators=2).fit(X, y, X_val=X, y_val=y[:, :3])


def test_label_may_be_missing_from_the_validation_rows():
    X, y = many_labels(5)
    lacking = y * [1, 0, 1, 1]
    model = AdaBoostMHClassifier(n_estimators=2).fit(X, y, X_val=X, y_val=lacking)
    assert len(model.history_["validation_score"]) == 2


def test_class_weight_does_not_go_with_an_indicator_matrix():
    X, y = many_labels(5)
    with pytest.raises(InvalidParameterError, match=r"class_weight.*exclude each other.*balanced"):
        AdaBoostMHClassifier(class_weight="balanced").fit(X, y)


def test_labels_and_indicators_do_not_follow_each_other():
    X, y = many_labels(5)
    labels = np.arange(90) % 4
    for first, then, words in (
        (y, labels, "must be an indicator matrix.*Got a vector of labels"),
        (labels, y, "must be a vector of labels.*Got an indicator matrix"),
    ):
        model = AdaBoostMHClassifier(n_estimators=2, warm_start=True).fit(X, first)
        with pytest.raises(InvalidDataError, match=words):
            model.set_params(n_estimators=4).fit(X, then)
        assert model.n_iter_ == 2
        assert model.multi_label_ == (first.ndim == 2)


# --- features drawn at random -----------------------------------------------------------------


def features_of_rounds(model):
    rounds = range(model.n_iter_)
    return [{s[0] for tree in trees_of(model.model_, m) for s in tree if s} for m in rounds]


@every_base
@pytest.mark.parametrize(("max_features", "n_drawn"), [(1, 1), (3, 3), (0.5, 4), (0.01, 1)])
def test_rounds_use_the_features_drawn(base, max_features, n_drawn):
    X, y = table(7, n=150, K=3, d=8)
    model = AdaBoostMHClassifier(
        base=base, max_features=max_features, n_estimators=12, max_leaf_nodes=20, random_state=0
    ).fit(X, y)
    used = features_of_rounds(model)
    assert max(map(len, used)) <= n_drawn
    assert len(set().union(*used)) > n_drawn  # others in other rounds


def test_drawn_features_follow_the_random_state():
    X, y = table(7, n=150, K=3, d=8)
    make = {"max_features": 2, "n_estimators": 8}
    first, again, other = (
        AdaBoostMHClassifier(random_state=s, **make).fit(X, y).model_ for s in (0, 0, 1)
    )
    assert_same_model(first, again)
    assert not np.array_equal(first.feature, other.feature)


@every_base
def test_drawn_features_resume(base):
    X, y = table(7, n=150, K=3, d=8)
    make = {"base": base, "max_features": 3, "random_state": 4}
    once = AdaBoostMHClassifier(n_estimators=9, **make).fit(X, y)
    twice = AdaBoostMHClassifier(n_estimators=4, warm_start=True, **make).fit(X, y)
    assert_same_model(twice.set_params(n_estimators=9).fit(X, y).model_, once.model_)


# --- leaves -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "n", "K", "leaves"),
    [
        ("stump", 400, 3, 2),
        ("hamming_tree", 400, 2, 8),
        ("hamming_tree", 400, 5, 15),
        ("one_vs_all", 500, 3, 12),
        ("one_vs_all", 400, 3, 10),
        ("one_vs_all", 80, 3, 3),
    ],
)
def test_automatic_leaves(base, n, K, leaves):
    X = np.random.default_rng(0).normal(size=(n, 3))
    model = AdaBoostMHClassifier(base=base, n_estimators=1).fit(X, np.arange(n) % K).model_
    assert {len(tree) for tree in trees_of(model, 0)} == {2 * leaves - 1}


# --- classifiers of another library -----------------------------------------------------------

OTHERS = {
    "tree": DecisionTreeClassifier(max_depth=2),
    "random tree": DecisionTreeClassifier(max_depth=3, splitter="random", max_features=2),
    "logistic": LogisticRegression(),
    "bayes": GaussianNB(),
    "forest": RandomForestClassifier(3, max_depth=2),
}
every_other = pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)


@every_other
@pytest.mark.parametrize("K", [2, 4])
def test_other_classifiers_are_boosted(other, K):
    X, y = table(8, n=150, K=K)
    model = AdaBoostMHClassifier(base=other, n_estimators=8, random_state=0).fit(X, y)
    assert (model.history_["edge"] > 0).all()
    W, signs = first_weights(y, K, "balanced")
    risk = (W * np.exp(-signs * model.model_.scores(X, 1))).sum()
    assert model.history_["bound"][-1] == pytest.approx(risk, rel=1e-9)
    np.testing.assert_allclose(np.cumprod(model.history_["z"]), model.history_["bound"])
    assert model.score(X, y) > (np.bincount(y) / len(y)).max() + 0.2


@every_other
def test_other_classifiers_resume(other):
    X, y = table(9, n=120, K=3)
    once = AdaBoostMHClassifier(base=other, n_estimators=4, random_state=5).fit(X, y)
    twice = AdaBoostMHClassifier(base=other, n_estimators=2, random_state=5, warm_start=True)
    twice.fit(X, y).set_params(n_estimators=4).fit(X, y)
    np.testing.assert_array_equal(twice.decision_function(X), once.decision_function(X))
    for name in once.history_.keys() - {"seconds"}:
        np.testing.assert_array_equal(twice.history_[name], once.history_[name])


def test_other_classifiers_learn_many_labels():
    X, y = many_labels(6)
    X = np.nan_to_num(X)
    model = AdaBoostMHClassifier(base=DecisionTreeClassifier(max_depth=2), n_estimators=20)
    model.fit(X, y)
    assert hamming_loss(y, model.predict(X)) < 0.2
    assert len(list(model.staged_predict(X))) == model.n_iter_


@pytest.mark.parametrize("K", [2, 3, 5, 8])
def test_edge_is_at_least_the_guaranteed_share_of_the_weak_learners(K):
    """First round: the votes of largest mass turn an edge of delta into C_K delta or more."""
    bound = K / (3 * K - 4) if K % 2 == 0 else (K + 1) / (3 * K - 1)
    X, y = table(10, n=200, K=K, noise=0.4)
    W, signs = first_weights(y, K, "balanced")
    best = best_votes(W * signs, method="exact")
    assert best.mass >= bound - 1e-12
    pseudo = (W * signs) @ best.votes
    weak = DecisionTreeClassifier(max_depth=1, random_state=0)
    phi = weak.fit(X, np.sign(pseudo), sample_weight=np.abs(pseudo)).predict(X)
    delta = (phi * pseudo).sum() / np.abs(pseudo).sum()
    model = AdaBoostMHClassifier(base=weak, n_estimators=1).fit(X, y)
    assert model.history_["edge"][0] >= delta * best.mass - 1e-9 >= delta * bound - 2e-9


def test_factorised_stump_is_the_best_of_all_stumps():
    X, y = table(11, n=150, K=5)
    own = AdaBoostMHClassifier(base="stump", n_estimators=1).fit(X, y)
    other = AdaBoostMHClassifier(base=DecisionTreeClassifier(max_depth=1), n_estimators=1)
    assert own.history_["edge"][0] >= other.fit(X, y).history_["edge"][0] - 1e-9


def test_parts_of_a_pipeline_are_seeded_too():
    X, y = table(12, n=100, K=3)

    class TakesWeights(DecisionTreeClassifier):
        """A tree behind a scaler, which passes the weights on."""

        def __init__(self, part=None):
            self.part = part

        def fit(self, X, y, sample_weight=None):
            self.pipeline_ = make_pipeline(StandardScaler(), self.part)
            name = self.pipeline_.steps[-1][0]
            self.pipeline_.fit(X, y, **{f"{name}__sample_weight": sample_weight})
            return self

        def predict(self, X):
            return self.pipeline_.predict(X)

    part = DecisionTreeClassifier(max_depth=2, splitter="random", max_features=1)
    first, again, other = (
        AdaBoostMHClassifier(base=TakesWeights(part), n_estimators=5, random_state=s)
        .fit(X, y)
        .decision_function(X)
        for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert part.random_state is None  # the user's own is left alone


@pytest.mark.parametrize("other", [KNeighborsClassifier(), make_pipeline(GaussianNB())])
def test_other_classifiers_must_take_weights(other):
    with pytest.raises(InvalidParameterError) as caught:
        AdaBoostMHClassifier(base=other).fit(*table(0))
    for word in ("'base'", "AdaBoostMHClassifier", "sample_weight", type(other).__name__):
        assert word in str(caught.value)
