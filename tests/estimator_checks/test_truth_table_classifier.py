"""TruthTableClassifier and scikit-learn's contract: its checks, searches, copies, routing."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from support import fitted_attributes, table, uneven_weights

from edgewise.truth_table_classifier import TruthTableClassifier


def two(**params):
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    return TruthTableClassifier([("nb", GaussianNB()), ("tree", tree)], **({"cv": 3} | params))


@parametrize_with_checks([two()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_grid_search_reaches_into_the_classifiers(wine):
    X, y = wine
    grid = {
        "loss": ["exponential", "logistic"],
        "tree__max_depth": [1, 3],
        "nb": ["drop", GaussianNB()],
    }
    search = GridSearchCV(two(), grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.85
    assert len(search.cv_results_["params"]) == 8


def test_inside_a_pipeline(wine):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), two())
    assert cross_val_score(pipeline, X, y, cv=2).min() > 0.85


def test_data_frames_with_text_reach_the_classifiers_as_they_are():
    X, y = table(0, n=120, K=3)
    frame = pd.DataFrame({"number": X[:, 0], "colour": np.where(X[:, 3] > 0, "red", "blue")})
    inner = make_pipeline(OneHotEncoder(), DecisionTreeClassifier(max_depth=2, random_state=0))
    model = TruthTableClassifier(
        [("words", inner), ("more", clone(inner).set_params(decisiontreeclassifier__max_depth=1))]
    )
    frame["number"] = frame["number"].round(0)
    inner.set_params(onehotencoder__handle_unknown="ignore")
    model.set_params(more__onehotencoder__handle_unknown="ignore").fit(frame, y)
    assert set(model.predict(frame)) <= set(y)


def test_names_and_numbers_of_features(wine):
    frame = pd.DataFrame(wine[0]).add_prefix("x")
    model = two().fit(frame, wine[1])
    assert model.n_features_in_ == 13
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert not hasattr(model.fit(*wine), "feature_names_in_")


def test_sparse_rows(wine):
    X, y = np.where(wine[0] > np.median(wine[0], axis=0), wine[0], 0.0), wine[1]
    trees = [(f"t{d}", DecisionTreeClassifier(max_depth=d, random_state=0)) for d in (2, 3)]
    model = TruthTableClassifier(trees)
    assert model.__sklearn_tags__().input_tags.sparse
    assert not two().__sklearn_tags__().input_tags.sparse  # naive Bayes is not for sparse rows
    fitted = model.fit(scipy.sparse.csr_array(X), y)
    assert fitted.score(scipy.sparse.csc_array(X), y) > 0.8


def test_copies_keep_every_bit(wine):
    X, y = wine
    model = two().fit(X, y)
    kappa = model.kappa_
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(copy.kappa_, kappa)
    assert fitted_attributes(clone(model)) == set()


def test_number_of_jobs_changes_nothing(wine):
    X, y = wine
    with joblib.parallel_config("threading"):
        parallel = two(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(parallel.beta_, two().fit(X, y).beta_)


def test_tags_and_names():
    assert is_classifier(two())
    assert set(two().named_estimators) == {"nb", "tree"}
    assert repr(two(loss="logistic")).startswith("TruthTableClassifier(cv=3,")


# --- metadata routing -------------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_go_to_the_classifiers_that_request_them():
    X, y = table(1, n=120, K=2)
    w = uneven_weights(1, len(y))
    model = TruthTableClassifier(
        [
            ("knn", KNeighborsClassifier()),
            ("with", GaussianNB().set_fit_request(sample_weight=True)),
            ("without", GaussianNB().set_fit_request(sample_weight=False)),
        ]
    ).fit(X, y, sample_weight=w)
    weighted, plain = GaussianNB().fit(X, y, sample_weight=w), GaussianNB().fit(X, y)
    np.testing.assert_array_equal(model.named_estimators_["with"].theta_, weighted.theta_)
    np.testing.assert_array_equal(model.named_estimators_["without"].theta_, plain.theta_)
    assert model.tables_[0].total == pytest.approx(w.sum())


@pytest.mark.usefixtures("routing")
def test_weights_arrive_through_a_pipeline():
    X, y = table(2, n=120, K=3)
    w = uneven_weights(2, len(y))
    asked = [
        (name, e.set_fit_request(sample_weight=True))
        for name, e in [("lr", LogisticRegression()), ("nb", GaussianNB())]
    ]
    inner = TruthTableClassifier(asked).set_fit_request(sample_weight=True)
    pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
    pipeline.fit(X, y, sample_weight=w)
    direct = TruthTableClassifier(asked).fit(StandardScaler().fit_transform(X), y, w)
    np.testing.assert_array_equal(pipeline[-1].beta_, direct.beta_)
