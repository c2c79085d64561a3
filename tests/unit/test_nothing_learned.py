"""A fit of no rounds warns; leaves follow the rows, so that few rows are enough to learn from."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from support import CLASSIFIERS, LOGISTIC, VARIANTS, table

import edgewise
from edgewise import FitWarning
from edgewise._families.logistic import auto_leaf_size

every_variant = pytest.mark.parametrize("variant", VARIANTS)


@every_variant
def test_columns_that_do_not_vary(variant):
    X, y = np.ones((60, 2)), np.arange(60) % 3
    with pytest.warns(FitWarning, match="learned nothing: .*Check that the columns") as told:
        model = VARIANTS[variant]().fit(X, y)
    assert [w.filename for w in told] == [__file__]
    proba = model.predict_proba(X)
    assert (proba == proba[0]).all()


@every_variant
def test_early_stopping_that_keeps_no_round(variant):
    X, y = table(0, noise=0.0)
    elsewhere = (y + 1) % 3  # whatever is learned is wrong
    with pytest.warns(FitWarning, match="no round has a better validation score"):
        model = VARIANTS[variant]().fit(X, y, X_val=X, y_val=elsewhere)
    assert model.n_iter_ == 0


@pytest.mark.parametrize(
    "model",
    [
        edgewise.SAMMEClassifier(base=LogisticRegression()),
        edgewise.AdaBoostMHClassifier(base=LogisticRegression()),
    ],
    ids=["samme", "mh"],
)
def test_other_classifiers_that_are_no_better_than_chance(model):
    X, y = np.zeros((32, 1)), np.arange(32) % 4
    with pytest.warns(FitWarning, match="learned nothing"):
        assert model.fit(X, y).n_iter_ == 0


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_leaves_that_are_too_large(classifier):
    X, y = table(0, n=38)
    model = classifier(n_estimators=3, min_samples_leaf=20, min_gain=0.5)
    with pytest.warns(FitWarning, match="and lower min_samples_leaf=20 and min_gain=0.5"):
        model.fit(X, y)


def test_weight_of_one_class_only():
    X, y = table(0, K=2)
    model = edgewise.MARTClassifier(n_estimators=3, class_weight={0: 1.0, 1: 1e-13})
    with pytest.warns(FitWarning, match="nothing left to learn.*check class_weight"):
        model.fit(X, y)


def test_program_without_a_split():
    with pytest.warns(FitWarning, match="no tree has a split") as told:
        edgewise.MartiBoostClassifier(n_layers=3).fit(np.ones((6, 1)), [0, 1, 0, 1, 0, 1])
    assert [w.filename for w in told] == [__file__]


def test_warning_taken_as_an_error_leaves_the_old_model():
    X, y = table(0)
    model = VARIANTS["mart"]().fit(X, y)
    before = model.model_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FitWarning):
            model.fit(np.ones_like(X), y)
    assert model.model_ is before


# --- leaves -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "n_rarest", "size"),
    [
        (38, 12, 1),
        (100, 30, 2),
        (150, 50, 3),
        (600, 200, 12),
        (1000, 40, 20),
        (10**6, 10**5, 20),
        (5000, 30, 15),
        (5000, 15, 7),
        (5000, 1, 5),
        (120, 1, 2),
    ],
)
def test_rows_of_a_leaf(n_rows, n_rarest, size):
    assert auto_leaf_size(n_rows, n_rarest) == size


@pytest.mark.parametrize("classifier", LOGISTIC)
def test_leaves_follow_the_rows_and_the_rarest_class(classifier):
    X, y = table(1, n=700, K=3)
    y[np.flatnonzero(y == 2)[16:]] = 0  # 16 rows are left
    few = {"n_estimators": 3}
    auto, eight, twenty = (
        classifier(min_samples_leaf=size, **few).fit(X, y).predict_proba(X)
        for size in ("auto", 8, 20)
    )
    np.testing.assert_array_equal(auto, eight)
    assert (auto != twenty).any()
    assert classifier().min_samples_leaf == "auto"


@pytest.mark.parametrize("classifier", LOGISTIC)
def test_a_quarter_of_iris_is_enough(classifier, iris):
    X, y = iris
    model = classifier(n_estimators=20).fit(X[::4], y[::4])
    assert model.n_iter_ > 0
    assert model.score(X, y) > 0.85


def test_leaves_of_rows_with_soft_labels():
    X, y = table(2, n=700, K=3)
    soft = 0.8 * np.eye(3)[y] + 0.2 / 3
    auto, given = (
        edgewise.LogitBoostClassifier(n_estimators=3, min_samples_leaf=size).fit(X, soft)
        for size in ("auto", 14)
    )
    np.testing.assert_array_equal(auto.predict_proba(X), given.predict_proba(X))
