"""Names that were probably meant, counts, and values as messages show them."""

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import edgewise
from edgewise._ground.params import shown
from edgewise._ground.wording import EQUIVALENTS, counted, did_you_mean


def test_no_text_is_cut_off():
    """A string on a line of its own that is no docstring is the lost rest of the one above."""
    for path in sorted(Path(edgewise.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            lines = getattr(node, "body", None)
            for line in lines[1:] if isinstance(lines, list) else []:
                lost = isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
                assert not lost or line.value.value is ..., f"{path.name}, line {line.lineno}"


def test_counts_are_grammatical():
    assert counted(1, "round") == "1 round"
    assert counted(0, "class", "classes") == "0 classes"


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("num_leaves", "max_leaf_nodes"),
        ("eta", "learning_rate"),
        ("reg_lambda", "l2_regularization"),
        ("max_iter", "n_estimators"),
        ("learning_rat", "learning_rate"),
        ("Max_Depth", "max_depth"),
    ],
)
def test_constructors_name_the_parameter_that_was_meant(word, wanted):
    with pytest.raises(TypeError, match=f"has no parameter '{word}'. Did you mean '{wanted}'?"):
        edgewise.AOSOLogitBoostClassifier(**{word: 1})


def test_every_equivalent_is_a_parameter_of_a_booster():
    known = set(edgewise.LogitBoostClassifier().get_params())
    assert set(EQUIVALENTS.values()) <= known
    assert not set(EQUIVALENTS) & known


def test_an_equivalent_is_not_suggested_to_an_estimator_without_it():
    with pytest.raises(TypeError) as caught:
        edgewise.SAMMEClassifier(reg_lambda=1)
    assert "l2_regularization" not in str(caught.value)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("objective", "The class of the estimator determines the loss."),
        ("reg_alpha", "There is no L1 penalty"),
        ("device", "edgewise runs on CPUs only."),
        ("eval_set", "Pass X_val and y_val to fit."),
    ],
)
def test_parameters_without_an_equivalent_are_explained(word, hint):
    with pytest.raises(TypeError, match=f"has no parameter '{word}'. {hint}"):
        edgewise.LogitBoostClassifier(**{word: 1})


@pytest.mark.parametrize("word", ["n_estimators", "learning_rate", "num_leaves"])
def test_auto_boost_names_the_estimators_that_have_a_parameter(word):
    with pytest.raises(TypeError, match="single boosters such as AOSOLogitBoostClassifier have it"):
        edgewise.AutoBoostClassifier(**{word: 1})


def test_nothing_near_gives_no_suggestion():
    assert did_you_mean("zzzz", ["max_depth"]) == ""


def test_other_errors_of_constructors_stay_as_they_are():
    with pytest.raises(TypeError, match="positional"):
        edgewise.MARTClassifier(5)


def test_hinting_leaves_signature_and_clone_alone():
    model = edgewise.ABCMARTClassifier(search=3, max_depth=2)
    assert clone(model).get_params() == model.get_params()
    assert next(iter(model.get_params())) in model.get_params()


def test_numpy_values_are_shown_as_plain_ones():
    assert shown(np.str_("a")) == "'a'"
    assert shown(np.float64(0.5)) == "0.5"
