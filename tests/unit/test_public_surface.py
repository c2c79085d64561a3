"""The public names, and nothing else."""

import inspect
import subprocess
import sys

import pytest
from support import CLASSIFIERS, EVERY_CLASSIFIER

import edgewise
from edgewise._families.logistic import LogisticBooster

PUBLIC = [
    "ABCLogitBoostClassifier",
    "ABCMARTClassifier",
    "AOSOLogitBoostClassifier",
    "AdaBoostMHClassifier",
    "AutoBoostClassifier",
    "ClassHierarchy",
    "CostWarning",
    "EdgewiseError",
    "Finding",
    "FitWarning",
    "InvalidDataError",
    "InvalidParameterError",
    "LogitBoostClassifier",
    "MARTClassifier",
    "MartiBoostClassifier",
    "ModelFormatError",
    "MultiLabelBoostClassifier",
    "NewtonBoostClassifier",
    "OrdinalBoostClassifier",
    "PermutationImportances",
    "SAMMEClassifier",
    "SoftmaxBoostClassifier",
    "Suspicion",
    "TruthTableClassifier",
    "data_findings",
    "estimate_memory",
    "expected_cost",
    "expected_cost_scorer",
    "load",
    "minimum_cost_labels",
    "permutation_importances",
    "suspicious_rows",
]

SHARED = {
    "n_estimators", "learning_rate", "max_leaf_nodes", "max_depth", "min_samples_leaf", "max_bins",
    "class_weight", "early_stopping", "validation_fraction", "n_iter_no_change", "scoring",
    "warm_start", "random_state", "n_jobs", "verbose", "categorical_features", "time_limit",
    "on_interrupt", "min_gain", "interaction_cst", "max_features", "splitter",
}  # fmt: skip
OWN = {
    "ABCLogitBoostClassifier": {"search", "gap", "warmup"},
    "ABCMARTClassifier": {"search", "gap", "warmup"},
    "AOSOLogitBoostClassifier": {"leaf"},
    "AdaBoostMHClassifier": {"base", "votes", "initial_weights"},
    "MultiLabelBoostClassifier": {"decision", "sketch", "leaf_labels", "pull"},
    "NewtonBoostClassifier": {"loss"},
    "OrdinalBoostClassifier": {"order", "pull"},
    "SAMMEClassifier": {"base"},
    "SoftmaxBoostClassifier": {"cost", "projection", "step"},
}
LOGISTIC_OWN = {
    "init",
    "calibration",
    "l2_regularization",
    "max_delta",
    "subsample",
    "monotonic_cst",
}
FIT = ["X", "y", "sample_weight", "X_val", "y_val", "sample_weight_val"]


def test_public_names():
    assert edgewise.__all__ == PUBLIC
    modules = {name for name, value in vars(edgewise).items() if inspect.ismodule(value)}
    others = {name for name in dir(edgewise) if not name.startswith("_")} - modules
    assert others - {"TYPE_CHECKING", "Any"} == set(PUBLIC)


def test_every_classifier_was_found():
    names = [c.__name__ for c in EVERY_CLASSIFIER]
    combining = ["TruthTableClassifier"]
    assert names + combining == [n for n in PUBLIC if n.endswith("Classifier")]
    assert set(EVERY_CLASSIFIER) - set(CLASSIFIERS) == {
        edgewise.AutoBoostClassifier,
        edgewise.MartiBoostClassifier,
    }


def test_version():
    assert edgewise.__version__.count(".") == 2


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_parameters_are_keyword_only_and_few(classifier):
    parameters = inspect.signature(classifier).parameters
    of_family = LOGISTIC_OWN if issubclass(classifier, LogisticBooster) else set()
    if classifier is edgewise.MultiLabelBoostClassifier:  # no direction of labels is constrained
        of_family = of_family - {"monotonic_cst"}
    assert set(parameters) == SHARED | of_family | OWN.get(classifier.__name__, set())
    assert {p.kind for p in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    with pytest.raises(TypeError, match="n_estimator"):
        classifier(n_estimator=3)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_fit_signature(classifier):
    own = ["costs"] if classifier is edgewise.SoftmaxBoostClassifier else []
    assert list(inspect.signature(classifier().fit).parameters) == FIT + own


@pytest.mark.parametrize("classifier", EVERY_CLASSIFIER)
def test_public_names_are_documented(classifier):
    assert inspect.getdoc(classifier)
    for name, member in inspect.getmembers(classifier, inspect.isfunction):
        if not name.startswith("_") and member.__module__.startswith("edgewise"):
            assert inspect.getdoc(member), name


def test_errors_are_value_errors():
    for error in (edgewise.InvalidDataError, edgewise.InvalidParameterError):
        assert issubclass(error, edgewise.EdgewiseError)
        assert issubclass(error, ValueError)


def test_import_loads_no_reference():
    code = "import sys, edgewise; print([m for m in sys.modules if m.startswith('edgewise.ref')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
