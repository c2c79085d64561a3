"""scikit-learn's contract: its own checks, pipelines, searches, copies, metadata routing."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from support import (
    CLASSIFIERS,
    EVERY_CLASSIFIER,
    assert_same_model,
    fitted_attributes,
    table,
    uneven_weights,
)

import edgewise

every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")  # of classes with one row
@parametrize_with_checks([classifier() for classifier in EVERY_CLASSIFIER])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")  # of labels that are noise
@parametrize_with_checks([edgewise.AOSOLogitBoostClassifier(leaf="vector")])
def test_scikit_learn_contract_of_vector_leaves(estimator, check):
    check(estimator)


# --- searches and pipelines -------------------------------------------------------------------


@every_classifier
def test_grid_search_over_a_pipeline_with_string_labels(classifier, iris):
    X, y = iris[0].copy(), NAMES[iris[1]]
    X[::7, 1] = np.nan
    search = GridSearchCV(
        make_pipeline(StandardScaler(), classifier(n_estimators=8)),
        {
            f"{classifier.__name__.lower()}__learning_rate": [0.1, 0.5],
            f"{classifier.__name__.lower()}__max_leaf_nodes": [2, 6],
        },
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        error_score="raise",
    )
    search.fit(X, y)
    assert search.best_score_ > 0.85
    assert set(search.predict(X)) == set(NAMES)
    assert search.classes_.tolist() == NAMES.tolist()


@every_classifier
def test_parallel_grid_search_gives_the_same_model(classifier, iris):
    X, y = iris
    grid = {"learning_rate": [0.1, 0.5]}
    serial, parallel = (
        GridSearchCV(classifier(n_estimators=5, random_state=0), grid, cv=3, n_jobs=n_jobs).fit(
            X, y
        )
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(
        serial.cv_results_["mean_test_score"], parallel.cv_results_["mean_test_score"]
    )
    assert_same_model(serial.best_estimator_.model_, parallel.best_estimator_.model_)


@every_classifier
def test_inside_other_estimators(classifier, wine):
    X, y = wine
    small = classifier(n_estimators=5, max_leaf_nodes=4)
    assert cross_val_score(small, X, y, cv=3).min() > 0.7
    assert CalibratedClassifierCV(small, cv=2).fit(X, y).score(X, y) > 0.8
    assert (
        VotingClassifier([("one", small), ("two", clone(small))], voting="soft")
        .fit(X, y)
        .score(X, y)
        > 0.8
    )


@every_classifier
def test_data_frames(classifier, iris):
    X, y = pd.DataFrame(iris[0], columns=list("abcd")), pd.Series(NAMES[iris[1]], dtype="category")
    model = classifier(n_estimators=3, random_state=0).fit(X, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.n_features_in_ == 4
    plain = classifier(n_estimators=3, random_state=0).fit(X.to_numpy(), np.asarray(y))
    assert_same_model(model.model_, plain.model_)


# --- copies -----------------------------------------------------------------------------------


def copies(model):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(model, protocol))
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    yield joblib.load(buffer)


def test_pickle_keeps_every_bit(make, gappy):
    X, y = gappy
    model = make().fit(X, y)
    expected = model.predict_proba(X)
    for copy in copies(model):
        assert_same_model(copy.model_, model.model_)
        assert fitted_attributes(copy) == fitted_attributes(model)
        np.testing.assert_array_equal(copy.predict_proba(X), expected)
        np.testing.assert_array_equal(copy.feature_importances_, model.feature_importances_)
        assert copy.get_params() == model.get_params()


def test_models_load_from_read_only_memory(make, gappy, tmp_path):
    X, y = gappy
    model = make().fit(X, y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict_proba(X), model.predict_proba(X))


def test_unpickled_model_resumes(make, gappy):
    X, y = gappy
    model = make(n_estimators=3, warm_start=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(model)).set_params(n_estimators=6).fit(X, y)
    assert_same_model(copy.model_, make(n_estimators=6).fit(X, y).model_)
    assert model.n_iter_ == 3  # the original is as it was


def test_clone_has_parameters_and_nothing_fitted(make, gappy):
    X, y = gappy
    model = make(class_weight={0: 1, 1: 2, 2: 3}).fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert fitted_attributes(copy) == set()
    assert_same_model(copy.fit(X, y).model_, model.model_)


@every_classifier
def test_parameters_show_in_the_representation(classifier):
    assert repr(classifier(learning_rate=0.25)) == f"{classifier.__name__}(learning_rate=0.25)"


@every_classifier
def test_tags(classifier):
    assert is_classifier(classifier())
    tags = classifier().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.classifier_tags.multi_class


# --- metadata routing -------------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_through_a_pipeline(make, gappy):
    X, y = gappy
    w = uneven_weights(0, len(y))
    pipeline = make_pipeline(SimpleImputer(), make().set_fit_request(sample_weight=True))
    pipeline.fit(X, y, sample_weight=w)
    direct = make().fit(SimpleImputer().fit_transform(X), y, sample_weight=w)
    assert_same_model(pipeline[-1].model_, direct.model_)


@pytest.mark.usefixtures("routing")
def test_validation_set_is_transformed_on_its_way_through_a_pipeline(make):
    X, y = table(0, n=150, K=3)
    X_val, y_val = table(1, n=80, K=3)
    w = uneven_weights(0, len(y_val))
    model = make(n_estimators=40, n_iter_no_change=3).set_fit_request(
        X_val=True, y_val=True, sample_weight_val=True
    )
    pipeline = Pipeline([("scale", StandardScaler()), ("model", model)], transform_input=["X_val"])
    pipeline.fit(X, y, X_val=X_val, y_val=y_val, sample_weight_val=w)
    scaler = StandardScaler().fit(X)
    direct = make(n_estimators=40, n_iter_no_change=3).fit(
        scaler.transform(X),
        y,
        X_val=scaler.transform(X_val),
        y_val=y_val,
        sample_weight_val=w,
    )
    assert_same_model(pipeline[-1].model_, direct.model_)
    np.testing.assert_array_equal(
        pipeline[-1].history_["validation_score"], direct.history_["validation_score"]
    )


@pytest.mark.usefixtures("routing")
@every_classifier
def test_weights_are_routed_through_a_search(classifier, iris):
    X, y = iris
    model = classifier(n_estimators=3, random_state=0).set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    w = uneven_weights(0, len(y))
    search = GridSearchCV(model, {"learning_rate": [0.5]}, cv=2).fit(X, y, sample_weight=w)
    direct = classifier(n_estimators=3, learning_rate=0.5, random_state=0).fit(
        X, y, sample_weight=w
    )
    assert_same_model(search.best_estimator_.model_, direct.model_)
