"""Constraints by name and number, by class and pair: what they mean, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from support import LOGISTIC, LOGISTIC_VARIANTS, VARIANTS, assert_same_model, fitted_attributes

import edgewise
from edgewise._boosting.constraints import Interactions, directions, interactions
from edgewise._boosting.sampling import Sampler, n_drawn

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = np.arange(90) % 3
NAMES = np.array(["ant", "bee", "cat"])
FRAME = pd.DataFrame(X, columns=["age", "size", "shade"])

# case: (parameter, value, words of the message)
REFUSED = {
    "too few directions": ("monotonic_cst", [1, 0], ["one entry", "3 columns", "2 entries"]),
    "too many directions": ("monotonic_cst", [0] * 4, ["3 columns", "4 entries"]),
    "a single direction for three classes": (
        "monotonic_cst",
        [1, 0, 0],
        ["column 0", "3 classes", "dict {class: -1, 0 or 1}", "Got 1"],
    ),
    "a direction of two": ("monotonic_cst", [2, 0, 0], ["-1, 0 or 1", "column 0", "Got 2"]),
    "a direction of a half": ("monotonic_cst", {0: {0: 0.5}}, ["-1, 0 or 1", "Got 0.5"]),
    "a direction that is a word": ("monotonic_cst", {0: {0: "up"}}, ["-1, 0 or 1", "'up'"]),
    "a direction that is a truth": ("monotonic_cst", {0: {0: True}}, ["-1, 0 or 1", "True"]),
    "a table of directions": ("monotonic_cst", np.ones((3, 3)), ["-1, 0 or 1", "column 0"]),
    "an unknown class": ("monotonic_cst", {1: {7: 1}}, ["classes of y (0, 1, 2)", "column 1", "7"]),
    "an unknown column": ("monotonic_cst", {3: {0: 1}}, ["numbers from 0 to 2", "Got 3"]),
    "a name where there are none": ("monotonic_cst", {"age": {0: 1}}, ["from 0 to 2", "'age'"]),
    "a class against itself": ("monotonic_cst", {0: {(1, 1): 1}}, ["different classes", "(1, 1)"]),
    "three classes": ("monotonic_cst", {0: {(0, 1, 2): 1}}, ["pairs", "(0, 1, 2)"]),
    "two classes up": (
        "monotonic_cst",
        {2: {0: 1, 1: 1}},
        ["contradict", "column 2", "class 0", "class 1"],
    ),
    "a pair both ways": ("monotonic_cst", {0: {(0, 1): 1, (1, 0): 1}}, ["contradict", "column 0"]),
    "a ring": (
        "monotonic_cst",
        {0: {(0, 1): 1, (1, 2): 1, (2, 0): 1}},
        ["contradict", "column 0"],
    ),
    "a set with an unknown column": ("interaction_cst", [{0, 5}], ["from 0 to 2", "Got 5"]),
    "a set with a negative column": ("interaction_cst", [[-1]], ["from 0 to 2", "Got -1"]),
    "a set with an unknown name": ("interaction_cst", [["age"]], ["from 0 to 2", "'age'"]),
    "a set with a truth": ("interaction_cst", [[True]], ["from 0 to 2", "True"]),
}
every_case = pytest.mark.parametrize(
    ("parameter", "value", "words"), REFUSED.values(), ids=REFUSED.keys()
)


@every_case
@pytest.mark.parametrize("classifier", LOGISTIC)
def test_nonsense_is_refused(classifier, parameter, value, words):
    model = classifier(n_estimators=2, **{parameter: value})
    with pytest.raises(edgewise.InvalidParameterError) as caught:
        model.fit(X, Y)
    for word in [parameter, classifier.__name__, *words]:
        assert word in str(caught.value)
    assert fitted_attributes(model) == set()


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
def test_interactions_of_all_families_are_checked(make):
    with pytest.raises(edgewise.InvalidParameterError, match="'interaction_cst'.*from 0 to 2.*9"):
        make(interaction_cst=[{9}]).fit(X, Y)


def test_unknown_names_are_refused():
    model = edgewise.MARTClassifier(monotonic_cst={"weight": {0: 1}})
    with pytest.raises(edgewise.InvalidParameterError, match="'age', 'size', 'shade'.*'weight'"):
        model.fit(FRAME, Y)
    model = edgewise.MARTClassifier(monotonic_cst={"age": {0: 1}, 0: {0: 1}})
    with pytest.raises(edgewise.InvalidParameterError, match="every column once"):
        model.fit(FRAME, Y)


def test_categories_have_no_direction():
    rows = X.round()
    model = edgewise.AOSOLogitBoostClassifier(monotonic_cst={1: {0: 1}}, categorical_features=[1])
    with pytest.raises(edgewise.InvalidParameterError, match="categorical.*no order.*column 1"):
        model.fit(rows, Y)
    model.set_params(monotonic_cst={0: {0: 1}, 1: {0: 0}}, n_estimators=2).fit(rows, Y)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("min_gain", 0.1),
        ("interaction_cst", "pairwise"),
        ("max_features", 2),
        ("splitter", "random"),
    ],
    ids=str,
)
@pytest.mark.parametrize("classifier", [edgewise.AdaBoostMHClassifier, edgewise.SAMMEClassifier])
def test_other_libraries_would_not_know(classifier, name, given):
    model = classifier(base=DecisionTreeClassifier(max_depth=1), **{name: given})
    with pytest.raises(edgewise.InvalidParameterError, match=f"{name}.*DecisionTreeClassifier"):
        model.fit(X, Y)


@pytest.mark.parametrize("make", LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS.keys())
def test_names_numbers_and_lists_mean_the_same(make):
    labels = NAMES[Y]
    by_name = make(
        monotonic_cst={"size": {"bee": 1}, "age": {("ant", "cat"): -1}},
        interaction_cst=[{"age", "shade"}, {"size"}],
    ).fit(FRAME, labels)
    by_number = make(
        monotonic_cst={1: {"bee": 1}, 0: {("cat", "ant"): 1}}, interaction_cst=[[2, 0]]
    ).fit(X, labels)
    listed = make(
        monotonic_cst=[{("ant", "cat"): -1, "bee": 0}, {"bee": 1}, 0], interaction_cst=((0, 2), [1])
    ).fit(X, labels)
    assert_same_model(by_name.model_, by_number.model_)
    assert_same_model(by_name.model_, listed.model_)


@pytest.mark.parametrize("make", LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS.keys())
def test_two_classes_accept_a_bare_direction(make):
    y = np.array(["no", "yes"])[(X[:, 0] + RNG.normal(size=90) > 0).astype(int)]
    ways = [[1, 0, -1], np.array([1.0, 0.0, -1.0]), {0: {"yes": 1}, 2: {"no": 1}}]
    ways.append([{("yes", "no"): 1}, {"yes": 0}, {"yes": -1, "no": 1}])
    models = [make(monotonic_cst=way).fit(X, y) for way in ways]
    for model in models[1:]:
        assert_same_model(model.model_, models[0].model_)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({0: 1}, [1, -1, -1, -1]),
        ({2: -1}, [1, 1, -1, 1]),
        ({0: 1, 3: -1}, [1, 2, 2, -1]),
        ({(1, 2): 1}, [0, 1, -1, 0]),
        ({(1, 2): 1, (2, 3): 1}, [0, 1, 2, -1]),
        ({0: 0}, [0, 0, 0, 0]),
    ],
    ids=str,
)
def test_directions_of_the_classes(entry, expected):
    model = edgewise.MARTClassifier(monotonic_cst={1: entry, 0: {0: 1}})
    model.n_features_in_ = 2
    assert directions(model, np.arange(4))[1].tolist() == expected


def test_no_constraint_gives_none():
    model = edgewise.MARTClassifier(monotonic_cst=[0, {1: 0}])
    model.n_features_in_ = 2
    assert directions(model, np.arange(3)) is None


def test_columns_outside_all_sets_form_a_set():
    model = edgewise.MARTClassifier(interaction_cst=[{3, 1}, {1, 0}])
    model.n_features_in_ = 6
    assert interactions(model) == Interactions(sets=[[1, 3], [0, 1], [2, 4, 5]])


@pytest.mark.parametrize(
    ("together", "path", "expected"),
    [
        (Interactions(), {0}, [0, 1, 2, 3]),
        (Interactions(at_most=1), {2}, [2]),
        (Interactions(at_most=2), {2}, [0, 1, 2, 3]),
        (Interactions(at_most=2), {2, 0}, [0, 2]),
        (Interactions(sets=[[0, 1], [1, 2], [3]]), {1}, [0, 1, 2]),
        (Interactions(sets=[[0, 1], [1, 2], [3]]), {1, 2}, [1, 2]),
    ],
    ids=str,
)
def test_features_that_may_join(together, path, expected):
    assert together.beside(path, range(4)) == expected


def test_sampler_draws_by_value():
    codes = np.zeros(90, dtype=np.int32)
    order = RNG.permutation(90)
    one, two = (
        Sampler(rows, codes, subsample=0.5, max_features=2, cuts=True, seed=lambda: 3)
        for rows in (X, X[order])
    )
    draws = [one.of_round(m) for m in range(40)]
    for m, draw in enumerate(draws):
        np.testing.assert_array_equal(two.of_round(m).rows, draw.rows[order])
        assert two.of_round(m).features == draw.features
        assert two.of_round(m).cut_key == draw.cut_key != 0
        assert len(draw.features) == 2
    assert 0.45 < np.mean([draw.rows.mean() for draw in draws]) < 0.55
    assert len({tuple(draw.features) for draw in draws}) == 3
    assert len({draw.cut_key for draw in draws}) == 40


def test_sampler_needs_a_seed_only_if_it_draws():
    def no_seed():
        raise AssertionError

    assert not Sampler(X, Y, subsample=1.0, max_features=None, cuts=False, seed=no_seed).draws


@pytest.mark.parametrize(
    ("given", "n"), [(None, 8), (3, 3), (20, 8), (0.5, 4), (0.01, 1), (1.0, 8)]
)
def test_number_of_features(given, n):
    assert n_drawn(given, 8) == n
