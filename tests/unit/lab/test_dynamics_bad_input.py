"""Bad input: one clear error that says what was wrong, what is allowed and what came."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from support import spelled

from edgewise import InvalidDataError, InvalidParameterError
from edgewise.lab import dynamics

M = dynamics.one_error_each(3)

BAD_MATRICES = {
    "a zero": ([[1, 0], [-1, 1]], ["+1", "-1", "Got 0 in row 0, column 1", "0 further"]),
    "fractions": (np.array([[0.5, 1], [1, 0.25]]), ["Got 0.5 in row 0, column 0", "1 further"]),
    "NaN": ([[1, np.nan], [1, -1]], ["nan", "row 0, column 1"]),
    "text": ([["a", "b"]], ["Got a in row 0"]),
    "one dimension": ([1, -1], ["two dimensions", "(2,)"]),
    "three dimensions": (np.ones((2, 2, 2)), ["two dimensions", "(2, 2, 2)"]),
    "no rows": (np.ones((0, 3)), ["at least one example", "(0, 3)"]),
    "no columns": (np.ones((3, 0)), ["one classifier", "(3, 0)"]),
}
BAD_WEIGHTS = {
    "sum": ([0.3, 0.3, 0.3], ["simplex", "sum 1", "0.9"]),
    "negative": ([-0.2, 0.6, 0.6], ["none negative", "-0.2"]),
    "NaN": ([np.nan, 0.5, 0.5], ["simplex", "nan"]),
    "infinite": ([np.inf, 0.5, 0.5], ["simplex", "inf"]),
    "too few": ([0.5, 0.5], ["(3,)", "(2,)"]),
    "two dimensions": ([[0.2, 0.3, 0.5]], ["(3,)", "(1, 3)"]),
    "text": (["a", "b", "c"], ["numbers"]),
}
WALKS = [dynamics.iterate, dynamics.find_cycle]


def raises(error, words, function, *args, **kwargs):
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize("case", BAD_MATRICES)
@pytest.mark.parametrize(
    "function", [*WALKS, dynamics.max_margin, dynamics.exact_choices], ids=lambda f: f.__name__
)
def test_bad_matrices(function, case):
    matrix, words = BAD_MATRICES[case]
    raises(InvalidDataError, words, function, matrix)


@pytest.mark.parametrize("case", BAD_WEIGHTS)
@pytest.mark.parametrize("function", WALKS, ids=lambda f: f.__name__)
def test_bad_weights(function, case):
    weights, words = BAD_WEIGHTS[case]
    raises(InvalidDataError, words, function, M, weights)


def test_weights_off_by_rounding_are_taken():
    orbit = dynamics.iterate(M, [0.1, 0.2, 0.7 + 1e-11], n_steps=1)
    assert orbit.start.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_steps": -1}, ["n_steps", "at least 0", "-1"]),
        ({"n_steps": 2.5}, ["n_steps", "integer", "2.5"]),
        ({"n_transient": -3}, ["n_transient", "-3"]),
        ({"keep": "weights"}, ["keep", "'choices'", "'weights'"]),
        ({"rule": "best"}, ["rule", "'optimal'", "'adaboost-star'", "ArcGV", "'best'"]),
        ({"rule": dynamics.ArcGV}, ["rule", "ArcGV"]),
        ({"ties": "random"}, ["ties", "'lowest'", "function", "'random'"]),
        ({"ties": lambda columns: -1}, ["ties", "one of the columns", "[0 1 2]", "-1"]),
        ({"tie_tolerance": 0.5}, ["tie_tolerance", "0.5"]),
        ({"rule": dynamics.Threshold(columns=[0, 3])}, ["columns", "0 to 2", "3"]),
        ({"rule": dynamics.Threshold(columns=[])}, ["columns", "at least one"]),
    ],
    ids=spelled,
)
def test_bad_parameters_of_iterate(arguments, words):
    raises(InvalidParameterError, words, dynamics.iterate, M, **arguments)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dynamics.Threshold(at_least=1.0), ["at_least", "below 1", "1.0"]),
        (lambda: dynamics.Threshold(at_least="high"), ["at_least", "'high'"]),
        (lambda: dynamics.Threshold(choose="random"), ["choose", "'weakest'", "'random'"]),
        (lambda: dynamics.AdaBoostStar(nu=0), ["nu", "above 0", "0"]),
        (lambda: dynamics.AdaBoostStar(nu=1.5), ["nu", "below 1", "1.5"]),
        (lambda: dynamics.one_error_each(2), ["m", "at least 3", "2"]),
        (lambda: dynamics.random_matrix(0, 3), ["m", "at least 1", "0"]),
        (lambda: dynamics.random_matrix(3, 3, error_rate=1.0), ["error_rate", "1.0"]),
        (lambda: dynamics.random_weights(3, random_state="x"), ["random_state", "'x'"]),
        (lambda: dynamics.example("9x9"), ["'3x3'", "'20x8'", "'9x9'"]),
        (lambda: dynamics.find_cycle(M, max_steps=0), ["max_steps", "0"]),
        (lambda: dynamics.find_cycle(M, max_length=0), ["max_length", "0"]),
        (lambda: dynamics.find_cycle(M, rule="arc-gv"), ["'optimal'", "'arc-gv'", "votes"]),
        (lambda: dynamics.find_cycle(M).certify(digits=3), ["digits", "10", "3"]),
        (lambda: dynamics.exact_choices(M, max_digits=10), ["max_digits", "100", "10"]),
        (lambda: dynamics.exact_choices(M, ties=max), ["ties", "'lowest'"]),
        (lambda: dynamics.survey(0), ["n_matrices", "0"]),
        (lambda: dynamics.survey(1, n_jobs=0), ["n_jobs", "0"]),
        (lambda: dynamics.survey(1, progress=1), ["progress", "True or False", "1"]),
    ],
)
def test_bad_parameters(make, words):
    raises(InvalidParameterError, words, make)


def test_only_cycles_of_the_best_column_can_be_certified():
    cycle = dynamics.find_cycle(M, rule=dynamics.Threshold(at_least=0.3, choose="first"))
    raises(InvalidParameterError, ["best column", "'first'"], cycle.certify)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dynamics.margins(M, [1, 2]), ["(3,)", "(2,)"]),
        (lambda: dynamics.margins(M, [0, 0, 0]), ["at least one positive", "0"]),
        (lambda: dynamics.smooth_margin(M, [1, -1, 1]), ["none negative", "-1"]),
        (lambda: dynamics.upsilon(1.5), ["0 to 1", "1.5"]),
        (lambda: dynamics.upsilon([-0.1]), ["0 to 1", "-0.1"]),
        (lambda: dynamics.repeated_rows(M, [1, 2]), ["3 rows", "[1, 2]"]),
        (lambda: dynamics.repeated_rows(M, [1, 2, 0]), ["at least 1", "[1, 2, 0]"]),
        (lambda: dynamics.cycle_from_choices(M, [0, 3]), ["0 to 2", "3"]),
        (lambda: dynamics.cycle_from_choices(M, []), ["columns of M"]),
        (lambda: dynamics.cycle_from_choices(M, [0.5]), ["columns of M", "0.5"]),
        (lambda: dynamics.exact_choices(M, [1, 2]), ["3 numbers", "Got 2"]),
        (lambda: dynamics.exact_choices(M, [1, 2, -3]), ["none negative", "-3"]),
        (lambda: dynamics.exact_choices(M, [0, 0, 0]), ["at least one", "positive"]),
        (lambda: dynamics.exact_choices(M, ["a", "b", "c"]), ["rational"]),
        (lambda: dynamics.exact_choices(M, [1, np.nan, 1]), ["rational"]),
    ],
)
def test_bad_data(make, words):
    raises(InvalidDataError, words, make)


X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dynamics.from_examples(X, Y, []), ["at least one classifier"]),
        (lambda: dynamics.from_examples(X, [0, 1, 2] * 2, [len]), ["two classes", "Got 3"]),
        (lambda: dynamics.from_examples(X, [Y, Y], [len]), ["one label per example", "(2, 6)"]),
        (lambda: dynamics.from_examples(X, Y, ["stump"]), ["predict", "function", "str"]),
        (lambda: dynamics.from_examples(X, Y, [lambda X: Y + 1]), ["classifiers[0]", "Got 2"]),
        (lambda: dynamics.from_examples(X, Y, [lambda X: Y[1:]]), ["classifiers[0]", "6", "(5,)"]),
        (lambda: dynamics.from_booster(AdaBoostClassifier(), X, Y), ["fitted", "AdaBoostClass"]),
        (
            lambda: dynamics.from_booster(GradientBoostingClassifier().fit(X, Y), X, Y),
            ["members are not classifiers", "GradientBoostingClassifier"],
        ),
        (
            lambda: dynamics.from_booster(
                AdaBoostClassifier().fit(X, [0, 0, 1, 1, 2, 2]), X, [0, 0, 1, 1, 2, 2]
            ),
            ["two classes", "Got 3"],
        ),
        (
            lambda: dynamics.from_booster(AdaBoostClassifier().fit(X, Y), X, Y + 5),
            ["y must give the labels 0 and 1", "Got 5"],
        ),
    ],
)
def test_bad_examples_and_ensembles(make, words):
    raises(InvalidDataError, words, make)
