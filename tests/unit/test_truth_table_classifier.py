"""TruthTableClassifier: its tables, folds and votes, special cases, and bad input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support import table, uneven_weights

from edgewise import InvalidDataError, InvalidParameterError
from edgewise._data.folds import content_folds
from edgewise.lab.truth_table import TruthTable
from edgewise.truth_table_classifier import TruthTableClassifier

NAMES = np.array(["apple", "fig", "pear"])


class Column(ClassifierMixin, BaseEstimator):
    """Predicts what a column of X says, whatever it was fitted to."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


def columns(M):
    return [(f"c{j}", Column(j)) for j in range(M)]


def kinds():
    return [
        ("lr", make_pipeline(StandardScaler(), LogisticRegression())),
        ("nb", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
    ]


def signs(seed, n=300, M=4):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    right = rng.random((n, M)) < rng.uniform(0.6, 0.85, size=M)
    return np.where(right, y[:, None], -y[:, None]), y


# --- tables and votes -------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_two_classes_are_one_table(loss, seed):
    X, y = signs(seed)
    model = TruthTableClassifier(columns(4), loss=loss).fit(X, y)
    expected = TruthTable.from_predictions(y, X)
    (made,) = model.tables_
    np.testing.assert_array_equal(made.codes, expected.codes)
    np.testing.assert_array_equal(made.counts, expected.counts)
    beta = expected.minimise(loss).beta
    np.testing.assert_array_equal(model.beta_, [beta])
    scores = sum(X[:, j] * beta[j] for j in range(4))  # in this order, as BLAS might not
    np.testing.assert_array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, 1, -1))
    chance = 1 / (1 + np.exp(-scores * (2 if loss == "exponential" else 1)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], chance, rtol=1e-12)
    assert model.is_unique_.tolist() == [True]
    assert model.smoothed_.tolist() == [False]


def test_many_classes_are_one_table_each(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=400)
    X = np.where(rng.random((400, 5)) < 0.6, y[:, None], rng.integers(3, size=(400, 5)))
    model = TruthTableClassifier(columns(5)).fit(X, y)
    assert len(model.tables_) == 3
    scores = np.empty((400, 3))
    for k in range(3):
        H = np.where(k == X, 1, -1)
        expected = TruthTable.from_predictions(np.where(y == k, 1, -1), H)
        np.testing.assert_array_equal(model.tables_[k].counts, expected.counts)
        scores[:, k] = H @ expected.minimise().beta
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(proba.argmax(axis=1), scores.argmax(axis=1))


def test_the_predictions_are_out_of_fold(wine):
    X, y = wine
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    model = TruthTableClassifier(kinds(), cv=cv).fit(X, NAMES[y])
    said = np.column_stack([cross_val_predict(e, X, NAMES[y], cv=cv) for _, e in kinds()])
    for k, made in enumerate(model.tables_):
        expected = TruthTable.from_predictions(
            np.where(y == k, 1, -1), np.where(said == NAMES[k], 1, -1)
        )
        np.testing.assert_array_equal(made.codes, expected.codes)
        np.testing.assert_array_equal(made.counts, expected.counts)
    assert model.classes_.tolist() == NAMES.tolist()
    assert model.score(X, NAMES[y]) > 0.95
    assert [type(e) for e in model.estimators_] == [type(e) for _, e in kinds()]


def test_no_vote_has_less_risk_than_the_minimiser(wine):
    X, y = wine
    model = TruthTableClassifier(kinds()).fit(X, y)
    for made, smoothed, minimum in zip(model.tables_, model.smoothed_, model.minima_, strict=True):
        used = made.smoothed(1.0) if smoothed else made
        for vote in np.random.default_rng(0).normal(size=(20, 3)) * 0.2 + minimum.beta:
            assert used.risk(vote) >= minimum.risk


def test_fitted_classifiers_are_taken_as_they_are():
    X, y = load_breast_cancer(return_X_y=True)
    fitted = [(name, e.fit(X[:200], y[:200])) for name, e in kinds()]
    model = TruthTableClassifier(fitted, cv="prefit").fit(X[200:], y[200:])
    assert model.estimators_[1] is fitted[1][1]
    said = np.column_stack([e.predict(X[200:]) for _, e in fitted])
    expected = TruthTable.from_predictions(y[200:], said)
    np.testing.assert_array_equal(model.tables_[0].counts, expected.counts)
    with pytest.raises(NotFittedError):
        TruthTableClassifier(kinds(), cv="prefit").fit(X, y)


def test_prefit_classifiers_may_know_more_classes():
    X = np.array([[0, 0], [1, 1], [2, 1], [1, 0], [0, 0], [1, 2]])
    y = np.array([0, 1, 1, 1, 0, 1])
    fitted = [(name, c.fit(X, [0, 1, 2, 0, 1, 2])) for name, c in columns(2)]
    model = TruthTableClassifier(fitted, cv="prefit").fit(X, y)
    expected = TruthTable.from_predictions(np.where(y == 1, 1, -1), np.where(X == 1, 1, -1))
    np.testing.assert_array_equal(model.tables_[0].counts, expected.counts)


def test_splits_may_overlap_or_leave_rows_out():
    X, y = signs(3)
    cv = ShuffleSplit(6, test_size=0.5, random_state=0)
    model = TruthTableClassifier(columns(4), cv=cv).fit(X, y)
    assert model.tables_[0].total == 6 * 150
    listed = TruthTableClassifier(columns(4), cv=list(cv.split(X))).fit(X, y)
    np.testing.assert_array_equal(listed.beta_, model.beta_)


def test_dropped_classifiers_have_no_column():
    X, y = signs(4, M=3)
    model = TruthTableClassifier(columns(3)).set_params(c1="drop").fit(X, y)
    assert model.beta_.shape == (1, 2)
    assert model.named_estimators_["c1"] == "drop"
    np.testing.assert_array_equal(
        model.beta_, TruthTableClassifier([columns(3)[0], columns(3)[2]]).fit(X, y).beta_
    )


# --- weights and folds ------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_weights_are_repetitions_and_order_does_not_matter(K, seed):
    X, y = table(seed, n=90, K=K)
    times = np.random.default_rng(seed).integers(0, 4, size=len(y))
    times[: 2 * K] = 1
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(90), times))
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    estimators = [("nb", GaussianNB()), ("usual", DummyClassifier()), ("tree", tree)]
    weighted = TruthTableClassifier(estimators).fit(X, y, sample_weight=times)
    repeated = TruthTableClassifier(estimators).fit(X[order], y[order])
    for a, b in zip(weighted.tables_, repeated.tables_, strict=True):
        np.testing.assert_array_equal(a.codes, b.codes)
        np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_allclose(weighted.beta_, repeated.beta_, atol=1e-12)


def test_weightless_rows_count_for_nothing_with_given_splits_too():
    X, y = signs(5)
    w = uneven_weights(0, len(y))
    w[::3] = 0
    cv = StratifiedKFold(3)
    model = TruthTableClassifier(columns(4), cv=cv).fit(X, y, sample_weight=w)
    expected = TruthTable.from_predictions(y, X, w)
    np.testing.assert_array_equal(model.tables_[0].codes, expected.codes)
    np.testing.assert_allclose(model.tables_[0].counts, expected.counts, rtol=1e-15)


def rows_of_every_kind():
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(60, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    words = np.array(["ant", "bee", "cat"])[rng.integers(3, size=60)]
    return {
        "numbers": X,
        "integers": np.nan_to_num(X).astype(np.int8),
        "sparse": scipy.sparse.csr_array(np.nan_to_num(X)),
        "words": words,
        "objects": np.column_stack([X.astype(object), words]),
        "frame": pd.DataFrame(X).assign(word=words, flag=X[:, 0] > 1),
        "images": np.nan_to_num(X).reshape(60, 2, 2),
    }


@pytest.mark.parametrize("kind", rows_of_every_kind())
def test_folds_depend_on_what_rows_hold(kind):
    X = rows_of_every_kind()[kind]
    codes = np.random.default_rng(1).integers(2, size=60)
    order = np.random.default_rng(2).permutation(60)
    take = X.iloc if isinstance(X, pd.DataFrame) else X
    folds, shuffled = content_folds(X, codes, 4), content_folds(take[order], codes[order], 4)
    assert [sorted(test) for _, test in folds] == [sorted(order[test]) for _, test in shuffled]
    for train, test in folds:
        assert sorted([*train, *test]) == list(range(60))
    held = np.concatenate([test for _, test in folds])
    assert len(held) == len(set(held)) == 60


def test_equal_examples_share_a_fold_and_classes_are_dealt_out_evenly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    codes = np.arange(200) % 4
    folds = content_folds(np.vstack([X, X]), np.tile(codes, 2), 5)
    for _, test in folds:
        assert set(test % 200) == set(test[test < 200])
        counts = np.bincount(np.tile(codes, 2)[test])
        assert counts.min() == counts.max() == 20


def test_signs_of_zero_and_sparse_storage_do_not_matter():
    dense = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [2.0, -0.0], [3.0, 4.0]])
    stored = scipy.sparse.csr_array(([1.0, 0.0, 2.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    codes = np.zeros(5, dtype=int)
    for _, test in content_folds(dense, codes, 3):
        assert {0, 1} & set(test) in (set(), {0, 1})
        assert {2, 3} & set(test) in (set(), {2, 3})
    from edgewise._data.folds import _row_hashes  # noqa: PLC0415

    plain = scipy.sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
    np.testing.assert_array_equal(_row_hashes(stored), _row_hashes(plain))


def test_a_class_of_one_row_stays_in_training():
    X, y = table(0, n=60, K=2)
    y[7] = 2
    model = TruthTableClassifier([("nb", GaussianNB()), ("t", DecisionTreeClassifier())]).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert {t.total for t in model.tables_} == {59.0}
    with pytest.raises(InvalidDataError, match="two distinct rows"):
        TruthTableClassifier([("nb", GaussianNB())]).fit([[0.0], [1.0]], [0, 1])


# --- minima that do not exist or are not unique -----------------------------------------------


def test_a_perfect_classifier_is_smoothed():
    X, y = signs(6, n=50, M=3)
    X[:, 1] = y
    model = TruthTableClassifier(columns(3)).fit(X, y)
    assert model.smoothed_.tolist() == [True]
    assert model.beta_[0].argmax() == 1
    assert model.score(X, y) == 1.0
    np.testing.assert_array_equal(model.beta_[0], model.tables_[0].smoothed(1.0).minimise().beta)
    bolder = TruthTableClassifier(columns(3), pseudo_count=0.01).fit(X, y)
    assert bolder.beta_[0, 1] > model.beta_[0, 1]


def test_twins_share_their_coefficient():
    X, y = signs(7, M=3)
    twins = TruthTableClassifier([*columns(3), ("again", Column(0))]).fit(X, y)
    single = TruthTableClassifier(columns(3)).fit(X, y)
    assert twins.is_unique_.tolist() == [False]
    np.testing.assert_allclose(twins.beta_[0, [0, 3]], single.beta_[0, 0] / 2, rtol=1e-9)
    np.testing.assert_array_equal(twins.predict(X), single.predict(X))
    assert np.isnan(twins.kappa_).all()


def test_kappa(seed):
    X, y = signs(seed)
    model = TruthTableClassifier(columns(4)).fit(X, y)
    found = model.tables_[0].stability()
    np.testing.assert_array_equal(model.kappa_, [[found.lower, found.upper]])
    assert 0 < found.lower <= found.upper
    assert model.kappa_ is model.kappa_  # computed once
    wide, labels = signs(seed, n=80, M=11)
    occupied = TruthTableClassifier(columns(11)).fit(wide, labels)
    expected = occupied._used_tables[0].stability(cells="occupied")
    np.testing.assert_array_equal(occupied.kappa_, [[expected.lower, expected.upper]])


def test_ties_go_to_the_first_class():
    X = np.array([[1, -1], [-1, 1], [1, 1], [-1, -1], [1, 1], [-1, -1]])
    y = np.array([1, 1, 1, -1, -1, 1])
    fitted = [(n, c.fit(X, y)) for n, c in columns(2)]
    model = TruthTableClassifier(fitted, cv="prefit").fit(X, y)
    assert model.decision_function([[1, -1]])[0] == 0
    assert model.predict([[1, -1]])[0] == -1
    np.testing.assert_array_equal(model.predict_proba([[1, -1]]), [[0.5, 0.5]])


# --- bad input --------------------------------------------------------------------------------

X2, Y2 = signs(0, n=40, M=2)
BAD = {
    "no list": ({"estimators": GaussianNB()}, {}, ["list of pairs", "GaussianNB()"]),
    "no names": ({"estimators": [GaussianNB()]}, {}, ["pairs (name, classifier)"]),
    "nothing": ({"estimators": []}, {}, ["1 to 60", "Got 0"]),
    "all dropped": ({"estimators": [("a", "drop")]}, {}, ["not dropped", "Got 0"]),
    "too many": ({"estimators": columns(61)}, {}, ["1 to 60", "Got 61"]),
    "regressor": ({"estimators": [("r", LinearRegression())]}, {}, ["classifiers", "'r'"]),
    "loss": ({"loss": "hinge"}, {}, ["'exponential', 'logistic'", "'hinge'"]),
    "convexity": ({"loss": lambda x: 2 / (1 + np.exp(x))}, {}, ["strictly convex", "x = 0"]),
    "cv": ({"cv": 1}, {}, ["'cv'", "at least 2", "Got 1"]),
    "cv of words": ({"cv": "loo"}, {}, ["'prefit'", "'loo'"]),
    "pseudo_count": ({"pseudo_count": 0}, {}, ["'pseudo_count'", "above 0"]),
    "n_jobs": ({"n_jobs": 0}, {}, ["'n_jobs'", "other than 0"]),
    "weights for neighbours": (
        {"estimators": [("knn", KNeighborsClassifier())]},
        {"sample_weight": np.ones(40)},
        ["sample_weight", "'knn'", "routing"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters(case):
    params, given, words = BAD[case]
    model = TruthTableClassifier(**({"estimators": columns(2)} | params))
    with pytest.raises(InvalidParameterError) as error:
        model.fit(X2, Y2, **given)
    for word in words:
        assert word in str(error.value), word


BAD_DATA = {
    "one class": (X2, np.ones(40), {}, ["two classes", "one class only"]),
    "lengths": (X2, Y2[:-1], {}, ["inconsistent"]),
    "missing label": (X2, np.where(np.arange(40) == 3, np.nan, Y2), {}, ["NaN", "row 3"]),
    "negative weight": (X2, Y2, {"sample_weight": -np.ones(40)}, ["not be negative"]),
    "no weight": (X2, Y2, {"sample_weight": np.zeros(40)}, ["at least one non-zero"]),
    "no rows": (X2[:0], Y2[:0], {}, ["0 sample(s)"]),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(case):
    X, y, given, words = BAD_DATA[case]
    with pytest.raises(ValueError, match=".") as error:
        TruthTableClassifier(columns(2)).fit(X, y, **given)
    for word in words:
        assert word in str(error.value), word


def test_repeated_names():
    with pytest.raises(ValueError, match="not unique"):
        TruthTableClassifier([("a", GaussianNB()), ("a", GaussianNB())]).fit(X2, Y2)


def test_predictions_of_two_dimensions():
    class Pairs(Column):
        def predict(self, X):
            return np.asarray(X)

    with pytest.raises(InvalidDataError, match=r"one label for each row.*\(\d+, 2\)"):
        TruthTableClassifier([("pairs", Pairs())]).fit(X2, Y2)


def test_nothing_works_before_fit():
    model = TruthTableClassifier(columns(2))
    for name in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(model, name)(X2)
    assert not hasattr(model, "kappa_")
    assert not hasattr(model, "n_features_in_")


def test_a_failed_fit_leaves_the_old_model():
    model = TruthTableClassifier(columns(2)).fit(X2, Y2)
    before = model.predict_proba(X2)
    with pytest.raises(ValueError, match="negative"):
        model.fit(X2, Y2, sample_weight=-np.ones(40))
    np.testing.assert_array_equal(model.predict_proba(X2), before)
