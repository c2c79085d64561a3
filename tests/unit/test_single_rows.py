"""Rows one by one: the way around scikit-learn's checks, and trees side by side, change nothing."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from support import VARIANTS, nominal_table, table

import edgewise
from edgewise._data import features


@pytest.fixture(params=VARIANTS)
def fitted(request):
    X, y = nominal_table(2, n=150, missing=0.1)
    return VARIANTS[request.param](categorical_features=[0, 1]).fit(X, y), X


def test_a_row_alone_has_the_scores_it_has_among_others(fitted):
    model, X = fitted
    whole = model.decision_function(X)
    for n in (1, 2, 3, 4, 9):
        assert model.decision_function(X[-n:]).tobytes() == whole[-n:].tobytes()
    one_by_one = [model.predict_proba(X[i : i + 1])[0] for i in range(20)]
    np.testing.assert_array_equal(one_by_one, model.predict_proba(X)[:20])


@pytest.mark.parametrize(
    "given",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        lambda X: X.astype(">f8"),
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        pd.DataFrame,
    ],
)
def test_rows_that_are_not_plain_are_answered_alike(given):
    X, y = table(1)
    model = VARIANTS["logitboost"]().fit(X, y)
    assert features._is_plain(model, X)
    assert features._is_plain(model, X.astype(np.float32))
    assert not features._is_plain(model, given(X))
    np.testing.assert_array_equal(model.predict_proba(given(X)), model.predict_proba(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_errors_are_those_of_scikit_learn(dtype):
    X, y = table(1)
    model = VARIANTS["mart"]()
    with pytest.raises(NotFittedError):
        model.predict_proba(X)
    model.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but MARTClassifier is expecting 4"):
        model.predict_proba(X[:, :3].astype(dtype))
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.predict_proba(X[:0].astype(dtype))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        model.predict_proba(X[0].astype(dtype))


def test_names_that_rows_lack_are_still_warned_of():
    X, y = table(1)
    model = VARIANTS["mart"]().fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict_proba(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_proba(pd.DataFrame(X, columns=list("abcd")))


def test_an_array_for_a_model_of_categories_by_value():
    X, y = table(1)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(d=np.where(X[:, 3] > 0, "up", "down"))
    model = edgewise.MARTClassifier(n_estimators=3).fit(frame, y)
    assert not features._is_plain(model, X)
