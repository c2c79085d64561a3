"""Costs of mistakes: decisions, the metric, the scorer, and what is refused."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer, zero_one_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support import VARIANTS, table

from edgewise import (
    CostWarning,
    InvalidDataError,
    InvalidParameterError,
    expected_cost,
    expected_cost_scorer,
    minimum_cost_labels,
)
from edgewise._ground.checks import check_cost

COST = np.array([[0.0, 1.0, 10.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
ZERO_ONE = 1.0 - np.eye(3)


def random_proba(seed, n=50, K=3):
    return np.random.default_rng(seed).dirichlet(np.ones(K), size=n)


# --- decisions --------------------------------------------------------------------------------


def test_minimum_cost_labels_by_loops(seed):
    proba = random_proba(seed)
    expected = []
    for row in proba:
        costs = [sum(row[k] * COST[k, j] for k in range(3)) for j in range(3)]
        expected.append(costs.index(min(costs)))
    np.testing.assert_array_equal(minimum_cost_labels(proba, COST), expected)
    names = np.array(["x", "y", "z"])
    np.testing.assert_array_equal(minimum_cost_labels(proba, COST, names), names[expected])


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=5, max_size=5).filter(any), min_size=1),
    st.sampled_from([1e-3, 1.0, 1e6]),
)
def test_equal_costs_choose_the_most_probable_class_and_the_first_of_equals(counts, dear):
    """Counts repeat, so that ties are common; sums in another order must not decide them."""
    proba = np.array(counts) / np.sum(counts, axis=1, keepdims=True)
    chosen = minimum_cost_labels(proba, dear * (1 - np.eye(5)))
    np.testing.assert_array_equal(chosen, proba.argmax(axis=1))


def test_two_classes_have_a_threshold():
    """Class 1 is chosen where p c_10 > (1 - p) c_01."""
    p = np.linspace(0, 1, 99)
    chosen = minimum_cost_labels(np.column_stack([1 - p, p]), [[0, 1], [4, 0]])
    np.testing.assert_array_equal(chosen, p > 1 / 5)


def test_a_dear_confusion_is_avoided(wine):
    X, y = wine
    proba = GaussianNB().fit(X[::2, :1], y[::2]).predict_proba(X[1::2, :1])
    dear = ZERO_ONE.copy()
    dear[0, 1] = 50.0
    plain, careful = minimum_cost_labels(proba, ZERO_ONE), minimum_cost_labels(proba, dear)
    assert expected_cost(y[1::2], careful, dear) < expected_cost(y[1::2], plain, dear)


# --- the metric -------------------------------------------------------------------------------


def test_expected_cost_by_loops(seed):
    rng = np.random.default_rng(seed)
    y, said, w = rng.integers(3, size=40), rng.integers(3, size=40), rng.uniform(size=40)
    paid = [COST[a, b] for a, b in zip(y, said, strict=True)]
    assert expected_cost(y, said, COST) == pytest.approx(sum(paid) / 40)
    weighted = sum(p * v for p, v in zip(paid, w, strict=True)) / sum(w)
    assert expected_cost(y, said, COST, sample_weight=w) == pytest.approx(weighted)
    assert expected_cost(y, said, ZERO_ONE) == pytest.approx(zero_one_loss(y, said))


def test_labels_say_what_the_rows_of_the_cost_are():
    y, said = ["b", "a", "a"], ["a", "a", "b"]
    assert expected_cost(y, said, [[0, 1], [5, 0]]) == pytest.approx(6 / 3)
    assert expected_cost(y, said, [[0, 1], [5, 0]], labels=["b", "a"]) == pytest.approx(6 / 3)
    assert expected_cost(["b"], ["a"], [[0, 1], [5, 0]], labels=["b", "a"]) == 1.0
    assert expected_cost(["b"], ["a"], [[0, 1], [5, 0]], labels=["a", "b"]) == 5.0
    assert expected_cost([3], [3], COST, labels=[3, 1, 2]) == 0.0


# --- the scorer -------------------------------------------------------------------------------


def test_scorer_scores_predictions(iris):
    X, y = iris
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    scorer = expected_cost_scorer(COST)
    assert scorer(model, X, y) == -expected_cost(y, model.predict(X), COST)
    w = np.linspace(0, 1, len(y))
    weighted = -expected_cost(y, model.predict(X), COST, sample_weight=w)
    assert scorer(model, X, y, sample_weight=w) == weighted


def test_scorer_by_minimum_cost(iris):
    X, y = iris
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)  # cannot tell classes 1 and 2
    dear = ZERO_ONE.copy()
    dear[2, 1] = 10.0
    chosen = minimum_cost_labels(model.predict_proba(X), dear)
    assert expected_cost_scorer(dear, decide="minimum")(model, X, y) == -50 / 150
    assert expected_cost_scorer(dear)(model, X, y) == -500 / 150
    np.testing.assert_array_equal(chosen, np.where(y == 0, 0, 2))


def test_scorer_of_zero_one_costs_is_scikit_learns(iris):
    X, y = iris
    model = DecisionTreeClassifier(max_depth=2)
    ours = cross_val_score(model, X, y, scoring=expected_cost_scorer(ZERO_ONE))
    theirs = cross_val_score(model, X, y, scoring=make_scorer(accuracy_score))
    np.testing.assert_allclose(1 + ours, theirs)


def test_scorer_when_a_part_lacks_a_class():
    """The model has never seen class 2, or the test rows have none of it."""
    X, y = table(0, n=60, K=3)
    model = DecisionTreeClassifier(max_depth=3).fit(X[y < 2], y[y < 2])
    scorer = expected_cost_scorer(COST, labels=[0, 1, 2], decide="minimum")
    chosen = minimum_cost_labels(model.predict_proba(X), COST[:2, :2])
    assert scorer(model, X, y) == -expected_cost(y, chosen, COST, labels=[0, 1, 2])
    complete = DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert np.isfinite(expected_cost_scorer(COST)(complete, X[y < 2], y[y < 2]))


def test_labels_of_the_scorer_may_stand_in_any_order():
    X, y = table(0, n=60, K=3)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    order = [2, 0, 1]
    for decide in ("predict", "minimum"):
        turned = expected_cost_scorer(COST[np.ix_(order, order)], labels=order, decide=decide)
        assert turned(model, X, y) == expected_cost_scorer(COST, decide=decide)(model, X, y)


def test_scorer_in_a_grid_search(wine):
    X, y = wine
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(
        pipeline,
        {"decisiontreeclassifier__max_depth": [1, 3]},
        scoring=expected_cost_scorer(COST, decide="minimum"),
        n_jobs=1,
    ).fit(X, y)
    best = search.best_params_["decisiontreeclassifier__max_depth"]
    by_hand = {
        d: cross_val_score(
            clone(pipeline).set_params(decisiontreeclassifier__max_depth=d),
            X, y, scoring=search.scorer_,
        ).mean()
        for d in (1, 3)
    }  # fmt: skip
    assert best == max(by_hand, key=by_hand.get)
    assert search.best_score_ == by_hand[best] < 0


def test_scorers_side_by_side(iris):
    X, y = iris
    scoring = {"cost": expected_cost_scorer(COST), "accuracy": "accuracy"}
    found = cross_validate(DecisionTreeClassifier(max_depth=1), X, y, scoring=scoring)
    assert (found["test_cost"] < 0).all()
    assert (found["test_accuracy"] > 0).all()


def test_scorer_asks_for_weights_by_metadata_routing(iris):
    X, y = iris
    w = np.random.default_rng(0).uniform(size=len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = DecisionTreeClassifier(max_depth=1).set_fit_request(sample_weight=True)
        found = {}
        for wanted in (True, False):
            search = GridSearchCV(
                model,
                {"min_samples_leaf": [1]},
                scoring=expected_cost_scorer(COST).set_score_request(sample_weight=wanted),
                cv=[(np.arange(150) % 3 > 0, np.arange(150) % 3 == 0)],
            )
            found[wanted] = search.fit(X, y, sample_weight=w).best_score_
        with pytest.raises(Exception, match="sample_weight"):  # neither wanted nor refused
            GridSearchCV(model, {"max_depth": [1]}, scoring=expected_cost_scorer(COST)).fit(
                X, y, sample_weight=w
            )
    train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
    said = DecisionTreeClassifier(max_depth=1).fit(X[train], y[train], w[train]).predict(X[test])
    assert found[False] == -expected_cost(y[test], said, COST)
    assert found[True] == -expected_cost(y[test], said, COST, sample_weight=w[test])


# Not SAMME, which scales its probabilities when the fit is over.
STAGED = {name: make for name, make in VARIANTS.items() if not name.startswith("samme")}


@pytest.mark.parametrize("make", STAGED.values(), ids=STAGED)
def test_scorer_stops_our_own_boosters(make):
    X, y = table(0, n=120, K=3)
    scorer = expected_cost_scorer(COST, decide="minimum")
    model = make(
        n_estimators=8, learning_rate=1.0, scoring=scorer, early_stopping=True, n_iter_no_change=3
    )
    model.fit(X, y, X_val=X[:60], y_val=y[:60])
    scores = [
        -expected_cost(y[:60], minimum_cost_labels(p, COST), COST)
        for p in model.staged_predict_proba(X[:60])
    ]
    assert max(scores) == model.history_["validation_score"].max() == scores[-1]


def test_scorer_can_be_cloned_and_shown():
    scorer = expected_cost_scorer(COST, decide="minimum")
    assert clone(scorer).decide == "minimum"
    assert repr(scorer).startswith("ExpectedCostScorer(")


# --- what is refused --------------------------------------------------------------------------

PROBA = random_proba(0, n=4)
BAD_COST = {
    "three columns": (np.zeros((2, 3)), ["(3, 3)", "(2, 3)"]),
    "too small": (np.zeros((2, 2)), ["(3, 3)", "(2, 2)"]),
    "a vector": (np.zeros(3), ["(3, 3)", "(3,)"]),
    "ragged": ([[1, 2], [3]], ["numbers", "one length"]),
    "text": ([["a"]], ["numbers", "'a'"]),
    "negative": (COST - 2 * np.eye(3), ["not negative", "-2.0", "row 0, column 0"]),
    "NaN": (np.where(COST == 10, np.nan, COST), ["finite", "nan", "row 0, column 2"]),
    "infinite": (np.where(COST == 10, np.inf, COST), ["finite", "inf", "row 0, column 2"]),
}


@pytest.mark.parametrize("case", BAD_COST)
def test_bad_cost(case):
    cost, words = BAD_COST[case]
    for use in (
        lambda: check_cost(cost, 3),
        lambda: minimum_cost_labels(PROBA, cost),
        lambda: expected_cost([0, 1, 2], [0, 1, 2], cost),
        lambda: expected_cost_scorer(cost, labels=[0, 1, 2]),
    ):
        with pytest.raises(InvalidParameterError) as caught:
            use()
        assert str(caught.value).startswith("cost must")
        for word in words:
            assert word in str(caught.value)


def test_cost_of_unknown_size_must_be_square():
    with pytest.raises(InvalidParameterError, match=r"\(K, K\) for K classes.*\(2, 3\)"):
        check_cost(np.zeros((2, 3)))
    np.testing.assert_array_equal(check_cost(COST.tolist()), COST)


def test_right_labels_dearer_than_wrong_ones_are_warned_of():
    turned = COST.copy()
    turned[1] = [0.5, 3.0, 1.0]
    for use in (
        lambda: check_cost(turned),
        lambda: minimum_cost_labels(PROBA, turned),
        lambda: expected_cost([0, 1, 2], [0, 1, 2], turned),
        lambda: expected_cost_scorer(turned),
    ):
        with pytest.warns(CostWarning, match=r"1 of 3 classes.*row 1: 3 .* 0.5 .*class 0"):
            use()
    with pytest.warns(CostWarning) as caught:
        minimum_cost_labels(PROBA, turned)
    assert caught[0].filename == __file__


def test_equal_costs_in_a_row_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_cost(np.ones((3, 3)))


def test_the_scorer_warns_once(iris):
    X, y = iris
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.warns(CostWarning):
        scorer = expected_cost_scorer(COST.max() - COST)
    scorer(model, X, y)  # a warning would be an error


BAD_DATA = {
    "proba of one dimension": (lambda: minimum_cost_labels([0.5, 0.5], [[0, 1], [1, 0]]), "shape"),
    "scores for proba": (lambda: minimum_cost_labels([[-1.0, 2.0, 0.0]], COST), "-1.0"),
    "NaN in proba": (lambda: minimum_cost_labels([[np.nan, 1.0, 0.0]], COST), "nan"),
    "text for proba": (lambda: minimum_cost_labels([["a", "b", "c"]], COST), "numbers"),
    "too few classes": (lambda: minimum_cost_labels(PROBA, COST, ["a", "b"]), "3 different labels"),
    "equal classes": (lambda: minimum_cost_labels(PROBA, COST, ["a", "b", "a"]), "a, b, a"),
    "lengths": (lambda: expected_cost([0, 1, 2], [0, 1], COST), "3 rows"),
    "a matrix of labels": (lambda: expected_cost(np.eye(3), [0, 1, 2], COST), r"y_true.*\(3, 3\)"),
    "no rows": (lambda: expected_cost([], [], COST), r"y_true.*\(0,\)"),
    "an unknown label": (
        lambda: expected_cost([0, 3], [0, 1], COST, labels=[0, 1, 2]),
        "y_true.*3.*0, 1, 2",
    ),
    "an unknown kind of label": (
        lambda: expected_cost([0, 1], ["a", "b"], COST, labels=[0, 1, 2]),
        "y_pred.*a.*0, 1, 2",
    ),
    "weights": (lambda: expected_cost([0], [0], COST, labels=[0, 1, 2], sample_weight=[-1]), "-1"),
    "no weight": (lambda: expected_cost([0], [0], COST, labels=[0, 1, 2], sample_weight=[0]), "0"),
    "number of weights": (
        lambda: expected_cost([0], [0], COST, labels=[0, 1, 2], sample_weight=[1, 1]),
        "sample_weight.*1 rows",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(case):
    call, words = BAD_DATA[case]
    with pytest.raises(InvalidDataError, match=words):
        call()


def test_labels_that_cannot_be_sorted_together():
    y = np.array([0, "a"], dtype=object)
    with pytest.raises(InvalidDataError, match="one sortable kind"):
        expected_cost(y, y, ZERO_ONE)


def test_bad_decision():
    with pytest.raises(InvalidParameterError, match="'decide'.*'predict', 'minimum'.*'maximum'"):
        expected_cost_scorer(COST, decide="maximum")


def test_scorer_of_the_wrong_size(iris):
    X, y = iris
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(InvalidParameterError, match=r"\(3, 3\).*\(2, 2\)"):
        expected_cost_scorer(np.zeros((2, 2)))(model, X, y)


# --- the page ---------------------------------------------------------------------------------


def test_examples_of_the_page_run():
    page = (Path(__file__).parents[2] / "docs" / "costs.md").read_text()
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(block, names)
    written = re.search(r"`plain_cost` is ([\d.]+), `careful_cost` ([\d.]+)", page).groups()
    assert (f"{names['plain_cost']:.3f}", f"{names['careful_cost']:.3f}") == written
    assert names["careful_cost"] < names["plain_cost"]
