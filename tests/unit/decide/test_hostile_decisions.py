"""Costs, weights, codes and metrics that are no numbers, out of place, or very large."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from support import table

from edgewise import AOSOLogitBoostClassifier, InvalidDataError, InvalidParameterError
from edgewise._data.folds import content_folds
from edgewise.decide import (
    ConformalSets,
    DecisionClassifier,
    cost_interval,
    decide_by_cost,
    estimate_priors,
    fit_offsets,
)

N, K = 120, 3
X, Y = table(0, n=N, K=K)
PROBA = 0.5 * np.eye(K)[Y] + 0.5 * np.random.default_rng(1).dirichlet(np.ones(K), size=N)
PLAIN = 1.0 - np.eye(K)
FIRST = np.arange(N) == 0

NO_CODES = {
    "beyond the last": Y + K,
    "negative": Y - 1,
    "floats": Y / 2,
    "text": Y.astype(str),
    "booleans": Y > 0,
    "masked": np.ma.array(Y, mask=FIRST),
}


@pytest.mark.parametrize("kind", NO_CODES)
@pytest.mark.parametrize(
    "fit",
    [ConformalSets(0.9).fit, lambda proba, codes: fit_offsets(proba, codes, "macro_f1")],
    ids=["sets", "offsets"],
)
def test_codes_are_places_of_classes(fit, kind):
    with pytest.raises(InvalidDataError, match="codes must"):
        fit(PROBA, NO_CODES[kind])


NO_NUMBERS = {
    "text": "abc",
    "a dict": {"a": 1},
    "complex": PLAIN[0] * 1j,
    "dates": np.array(["2020", "2021", "2022"], dtype="M8[Y]"),
    "larger than any": [10**400, 1, 1],
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_values_prices_and_costs_are_numbers(kind):
    wrong = NO_NUMBERS[kind]
    for work in (
        lambda: decide_by_cost(PROBA, PLAIN, value=wrong),
        lambda: decide_by_cost(PROBA, PLAIN, reject_cost=wrong),
        lambda: decide_by_cost(PROBA, [wrong] * K),
        lambda: decide_by_cost(PROBA, [[wrong] * K] * N),
        lambda: cost_interval(wrong),
    ):
        with pytest.raises((InvalidParameterError, InvalidDataError)):
            work()


def test_masked_costs_and_probabilities_are_refused():
    masked = np.ma.array(PLAIN, mask=PLAIN > 0)
    for work in (
        lambda: decide_by_cost(PROBA, masked),
        lambda: decide_by_cost(PROBA, np.ma.array([masked] * N)),
        lambda: decide_by_cost(np.ma.array(PROBA, mask=PROBA > 0.5), PLAIN),
        lambda: cost_interval(np.ma.array(Y, mask=FIRST)),
    ):
        with pytest.raises(InvalidDataError, match="must not have masked values"):
            work()


@pytest.mark.parametrize("weight", [2.0**-1070, 2.0**1023])
def test_weights_that_are_all_alike_change_nothing(weight):
    """Their sum may be infinite and their squares zero."""
    weights = np.full(N, weight)
    assert cost_interval(Y, sample_weight=weights) == cost_interval(Y)
    plain = fit_offsets(PROBA, Y, "macro_f1")
    weighted = fit_offsets(PROBA, Y, "macro_f1", sample_weight=weights)
    np.testing.assert_array_equal(weighted.found, plain.found)
    assert (weighted.plain, weighted.gain) == (plain.plain, plain.gain)
    boost = DecisionClassifier(AOSOLogitBoostClassifier(n_estimators=2), cost=PLAIN)
    np.testing.assert_array_equal(boost.fit(X, Y, weights).class_prior_, np.bincount(Y) / N)


def test_large_costs_have_an_interval():
    small, large = cost_interval(Y), cost_interval(Y * 1e300)
    np.testing.assert_allclose(np.array(large) / 1e300, small)


def test_what_rows_cost_and_how_frequent_classes_are_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    costs, weights = 10.0 ** rng.uniform(-9, 9, size=(2, N))
    proba = rng.dirichlet(np.ones(K), size=N)
    interval = cost_interval(costs, sample_weight=weights)
    priors = estimate_priors(proba, [0.2, 0.3, 0.5])
    boost = DecisionClassifier(LogisticRegression(), metric="macro_f1")
    frequencies = boost.fit(X, Y, weights).class_prior_
    for _ in range(20):
        order = rng.permutation(N)
        assert cost_interval(costs[order], sample_weight=weights[order]) == interval
        np.testing.assert_array_equal(estimate_priors(proba[order], [0.2, 0.3, 0.5]), priors)
    for _ in range(3):
        order = rng.permutation(N)
        again = boost.fit(X[order], Y[order], weights[order]).class_prior_
        np.testing.assert_array_equal(again, frequencies)


def test_priors_are_not_estimated_from_rows_without_a_class():
    proba = PROBA.copy()
    proba[4] = 0.0
    with pytest.raises(InvalidDataError, match="positive probability in every row.*row 4"):
        estimate_priors(proba, np.full(K, 1 / K))


def test_the_label_of_rejected_rows_is_one_value():
    boost = DecisionClassifier(
        LogisticRegression(), cost=PLAIN, reject_cost=0.1, reject_label=[1, 2]
    )
    with pytest.raises(InvalidParameterError, match="'reject_label'.* must be one value"):
        boost.fit(X, Y)


def test_a_metric_is_a_finite_number_and_a_recall_one_too():
    with pytest.raises(InvalidDataError, match="metric must return finite numbers. Got nan"):
        fit_offsets(PROBA, Y, lambda true, said: float("nan"))
    with pytest.raises(InvalidParameterError, match="a recall above 0"):
        fit_offsets(PROBA, Y, ("recall", 0, "0.5"))
    with pytest.raises(InvalidParameterError, match="level must be"):
        cost_interval([1.0, 2.0], level="0.9")


# --- rows of any kind, which folds are dealt by -------------------------------------------------


def of_objects(*values):
    column = np.empty((2 * len(values), 1), dtype=object)
    column[:, 0] = [*values, *values]
    return column


NO_ROWS = {
    "lists": of_objects([1], [2]),
    "half a pair": of_objects("\ud800", "b"),
    "trailing zeros": of_objects("x", "x\0"),
    "bytes": np.array([[b"\xff"], [b"a"]] * 2),
    "voids": np.array([[b"12345678"], [b"87654321"]] * 2, dtype="V8"),
    "structures": np.zeros((4, 1), dtype=[("a", "f8")]),
}


@pytest.mark.parametrize("kind", NO_ROWS)
def test_folds_of_odd_rows(kind):
    X = NO_ROWS[kind]
    if kind == "structures":
        X["a"][1::2] = 1.0
    folds = content_folds(X, np.zeros(len(X), dtype=int), 2)
    assert sorted(sorted(held.tolist()) for _, held in folds) == [[0, 2], [1, 3]]


def test_one_long_text_takes_no_room_for_every_row():
    """NumPy gives all strings of an array the room of the longest: 400 GB."""
    X = np.array([["word"]] * 100_000, dtype=object)
    X[7] = "x" * 1_000_000
    assert len(content_folds(X, np.zeros(len(X), dtype=int), 2)) == 2


def test_rows_are_there_and_columns_have_names():
    decide = DecisionClassifier(AOSOLogitBoostClassifier(n_estimators=2))
    with pytest.raises(InvalidDataError, match="^X must be an array.*Got None"):
        decide.fit(None, Y)
    with pytest.raises(InvalidDataError, match="different names.*'a'"):
        decide.fit(pd.DataFrame(X, columns=["a"] * X.shape[1]), Y)
    with pytest.raises(InvalidDataError, match="table in memory"):
        decide.fit(pl.DataFrame(X).lazy(), Y)
