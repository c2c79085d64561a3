"""Every constructor parameter: what is refused, and what the error says."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.tree import DecisionTreeClassifier
from support import (
    CLASSIFIERS,
    EVERY_CLASSIFIER,
    LOGISTIC,
    OTHER_LOSS,
    assert_same_model,
    fitted_attributes,
    spelled,
)

import edgewise
from edgewise import InvalidParameterError

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 3

# parameter: (values refused, words the message must hold)
BAD = {
    "n_estimators": ([0, -1, 2.0, "10", None, True, np.nan], ["integer", "at least 1"]),
    "learning_rate": ([0, -0.1, np.nan, np.inf, "0.1", None, True, 11], ["number", "above 0"]),
    "max_leaf_nodes": ([1, 0, -3, 2.5, 70_000, "many"], ["integer", "2", "65535", "None"]),
    "max_depth": ([0, -1, 1.5, "deep"], ["integer", "at least 1", "None"]),
    "min_samples_leaf": ([0, 0.1, None, "1"], ["integer", "at least 1"]),
    "max_bins": ([1, 0, 1021, 10.0, None], ["integer", "2"]),
    "init": (["priors", None, 0, object()], ["'prior'", "'zero'"]),
    "class_weight": (["even", 3, [1, 2, 3], np.ones(3)], ["None", "'balanced'", "dict"]),
    "early_stopping": (["yes", None, 1, 0.5], ["True", "False", "'auto'"]),
    "validation_fraction": ([0, 1, 1.5, -0.1, np.nan, None], ["above 0", "below 1"]),
    "n_iter_no_change": ([0, -5, 1.0, None], ["integer", "at least 1"]),
    "scoring": ([3, ["loss"], None], ["'loss'", "scorer", "callable"]),
    "calibration": (["isotonic", True, 1], ["'priors'", "'temperature'", "'vector'", "None"]),
    "time_limit": ([0, -1.0, "1 h", True, float("nan")], ["above 0", "None"]),
    "on_interrupt": (["stop", None, True], ["'raise'", "'keep'"]),
    "warm_start": (["no", 1, None], ["True", "False"]),
    "random_state": (["seed", 1.5, -1], ["random_state"]),
    "n_jobs": ([0, 1.0, "2", True], ["None", "integer", "other than 0"]),
    "verbose": ([-1, 1.0, None, "loud"], ["integer", "at least 0"]),
    "categorical_features": ([0, "colour", 1.5, {"a": 1}], ["None", "column numbers", "bool"]),
}
OWN = {
    "l2_regularization": ([-1, -1e-9, np.nan, np.inf, "1", None, True], ["number", "at least 0"]),
    "min_gain": ([-0.1, np.nan, np.inf, "0", None, True], ["number", "at least 0"]),
    "max_delta": ([0, -1, np.nan, np.inf, "1", True], ["None", "number", "above 0"]),
    "subsample": ([0, -0.1, 1.1, np.nan, None, "half", True], ["above 0", "at most 1"]),
    "monotonic_cst": ([1, "up", 0.5, {1, 2}], ["None", "list", "dict", "-1, 0 or 1"]),
    "interaction_cst": (
        ["pairs", 1, [0, 1], [[]], {0, 1}, {"a": [0]}, ["ab"]],
        ["None", "'pairwise'", "'no_interactions'", "list of sets", "empty"],
    ),
    "loss": (["hinge", None, 1, print], ["'log_loss'", "value, gradient and hessian"]),
    "leaf": (["pairs", None, 2], ["'pair'", "'vector'"]),
    "search": ([0, -1, "all", None, 1.0], ["integer", "at least 1", "'exhaustive'"]),
    "gap": ([-1, 1.0, None], ["integer", "at least 0"]),
    "warmup": ([-1, 0.5, None], ["integer", "at least 0"]),
    "votes": (["binaries", None, 1], ["'binary'", "'ternary'", "'real'"]),
    "initial_weights": (["equal", None, 0.5], ["'balanced'", "'uniform'"]),
    "max_features": ([0, -1, 0.0, 1.5, "sqrt", True], ["integer", "at least 1", "None", "float"]),
    "splitter": (["worst", None, 1, True], ["'best'", "'random'"]),
    "projection": (["drawn", None, 0], ["'sampled'", "'exact'"]),
    "step": (["fixed", None, 0.1], ["'paper'", "'constant'"]),
    "cost": ([1.0, "dear", [1, 2, 3], [[0, 1], [1]]], ["None", "matrix", "row and column"]),
    "effort": (["much", None, 1], ["'fast'", "'default'", "'best'"]),
    "max_trees": ([0, -1, 2.5, "few", True], ["integer", "at least 1", "None"]),
    "order": ([1, "up", ["low"], {"low": 0}], ["None", "list", "from the lowest"]),
    "decision": (["f1", None, 1], ["'half'", "'micro_f1'", "'hamming'"]),
    "sketch": ([0, -1, 2.5, None, True], ["integer", "from 1 to 1000"]),
    "leaf_labels": ([0, -1, 2.5, "all", True], ["integer", "at least 1", "None"]),
    "pull": ([-1, np.nan, "1", None, True], ["number", "at least 0", "infinity"]),
    "n_layers": ([0, 5001, 2.0, None, "ten"], ["integer", "from 1 to 5000"]),
    "routing": (["drawn", None, 1], ["'expected'", "'random'"]),
    "base": (
        ["trees", None, 3, object(), DecisionTreeClassifier, LinearRegression()],
        ["tree'", "a classifier of scikit-learn's kind"],
    ),
}


# Ordinal and multi-label boosting have no calibration by class.
NARROWER = {
    classifier: {"calibration": (["vector"], ["'auto'", "None"])}
    for classifier in (edgewise.OrdinalBoostClassifier, edgewise.MultiLabelBoostClassifier)
}
NARROWER[edgewise.MultiLabelBoostClassifier]["pull"] = (
    [-1, np.nan, float("inf"), "1", None, True],
    ["number", "at least 0"],
)


def cases():
    for classifier in EVERY_CLASSIFIER:
        for name, (values, words) in (BAD | OWN | NARROWER.get(classifier, {})).items():
            if name in classifier().get_params():
                for value in values:
                    case = f"{classifier.__name__}-{name}-{spelled(value)}"
                    yield pytest.param(classifier, name, value, words, id=case)


@pytest.mark.parametrize(("classifier", "name", "value", "words"), list(cases()))
def test_bad_value_is_refused_with_a_clear_message(classifier, name, value, words):
    model = classifier(**{name: value})  # the constructor takes anything
    with pytest.raises(edgewise.InvalidParameterError) as caught:
        model.fit(X, Y)
    message = str(caught.value)
    assert f"{name!r}" in message
    assert classifier.__name__ in message
    assert repr(value) in message
    for word in words:
        assert word in message
    assert fitted_attributes(model) == set()


def test_every_parameter_has_bad_values():
    for classifier in EVERY_CLASSIFIER:
        assert set(classifier().get_params()) <= BAD.keys() | OWN.keys()


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_unknown_scorer_is_refused_even_if_it_is_not_used(classifier):
    with pytest.raises(ValueError, match="acuracy"):
        classifier(n_estimators=2, scoring="acuracy").fit(X, Y)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_unknown_parameter_is_refused(classifier):
    with pytest.raises(TypeError, match="num_leaves"):
        classifier(num_leaves=31)
    with pytest.raises(ValueError, match="num_leaves"):
        classifier().set_params(num_leaves=31)


GOOD = [
    {"n_estimators": np.int64(2)},
    {"learning_rate": np.float32(0.5)},
    {"learning_rate": 1},
    {"max_leaf_nodes": None},
    {"max_leaf_nodes": 65535},
    {"max_depth": 1},
    {"min_samples_leaf": 100},
    {"max_bins": 2},
    {"max_bins": 1020},
    {"class_weight": "balanced"},
    {"class_weight": {0: 1, 1: 2.5, 2: 1}},
    {"early_stopping": False},
    {"early_stopping": np.True_, "validation_fraction": 0.5},
    {"scoring": "accuracy", "early_stopping": True},
    {"scoring": make_scorer(accuracy_score), "early_stopping": True},
    {"random_state": np.random.RandomState(0), "early_stopping": True},
    {"n_jobs": -1},
    {"n_jobs": 3},
]


@pytest.mark.parametrize("parameters", GOOD, ids=spelled)
@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")  # of twelve rows
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_good_value_is_taken(classifier, parameters):
    model = classifier(**({"n_estimators": 2} | parameters)).fit(X, Y)
    assert model.predict_proba(X).shape == (12, 3)


@pytest.mark.parametrize("classifier", LOGISTIC)
def test_init_is_taken(classifier):
    start = classifier(n_estimators=1, init="zero").fit(X, Y).model_.start
    np.testing.assert_array_equal(start, np.zeros(3))


GOOD_OWN = {
    edgewise.AdaBoostMHClassifier: [
        {"base": "stump"},
        {"base": "product", "max_depth": 1},
        {"base": "product", "max_depth": 100},
        {"base": "one_vs_all"},
        {"base": DecisionTreeClassifier(max_depth=1)},
        {"votes": "ternary"},
        {"votes": "real", "base": "one_vs_all"},
        {"initial_weights": "uniform"},
    ],
    edgewise.MultiLabelBoostClassifier: [
        {"decision": "micro_f1"},
        {"sketch": 1, "random_state": 0},
        {"leaf_labels": None},
        {"pull": 0},
    ],
    edgewise.OrdinalBoostClassifier: [
        {"order": [2, 0, 1]},
        {"pull": 0},
        {"pull": float("inf")},
        {"calibration": None},
    ],
    edgewise.SAMMEClassifier: [{"base": "tree"}, {"base": DecisionTreeClassifier(max_depth=1)}],
    edgewise.SoftmaxBoostClassifier: [
        {"cost": 1 - np.eye(3)},
        {"cost": (1 - np.eye(3)).tolist()},
        {"projection": "exact", "step": "constant"},
        {"max_features": 1},
        {"max_features": 0.5},
        {"max_features": 1.0},
        {"max_features": 99},
    ],
}


@pytest.mark.parametrize(
    ("classifier", "parameters"),
    [(classifier, good) for classifier in GOOD_OWN for good in GOOD_OWN[classifier]],
    ids=spelled,
)
def test_good_value_of_its_own_is_taken(classifier, parameters):
    model = classifier(n_estimators=2, **parameters).fit(X, Y)
    assert model.predict_proba(X).shape == (12, 3)


AUTO = {
    "AOSOLogitBoostClassifier",
    "AdaBoostMHClassifier",
    "MultiLabelBoostClassifier",
    "OrdinalBoostClassifier",
    "SAMMEClassifier",
}


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_auto_is_a_number_of_leaves_for_some(classifier):
    model = classifier(n_estimators=1, max_leaf_nodes="auto")
    if classifier.__name__ in AUTO:
        model.fit(X, Y)
    else:
        with pytest.raises(edgewise.InvalidParameterError, match="max_leaf_nodes"):
            model.fit(X, Y)


def test_bad_parameter_leaves_the_fitted_model(make):
    model = make().fit(X, Y)
    before = model.model_
    with pytest.raises(edgewise.InvalidParameterError):
        model.set_params(learning_rate=-1).fit(X[:, :1], Y)
    assert model.model_ is before
    np.testing.assert_array_equal(model.predict(X), make().fit(X, Y).predict(X))


def test_class_weight_multiplies_sample_weight(make):
    w = np.linspace(1, 2, 12)
    by_class = make(class_weight={0: 1.0, 1: 2.0, 2: 4.0}).fit(X, Y, sample_weight=w)
    by_row = make().fit(X, Y, sample_weight=w * np.array([1.0, 2.0, 4.0])[Y])
    assert_same_model(by_class.model_, by_row.model_)


def test_balanced_classes_start_alike(make):
    uneven = np.repeat([0, 1, 2], [2, 3, 7])
    model, even = make(class_weight="balanced").fit(X, uneven), make().fit(X, Y)
    np.testing.assert_allclose(model.model_.start, even.model_.start, atol=1e-12)
    if not issubclass(make.func, OTHER_LOSS):  # whose scores are those of thresholds or labels
        np.testing.assert_allclose(model.model_.start, np.zeros(3), atol=1e-12)


def test_silent_unless_asked(make, capfd):
    make(verbose=0).fit(X, Y)
    assert capfd.readouterr() == ("", "")
    make(verbose=1).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert "6/6" in err
    assert make.func.__name__ in err


def test_verbose_does_not_change_the_model(make):
    assert_same_model(make(verbose=1).fit(X, Y).model_, make().fit(X, Y).model_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_depth", 10**10),
        ("max_leaf_nodes", 10**10),
        ("min_samples_leaf", 10**12),
        ("n_estimators", 10**20),
        ("n_iter_no_change", 2**31),
        ("learning_rate", 10**400),
        ("min_gain", 10**400),
        ("learning_rate", 10**5000),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else f"{value.bit_length()} bits",
)
def test_numbers_that_no_fit_can_use_are_refused(name, value):
    boost = edgewise.MARTClassifier(**{name: value})
    with pytest.raises(InvalidParameterError, match=name) as refused:
        boost.fit([[0.0], [1.0]], [0, 1])
    assert len(str(refused.value)) < 500


def test_long_values_are_shown_in_part():
    boost = edgewise.MARTClassifier(class_weight=[[]] * 100_000)
    with pytest.raises(InvalidParameterError) as refused:
        boost.fit([[0.0], [1.0]], [0, 1])
    assert len(str(refused.value)) < 1000
