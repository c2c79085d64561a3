"""Soft-max boosting: descent, draws, costs of every kind, the stochastic rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.metrics import accuracy_score
from support import assert_same_model, table, uneven_weights

from edgewise import (
    CostWarning,
    FitWarning,
    InvalidDataError,
    InvalidParameterError,
    SoftmaxBoostClassifier,
    expected_cost,
    expected_cost_scorer,
)
from edgewise._data.chance import row_keys, uniforms
from edgewise.softmax_boost import SMOOTHNESS, SoftmaxEngine

COST = np.array([[0.0, 1.0, 10.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])
BOTH = pytest.mark.parametrize("projection", ["exact", "sampled"])


def small(**parameters):
    return SoftmaxBoostClassifier(
        **{"n_estimators": 6, "max_leaf_nodes": 5, "random_state": 0} | parameters
    )


# --- descent ----------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.integers(2, 6),
    scale=st.sampled_from([1e-3, 1.0, 1e4]),
    learning_rate=st.sampled_from([1.0, 0.3]),
    weighted=st.booleans(),
    projection=st.sampled_from(["exact", "sampled"]),
)
def test_constant_step_never_raises_the_cost(seed, K, scale, learning_rate, weighted, projection):
    X, y = table(seed, n=60, K=K, missing=0.1)
    costs = scale * np.random.default_rng(seed).uniform(size=(len(y), K)) ** 4
    w = uneven_weights(seed, len(y)) if weighted else None
    model = small(
        projection=projection, step="constant", n_estimators=15, learning_rate=learning_rate
    ).fit(X, y, sample_weight=w, costs=costs)
    before = np.average(costs.mean(axis=1), weights=w)
    loss = np.array([before, *model.history_["loss"]])
    assert (np.diff(loss) <= 1e-12 * scale).all()
    assert loss[-1] < before


@pytest.mark.parametrize("K", [2, 3, 5])
def test_smoothness_constant_bounds_the_curvature(K):
    """Of g c' at scores psi: the largest eigenvalue of the second derivatives, which attains it."""

    def curvature(x):
        g, c = softmax(x[:K]), x[K:]
        slope = g * (c - g @ c)
        hessian = np.diag(slope) - np.outer(g, slope) - np.outer(slope, g)
        return -np.abs(np.linalg.eigvalsh(hessian)).max()

    rng = np.random.default_rng(0)
    found = [
        minimize(
            curvature,
            [*rng.normal(size=K), *rng.uniform(size=K)],
            bounds=[(-9, 9)] * K + [(0, 1)] * K,
        ).fun
        for _ in range(6)
    ]
    assert -min(found) == pytest.approx(SMOOTHNESS, rel=1e-3)
    assert -min(found) <= SMOOTHNESS * (1 + 1e-9)


@BOTH
@pytest.mark.parametrize("cost", [None, COST])
def test_history_tells_the_expected_cost_of_the_rule(projection, cost):
    X, y = table(1, n=90, K=3, missing=0.1)
    w = uneven_weights(1, len(y))
    model = small(projection=projection, cost=cost).fit(X, y, sample_weight=w)
    by_row = (1 - np.eye(3) if cost is None else cost)[y]
    expected = [
        np.average((proba * by_row).sum(axis=1), weights=w)
        for proba in model.staged_predict_proba(X)
    ]
    np.testing.assert_allclose(model.history_["loss"], expected, rtol=1e-12)


@BOTH
def test_history_tells_the_norm_of_the_gradient_before_each_round(projection):
    X, y = table(4, n=90, K=3)
    w = uneven_weights(4, len(y))
    model = small(projection=projection, cost=COST).fit(X, y, sample_weight=w)
    costs = COST[y] / np.ptp(COST[y], axis=1).max()
    rules = [np.full((len(y), 3), 1 / 3), *model.staged_predict_proba(X)][:-1]
    gradients = [g * (costs - (g * costs).sum(axis=1, keepdims=True)) for g in rules]
    expected = [np.average((x**2).sum(axis=1), weights=w) ** 0.5 for x in gradients]
    np.testing.assert_allclose(model.history_["gradient_norm"], expected, rtol=1e-9)
    if projection == "exact":  # Cauchy and Schwarz, for outputs +-1
        assert (model.history_["edge"] <= np.sqrt(3) * model.history_["gradient_norm"]).all()


@pytest.mark.parametrize("step", ["paper", "constant"])
def test_steps_follow_from_the_edge(step):
    X, y = table(2, n=90, K=3)
    model = small(projection="exact", step=step).fit(X, y)
    factor = {"paper": 1.0, "constant": 3 * np.sqrt(3) / 3}[step]  # 1 / (K L)
    np.testing.assert_allclose(model.history_["step"], factor * model.history_["edge"])
    first = model.model_.first_rounds(1)
    np.testing.assert_allclose(np.abs(first.values), model.history_["step"][0])


def test_edge_is_the_projection_of_the_gradient():
    X, y = table(3, n=90, K=4)
    model = small(projection="exact", n_estimators=1).fit(X, y)
    costs = 1.0 - np.eye(4)[y]
    gradient = (costs - costs.mean(axis=1, keepdims=True)) / 4 / len(y)  # g = 1/4 at the start
    h = -np.sign(model.model_.scores(X, 1))
    assert model.history_["edge"][0] == pytest.approx((gradient * h).sum())
    assert (np.abs(h) == 1).all()


# --- endings ----------------------------------------------------------------------------------


def test_no_gradient_ends_the_fit():
    X, y = table(4, n=40, K=3)
    with pytest.warns(FitWarning, match="learned nothing"):
        model = small(projection="exact").fit(X, y, costs=np.ones((40, 3)))
    assert model.n_iter_ == 0
    assert model.stop_reason_ == "the gradient is zero"
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3)


def test_no_cost_at_all_ends_the_fit():
    X, y = table(4, n=40, K=3)
    with pytest.warns(FitWarning, match="learned nothing"):
        model = small().fit(X, y, costs=np.zeros((40, 3)))
    assert model.n_iter_ == 0
    assert model.stop_reason_ == "nothing left to learn"


def test_rounds_run_out():
    assert small(n_estimators=3).fit(*table(4)).stop_reason_ == "all rounds done"


def test_long_fits_stay_finite():
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = small(n_estimators=3000, max_leaf_nodes=2).fit(X, y)
    assert np.isfinite(model.model_.scores(X, 1)).all()
    assert (model.predict(X) == y).all()
    assert model.history_["loss"][-1] < 0.05


def test_a_useless_draw_does_not_end_the_fit():
    """With four rows the drawn stumps soon have the true slope 0; then all labels are used."""
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = small(n_estimators=300, step="constant", max_leaf_nodes=2).fit(X, y)
    assert model.n_iter_ == 300
    assert (np.diff(model.history_["loss"]) <= 1e-15).all()


# --- draws ------------------------------------------------------------------------------------


def test_labels_are_drawn_by_the_rule(monkeypatch):
    """Over many rounds each label of a row is drawn as often as the rule says."""
    X, y = table(5, n=40, K=4)
    seen = []
    drawn = SoftmaxEngine.drawn_labels
    monkeypatch.setattr(
        SoftmaxEngine, "drawn_labels", lambda engine, m: (seen.append(engine), drawn(engine, m))[1]
    )
    small(n_estimators=5).fit(X, y)
    draws = np.array([np.eye(4)[drawn(seen[-1], m)] for m in range(4000)])
    assert np.ptp(seen[-1].rule) > 0.2
    np.testing.assert_allclose(draws.mean(axis=0), seen[-1].rule, atol=0.04)


def test_draws_are_those_of_the_rows():
    X, y = table(5, n=40, K=3)
    costs = 1.0 - np.eye(3)[y]
    u = uniforms(row_keys(X, costs), np.random.RandomState(0).randint(2**31 - 1), 0)
    labels = (u[:, None] > np.cumsum(np.full(3, 1 / 3))).sum(axis=1)
    centred = costs[np.arange(40), labels] - 2 / 3
    model = small(n_estimators=1, max_leaf_nodes=60).fit(X, y)
    # With leaves enough every drawn row is told right from wrong.
    moved = model.model_.scores(X, 1)[np.arange(40), labels]
    np.testing.assert_array_equal(np.sign(moved), -np.sign(centred))


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_class_that_was_not_drawn_does_not_move():
    X, y = np.arange(3.0)[:, None], np.array([0, 1, 2])
    for random_state in range(20):
        model = small(n_estimators=1, random_state=random_state).fit(X, y)
        scores = model.model_.scores(X, 1)
        if (scores == 0).all(axis=0).any():
            return
    pytest.fail("in twenty draws of three labels one label never stayed away")


def test_random_state_draws():
    X, y = table(6, n=80, K=3)
    first, again, other = (small(random_state=s).fit(X, y).model_ for s in (0, 0, 1))
    assert_same_model(first, again)
    assert not np.array_equal(first.values, other.values)


# --- costs ------------------------------------------------------------------------------------


@BOTH
def test_costs_by_row_and_by_class_agree(projection):
    X, y = table(7, n=80, K=3)
    by_class = small(projection=projection, cost=COST).fit(X, y)
    by_row = small(projection=projection).fit(X, y, costs=COST[y])
    assert_same_model(by_class.model_, by_row.model_)
    plain = small(projection=projection).fit(X, y)
    assert_same_model(
        plain.model_, small(projection=projection, cost=1 - np.eye(3)).fit(X, y).model_
    )


@BOTH
@pytest.mark.parametrize("factor", [2.0**-20, 2.0**9])
def test_unit_of_the_costs_does_not_matter(projection, factor):
    X, y = table(7, n=80, K=3)
    one, other = (small(projection=projection, cost=COST * f).fit(X, y) for f in (1.0, factor))
    if projection == "exact":  # draws belong to the costs too
        assert_same_model(one.model_, other.model_)
    np.testing.assert_allclose(other.history_["step"][0], one.history_["step"][0], rtol=0.5)


def test_constant_of_a_row_does_not_matter():
    X, y = table(7, n=80, K=3)
    costs = COST[y]
    offset = np.random.default_rng(0).integers(5, size=(80, 1)).astype(float)
    here, there = (small(projection="exact").fit(X, y, costs=c) for c in (costs, costs + offset))
    np.testing.assert_allclose(there.decision_function(X), here.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(
        there.history_["loss"] - here.history_["loss"], offset.mean(), atol=1e-9
    )


def bells(seed, n=900):
    """Three overlapping classes, side by side in the first of three columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 3)) + 1.5 * y[:, None] * [1, 0, 0], y


@pytest.mark.parametrize("step", ["paper", "constant"])
def test_dear_mistakes_are_avoided(step, seed):
    cost = np.array([[0.0, 10.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    X, y = bells(seed)
    X_test, y_test = bells(seed + 50)
    plain, careful = (
        small(n_estimators=60, step=step, cost=c).fit(X, y).predict(X_test) for c in (None, cost)
    )
    assert expected_cost(y_test, careful, cost) < 0.6 * expected_cost(y_test, plain, cost)
    dear = [((y_test == 0) & (said == 1)).sum() for said in (plain, careful)]
    assert dear[1] < 0.2 * dear[0]


def test_costs_follow_their_rows():
    X, y = table(10, n=60, K=3)
    costs = np.random.default_rng(0).uniform(size=(60, 3))
    w = np.where(np.arange(60) % 4 == 0, 0.0, uneven_weights(0, 60))
    order = np.random.default_rng(1).permutation(60)
    model = small().fit(X, y, sample_weight=w, costs=costs)
    kept = w > 0
    assert_same_model(
        small().fit(X[kept], y[kept], sample_weight=w[kept], costs=costs[kept]).model_, model.model_
    )
    assert_same_model(
        small().fit(X[order], y[order], sample_weight=w[order], costs=costs[order]).model_,
        model.model_,
    )


def test_rows_held_out_take_their_costs_along():
    X, y = table(11, n=120, K=3)
    model = small(early_stopping=True, n_estimators=20).fit(X, y, costs=COST[y])
    assert_same_model(
        model.model_, small(early_stopping=True, n_estimators=20, cost=COST).fit(X, y).model_
    )


def test_early_stopping_may_watch_the_cost():
    X, y = table(12, n=200, K=3)
    X_val, y_val = table(13, n=150, K=3)
    model = small(
        cost=COST, scoring=expected_cost_scorer(COST), n_estimators=60, n_iter_no_change=10
    ).fit(X, y, X_val=X_val, y_val=y_val)
    watched = model.history_["validation_score"]
    assert model.n_iter_ == watched.argmax() + 1
    assert watched.max() == pytest.approx(-expected_cost(y_val, model.predict(X_val), COST))


@BOTH
def test_costs_resume_with_a_warm_start(projection):
    X, y = table(14, n=80, K=3)
    once = small(projection=projection, n_estimators=7).fit(X, y, costs=COST[y])
    twice = small(projection=projection, n_estimators=3, warm_start=True).fit(X, y, costs=COST[y])
    twice.set_params(n_estimators=7).fit(X, y, costs=COST[y])
    assert_same_model(twice.model_, once.model_)


def test_dear_right_labels_are_warned_of():
    X, y = table(7, n=80, K=3)
    wrong_way = np.array([[5.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    with pytest.warns(CostWarning, match=r"correct label cost more.*row 0.*5 for class 0"):
        small(cost=wrong_way).fit(X, y)


BAD_COSTS = {
    "not square": (COST[:2], ["(3, 3)", "Got shape (2, 3)"]),
    "too large": (np.ones((4, 4)) - np.eye(4), ["(3, 3)", "Got shape (4, 4)"]),
    "negative": (-COST, ["not negative", "-1.0", "row 0, column 1"]),
    "NaN": (np.where(COST == 3, np.nan, COST), ["finite", "nan", "row 2, column 1"]),
    "infinite": (np.where(COST == 3, np.inf, COST), ["finite", "inf"]),
    "words": (COST.astype(str).tolist()[:2] + [["a", "b", "c"]], ["numbers only"]),
}


@pytest.mark.parametrize(("cost", "words"), BAD_COSTS.values(), ids=BAD_COSTS)
def test_bad_cost_matrix_is_refused(cost, words):
    with pytest.raises(InvalidParameterError) as caught:
        small(cost=cost).fit(*table(0))
    for word in ["cost", *words]:
        assert word in str(caught.value)


BAD_ROW_COSTS = {
    "one dimension": (np.ones(120), ["120 rows", "one column per class", "(120,)"]),
    "too few rows": (np.ones((119, 3)), ["120 rows", "(119, 3)"]),
    "too few columns": (np.ones((120, 2)), ["each of the 3 classes", "Got 2 columns"]),
    "negative": (np.full((120, 3), -0.5), ["not negative", "-0.5", "row 0, column 0"]),
    "NaN": (np.full((120, 3), np.nan), ["finite", "nan"]),
    "infinite": (np.full((120, 3), np.inf), ["finite", "inf"]),
    "words": ([["a", "b", "c"]] * 120, ["costs", "numbers"]),
    "ragged": ([[1.0, 2.0, 3.0]] * 119 + [[1.0]], ["costs", "numbers"]),
}


@pytest.mark.parametrize(("costs", "words"), BAD_ROW_COSTS.values(), ids=BAD_ROW_COSTS)
def test_bad_costs_of_rows_are_refused(costs, words):
    with pytest.raises(InvalidDataError) as caught:
        small().fit(*table(0), costs=costs)
    for word in ["costs", *words]:
        assert word in str(caught.value)


# --- the stochastic rule ----------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 4])
def test_probabilities_are_the_rule_itself(K):
    X, y = table(15, n=80, K=K)
    model = small().fit(X, y)
    psi = model.model_.scores(X, 1)
    np.testing.assert_allclose(model.predict_proba(X), softmax(psi, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), psi.argmax(axis=1))


# --- several right labels ---------------------------------------------------------------------


def several_right(seed=0, n=120):
    X, y = table(seed, n=n, K=4)
    right = np.eye(4, dtype=int)[y]
    right[np.arange(0, n, 2), (y[::2] + 1) % 4] = 1  # every other row has two right labels
    return X, right


@BOTH
def test_any_right_label_costs_nothing(projection):
    X, right = several_right()
    model = small(projection=projection).fit(X, right)
    same = small(projection=projection).fit(X, right, costs=1.0 - right)
    assert_same_model(model.model_, same.model_)


def test_one_label_is_answered():
    X, right = several_right()
    model = small(n_estimators=60).fit(X, right)
    said = model.predict(X)
    assert said.shape == right.shape
    assert (said.sum(axis=1) == 1).all()
    assert (said * right).sum() / len(X) > 0.85
    np.testing.assert_array_equal(said.argmax(axis=1), model.decision_function(X).argmax(axis=1))
    assert_same_model(small(n_estimators=60).fit(X, sparse.csr_array(right)).model_, model.model_)


def test_cost_with_several_right_labels_is_that_of_the_nearest():
    X, right = several_right()
    cost = np.random.default_rng(0).uniform(1, 3, size=(4, 4)) * (1 - np.eye(4))
    by_row = np.array([cost[np.flatnonzero(r)].min(axis=0) for r in right])
    assert_same_model(
        small(cost=cost).fit(X, right).model_, small().fit(X, right, costs=by_row).model_
    )


def test_row_without_a_right_label_costs_the_same_for_any_prediction():
    X, right = several_right()
    right[5] = 0
    without = small(projection="exact").fit(X, right)
    kept = np.arange(len(X)) != 5
    other = small(projection="exact").fit(X[kept], right[kept])
    np.testing.assert_array_equal(without.model_.feature, other.model_.feature)
    np.testing.assert_array_equal(np.sign(without.model_.values), np.sign(other.model_.values))


def test_early_stopping_scores_the_predictions():
    X, right = several_right()
    X_val, right_val = several_right(1)
    model = small(n_estimators=30, n_iter_no_change=30).fit(X, right, X_val=X_val, y_val=right_val)
    answers = [accuracy_score(right_val, said) for said in model.staged_predict(X_val)]
    np.testing.assert_allclose(model.history_["validation_score"][: model.n_iter_], answers)
