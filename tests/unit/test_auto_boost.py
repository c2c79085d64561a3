"""AutoBoost: folds, members, one forest, what a fit leaves, and bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import log_softmax
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from support import assert_same_model, nominal_table, table

import edgewise
from edgewise import (
    AutoBoostClassifier,
    FitWarning,
    InvalidDataError,
    InvalidParameterError,
    _core,
)
from edgewise._auto.expected import PerRow, expected
from edgewise._auto.folds import NEVER, dealt_folds, group_folds
from edgewise._auto.held_out import FEW, held_out
from edgewise._auto.members import (
    LARGEST_RATE,
    STEADY_ROUNDS,
    Member,
    _Quickening,
    mean_model,
)
from edgewise._auto.selection import greedy_weights
from edgewise._data.rows import Rows
from edgewise.decide import DecisionClassifier

FAST = {"effort": "fast"}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X[:900], y[:900], random_state=0, stratify=y[:900])


@pytest.fixture(scope="module")
def on_digits(digits):
    X, _, y, _ = digits
    return AutoBoostClassifier(**FAST).fit(X, y)


# --- members ----------------------------------------------------------------------------------


def steps(n, seed):
    """Eight classes, parted by four cuts of two columns."""
    X = np.random.default_rng(seed).random((n, 4))
    return X, (np.floor(4 * X[:, 0]) + 4 * (X[:, 1] > 0.5)).astype(int)


def test_the_penalty_of_leaves_falls_with_the_loss():
    X_new, y_new = steps(4000, seed=1)
    model = AutoBoostClassifier(**FAST).fit(*steps(800, seed=0))
    assert model.members_["rounds"].mean() < 100  # 128 where the penalty stayed
    assert log_loss(y_new, model.predict_proba(X_new)) < 0.03


def codes_of_classes(n, seed):
    """Each of 80 categories has one of five classes; three columns say nothing."""
    rng = np.random.default_rng(seed)
    category = rng.integers(80, size=n)
    return np.c_[category, rng.normal(size=(n, 3))], (7919 * category % 80) % 5


def test_categories_of_few_rows_are_learned_in_groups():
    X_new, y_new = codes_of_classes(3000, seed=1)
    model = AutoBoostClassifier(**FAST, categorical_features=[0]).fit(
        *codes_of_classes(600, seed=0)
    )
    assert log_loss(y_new, model.predict_proba(X_new)) < 0.25  # 0.35 without groups


# --- the same bits ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_threads_do_not_matter(digits, on_digits, n_jobs):
    X, _, y, _ = digits
    model = AutoBoostClassifier(**FAST, n_jobs=n_jobs).fit(X, y)
    assert_same_model(model.model_, on_digits.model_)
    np.testing.assert_array_equal(model.oof_proba_, on_digits.oof_proba_)


@pytest.mark.parametrize("kind", ["plain", "weights", "soft", "repeated"])
def test_the_order_of_rows_does_not_matter(kind):
    rng = np.random.default_rng(3)
    X, y = table(1, n=260, missing=0.1, levels=4 if kind == "repeated" else None)
    w = rng.uniform(0.5, 2.0, len(X)) if kind == "weights" else None
    if kind == "soft":
        y = rng.dirichlet(np.ones(3), len(X))
    order = rng.permutation(len(X))
    first = AutoBoostClassifier(**FAST).fit(X, y, w)
    second = AutoBoostClassifier(**FAST).fit(X[order], y[order], None if w is None else w[order])
    assert_same_model(first.model_, second.model_)
    assert first.expected_error_ == second.expected_error_
    assert first.expected_log_loss_ == second.expected_log_loss_
    if kind != "repeated":  # of equal rows either may be the one in a fold
        np.testing.assert_array_equal(first.oof_proba_[order], second.oof_proba_)


def test_a_seed_draws_other_folds(digits, on_digits):
    X, _, y, _ = digits
    other = AutoBoostClassifier(**FAST, random_state=1).fit(X, y)
    assert not np.array_equal(other.oof_proba_, on_digits.oof_proba_)


def test_up_to_few_rows_a_row_of_weight_two_is_two_rows():
    X, y = table(2, n=FEW // 2)
    w = np.random.default_rng(0).integers(1, 3, len(X))
    assert w.sum() <= FEW
    repeated = AutoBoostClassifier(**FAST).fit(X.repeat(w, axis=0), y.repeat(w))
    weighted = AutoBoostClassifier(**FAST).fit(X, y, sample_weight=w)
    assert_same_model(repeated.model_, weighted.model_)


@pytest.mark.parametrize("factor", [2.0**-10, 2.0**-600])
def test_weights_may_be_shares_of_a_whole(factor):
    X, y = table(2, n=300)
    w = np.random.default_rng(0).uniform(0.1, 0.9, len(X))
    shares = AutoBoostClassifier(**FAST).fit(X, y, sample_weight=w * factor)
    assert_same_model(shares.model_, AutoBoostClassifier(**FAST).fit(X, y, sample_weight=w).model_)


# --- folds ------------------------------------------------------------------------------------


def test_every_fold_holds_its_share_of_every_class():
    codes = np.random.default_rng(0).integers(3, size=403).astype(np.int32)
    folds = dealt_folds(codes, 8, seed=5)
    for k in range(3):
        counts = np.bincount(folds[codes == k], minlength=8)
        assert counts.max() - counts.min() <= 1
    sizes = np.bincount(folds)
    assert sizes.max() - sizes.min() <= 1


def test_the_only_row_of_a_class_is_never_held_out():
    folds = dealt_folds(np.array([0, 1, 0, 0], dtype=np.int32), 8, seed=0)
    assert folds[1] == NEVER
    assert sorted(folds[[0, 2, 3]]) == [0, 1, 2]


def test_groups_stay_together_and_classes_are_spread():
    rng = np.random.default_rng(1)
    groups = rng.integers(40, size=800)
    codes = (groups % 4).astype(np.int32)  # a group has one class
    folds = group_folds(codes, groups, 8, seed=0)
    for g in range(40):
        assert len(np.unique(folds[groups == g])) == 1
    for k in range(4):
        counts = np.bincount(folds[codes == k], minlength=8)
        assert counts.min() > 0.5 * counts.mean()


def test_rows_return_to_where_they_came_from():
    X, y = table(0, n=300)
    held = held_out(Rows(X, y.astype(np.int32), None), None, [4], seed=0)
    np.testing.assert_array_equal(held.rows.X[held.place], X)
    np.testing.assert_array_equal(held.rows.codes[held.place], y)


# --- members ----------------------------------------------------------------------------------


def test_out_of_fold_probabilities_are_of_members_that_have_not_seen_the_row():
    """Labels are noise: who has seen a row knows more of it than who has not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), rng.integers(2, size=600)
    X[:, 0] += 2.0 * y * (rng.random(600) < 0.5)
    model = AutoBoostClassifier().fit(X, y)
    seen = log_loss(y, model.predict_proba(X))
    unseen = log_loss(y, model.oof_proba_)
    fresh = rng.normal(size=(4000, 5))
    labels = rng.integers(2, size=4000)
    fresh[:, 0] += 2.0 * labels * (rng.random(4000) < 0.5)
    new = log_loss(labels, model.predict_proba(fresh))
    assert seen < 0.9 * new
    assert abs(unseen / new - 1.0) < 0.08


def test_the_model_is_the_mean_of_its_members(digits, on_digits):
    """Scores of rounds that belong to a member add up to its share of the scores."""
    _, X, _, _ = digits
    model = on_digits.model_
    assert model.n_rounds == on_digits.members_["rounds"].sum()
    assert on_digits.members_["weight"].sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(
        np.bincount(on_digits.history_["member"]), on_digits.members_["rounds"]
    )
    np.testing.assert_allclose(
        log_softmax(model.scores(X, 1), axis=1), np.log(on_digits.predict_proba(X)), atol=1e-9
    )


def test_the_learning_rate_grows_up_to_its_limit():
    rule = edgewise.AOSOLogitBoostClassifier(learning_rate=0.2)._round_rule(3, {})
    quickening = _Quickening(rule)
    rates = []
    for _ in range(5 * STEADY_ROUNDS):
        quickening.begin()
        rates.append(rule.learning_rate)
    assert set(rates[: STEADY_ROUNDS + 1]) == {0.2}
    assert rates[2 * STEADY_ROUNDS] == pytest.approx(0.4)
    assert (np.diff(rates) >= 0).all()
    assert rates[-1] == pytest.approx(0.2 * LARGEST_RATE)


def test_the_mean_of_members_is_a_weighted_mean_of_scores():
    X, y = table(0)
    first, second = (edgewise.MARTClassifier(n_estimators=n).fit(X, y).model_ for n in (2, 3))
    nothing, no_rows = np.zeros(0), np.zeros((0, 3))
    members = [
        Member("any", 0, (0,), model, np.arange(0), no_rows, nothing, nothing, 0.0)
        for model in (first, second)
    ]
    mean = mean_model(members, [1.0, 3.0])
    wanted = 0.25 * first.scores(X, 1) + 0.75 * second.scores(X, 1)
    np.testing.assert_allclose(mean.scores(X, 1), wanted, rtol=1e-12)


def test_row_losses_of_the_core_are_those_of_scipy():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=8.0, size=(500, 7))
    codes = rng.integers(7, size=500).astype(np.int32)
    wanted = -log_softmax(scores, axis=1)[np.arange(500), codes]
    for threads in (1, 3):
        got = _core.log_losses(scores, codes, threads)
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="label"):
        _core.log_losses(scores, np.full(500, 7, dtype=np.int32), 1)
    with pytest.raises(ValueError, match="one label per row"):
        _core.log_losses(scores, codes[:10], 1)


def test_the_loss_of_some_rows_is_theirs():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=50).astype(np.int32)
    weights = rng.uniform(0.1, 1.0, 50)
    start = np.array([0.3, -0.1, -0.2])
    posterior = _core.Posterior(codes, weights, start, "by_row")
    rows = np.array([3, 7, 20], dtype=np.uint32)
    wanted = np.average(-log_softmax(start)[codes[rows]], weights=weights[rows])
    assert posterior.loss_of(rows) == pytest.approx(wanted, rel=1e-9)
    with pytest.raises(IndexError, match="no such row"):
        posterior.loss_of(np.array([50], dtype=np.uint32))


def test_greedy_selection_finds_the_mean_that_is_best():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(400, 2))
    stages = [truth + rng.normal(size=truth.shape) for _ in range(3)] + [rng.normal(size=(400, 2))]
    weights = greedy_weights(stages, lambda F: float(np.square(F - truth).mean()))
    assert weights[3] <= 1
    assert (weights[:3] > 0).all()
    share = weights[:3] / weights.sum()
    assert share.max() < 0.5


# --- what a fit leaves ------------------------------------------------------------------------


def test_expected_figures_hold_on_new_rows():
    inside = []
    for seed in range(12):
        X, y = make_classification(
            1200, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=seed
        )
        model = AutoBoostClassifier(**FAST).fit(X[:700], y[:700])
        proba = model.predict_proba(X[700:])
        error = float((model.classes_[proba.argmax(axis=1)] != y[700:]).mean())
        for figure, announced in (
            (error, model.expected_error_),
            (log_loss(y[700:], proba), model.expected_log_loss_),
        ):
            assert announced.low <= announced.value <= announced.high
            inside.append(announced.low <= figure <= announced.high)
    assert np.mean(inside) >= 0.85


def test_the_gain_of_averaging_is_extrapolated():
    """Losses are L + c / m with noise; one member in half of the rows, two in the others."""
    rng = np.random.default_rng(0)
    n, L, c = 40_000, 0.5, 0.2
    m = np.where(np.arange(n) % 2, 2.0, 1.0)
    noise = rng.normal(scale=0.05, size=n)
    rows = PerRow(L + c / m + noise, L + c + noise, m, np.ones(n), 1.0)
    found = expected(rows, 10, 10_000, most=10.0)
    assert found.value == pytest.approx(L + c / 10, abs=0.003)
    assert found.low < L + c / 10 < found.high


def test_planted_flips_come_first():
    X, y = load_digits(return_X_y=True)
    X, y = X[:800], y[:800].copy()
    rng = np.random.default_rng(0)
    flipped = rng.choice(800, 80, replace=False)
    y[flipped] = (y[flipped] + rng.integers(1, 10, 80)) % 10
    model = AutoBoostClassifier(**FAST).fit(X, y)
    found = edgewise.suspicious_rows(model, X, y)
    assert np.isin(found.rows[:80], flipped).mean() > 0.85
    score = 0.5 * (1.0 - model.oof_proba_[np.arange(800), y])
    assert (found.score >= score - 1e-12).all()


def test_suspicious_rows_need_the_rows_of_the_fit(on_digits, digits, tmp_path):
    X, _, y, _ = digits
    with pytest.raises(InvalidDataError, match="the rows of the fit"):
        edgewise.suspicious_rows(on_digits, X[:50], y[:50])
    on_digits.save(tmp_path / "m")
    with pytest.raises(InvalidDataError, match="does not hold out-of-fold"):
        edgewise.suspicious_rows(edgewise.load(tmp_path / "m"), X, y)


def test_decisions_take_the_probabilities_of_the_fit(digits):
    X, _, y, _ = digits
    decided = DecisionClassifier(AutoBoostClassifier(**FAST)).fit(X, y)
    np.testing.assert_array_equal(decided.predict(X[:50]), decided.estimator_.predict(X[:50]))


def test_the_limit_on_trees_keeps_the_first_members(digits, on_digits):
    X, X_test, y, _ = digits
    whole = on_digits.members_["rounds"]
    limit = int(whole[:2].sum())
    small = AutoBoostClassifier(**FAST, max_trees=limit).fit(X, y)
    assert small.model_.n_trees == limit
    assert len(small.members_["rounds"]) == 2
    tiny = AutoBoostClassifier(**FAST, max_trees=5).fit(X, y)
    assert tiny.model_.n_trees == 5
    assert tiny.predict(X_test).shape == (len(X_test),)


@pytest.mark.parametrize("limit", [1, 5])
def test_what_is_expected_of_a_model_is_that_of_the_trees_it_keeps(digits, limit):
    X, X_test, y, y_test = digits
    cut = AutoBoostClassifier(**FAST, max_trees=limit).fit(X, y)
    seen = ~np.isnan(cut.oof_proba_).any(axis=1)
    np.testing.assert_allclose(cut.oof_proba_[seen], cut.predict_proba(X)[seen], rtol=1e-12)
    assert cut.expected_log_loss_.value == pytest.approx(cut.members_["held_out_loss"][0])
    assert cut.expected_error_.low < 1 - cut.score(X_test, y_test) < cut.expected_error_.high


def test_best_effort_weighs_stages(digits):
    X, X_test, y, y_test = digits
    model = AutoBoostClassifier(effort="best").fit(X[:300], y[:300])
    assert 1 <= len(np.unique(model.members_["stage"])) <= 5
    assert model.score(X_test, y_test) > 0.85


# --- kinds of data ----------------------------------------------------------------------------


def test_categories_missing_values_and_names(tmp_path):
    X, y = nominal_table(0, n=300, missing=0.1)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    frame["f0"] = frame["f0"].map(lambda v: v if pd.isna(v) else f"word {v:g}")
    model = AutoBoostClassifier(**FAST).fit(frame, y)
    assert model.is_categorical_[0]
    model.save(tmp_path / "m")
    again = edgewise.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


def test_many_categories_do_not_leak_labels():
    """A category for every row or two tells nothing of new rows, and the fit must know."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"c{v}" for v in rng.integers(700, size=1400)]})
    y = rng.integers(3, size=1400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        model = AutoBoostClassifier(**FAST).fit(frame, y)
    assert log_loss(y, model.oof_proba_) > 1.08  # log 3 is 1.0986


def test_sparse_rows_are_as_dense_ones():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 30)) < 0.1, rng.normal(size=(300, 30)), 0.0)
    y = (X.sum(axis=1) > 0).astype(int) + (X[:, :9].sum(axis=1) > 0)
    dense = AutoBoostClassifier(**FAST).fit(X, y)
    sparse = AutoBoostClassifier(**FAST).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(X), rtol=1e-9)


def test_two_classes_and_class_weights():
    X, y = make_classification(400, 6, weights=[0.9], random_state=0)
    plain = AutoBoostClassifier(**FAST).fit(X, y)
    balanced = AutoBoostClassifier(**FAST, class_weight="balanced").fit(X, y)
    assert balanced.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()


def test_constraints_hold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model = AutoBoostClassifier(**FAST, monotonic_cst=[1, 0, 0]).fit(X, y)
    grid = np.zeros((50, 3))
    grid[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(model.decision_function(grid)) >= 0).all()


@pytest.mark.parametrize("n", [2, 5, 12])
def test_few_rows_are_allowed(n):
    X, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        model = AutoBoostClassifier().fit(X, y)
    assert model.predict_proba(X).shape == (n, 2)


# --- bad input --------------------------------------------------------------------------------


def test_a_class_of_one_row_is_learned_with_a_warning():
    X, y = load_iris(return_X_y=True)
    X, y = X[:101], y[:101]
    with pytest.warns(FitWarning, match="Class 2 has only one row"):
        model = AutoBoostClassifier(**FAST).fit(X, y)
    assert list(model.classes_) == [0, 1, 2]
    assert np.isnan(model.oof_proba_[100]).all()
    assert np.isfinite(model.oof_proba_[:100]).all()


def test_a_fit_that_learns_nothing_warns():
    X, y = np.zeros((60, 2)), np.arange(60) % 3
    X[:, 1] = np.arange(60)
    X[:, 1] //= 3
    with pytest.warns(FitWarning, match="No member learned anything"):
        model = AutoBoostClassifier(**FAST).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), 1 / 3)


def test_a_time_limit_too_short_for_one_member_still_gives_one(digits):
    X, X_test, y, _ = digits
    with pytest.warns(FitWarning, match="enough for one member only"):
        model = AutoBoostClassifier(time_limit=1e-6, n_jobs=1).fit(X, y)
    assert len(model.members_["rounds"]) == 1
    assert model.predict(X_test).shape == (len(X_test),)


def test_groups_are_checked():
    X, y = table(0)
    with pytest.raises(InvalidDataError, match=r"one entry for each of the 120 rows.*shape \(3,\)"):
        AutoBoostClassifier().fit(X, y, groups=[1, 2, 3])
    with pytest.raises(InvalidDataError, match="two groups or more"):
        AutoBoostClassifier().fit(X, y, groups=["a"] * 120)


def test_rows_of_a_group_are_held_out_together():
    """Rows of a group share their features and label: only other groups are news."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(80), 10)
    X = rng.normal(size=(80, 4))[groups] + 1e-3 * rng.normal(size=(800, 4))
    y = rng.integers(2, size=80)[groups]
    with_groups = AutoBoostClassifier(**FAST).fit(X, y, groups=groups)
    without = AutoBoostClassifier(**FAST).fit(X, y)
    assert without.expected_error_.value < 0.1
    assert with_groups.expected_error_.value > 0.3


def test_a_class_in_one_group_is_warned_of():
    X, y = table(0, n=240)
    groups = np.arange(240) % 6
    groups[y == 2] = 7
    with pytest.warns(FitWarning, match="Class 2 has all rows in groups of one fold"):
        AutoBoostClassifier(**FAST).fit(X, y, groups=groups)


@pytest.mark.parametrize(
    "given",
    [
        {"monotonic_cst": [1]},
        {"monotonic_cst": [1, 0, 0]},  # of which of three classes?
        {"monotonic_cst": {0: {"nowhere": 1}}},
        {"monotonic_cst": {0: {0: 1, (1, 0): 1}}},
        {"monotonic_cst": {"nowhere": {0: 1}}},
        {"interaction_cst": [{0, 99}]},
    ],
)
def test_wrong_constraints_are_those_of_this_class(given):
    X, y = table(0)
    (name,) = given
    with pytest.raises(InvalidParameterError, match=f"^The '{name}' parameter of AutoBoost"):
        AutoBoostClassifier(**given).fit(X, y)


def test_a_failed_fit_leaves_the_old_model(digits, on_digits):
    X, X_test, y, _ = digits
    model = AutoBoostClassifier(**FAST).fit(X, y)
    before = model.predict_proba(X_test)
    with pytest.raises(InvalidDataError):
        model.fit(X, y[:-1])
    np.testing.assert_array_equal(model.predict_proba(X_test), before)


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("effort", ["fast", "default"])
def test_fewer_groups_than_folds_are_enough(n_groups, effort):
    """A member that holds out two folds must not be left without rows."""
    X, y = table(11, n=90)
    groups = np.arange(90) % n_groups
    model = AutoBoostClassifier(effort=effort).fit(X, y, groups=groups)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.oof_proba_).all()


def test_groups_of_one_class_each_do_not_all_share_a_fold():
    codes = np.repeat(np.arange(3, dtype=np.int32), 30)
    for seed in range(20):
        assert len(np.unique(group_folds(codes, codes.astype(np.intp), 4, seed))) == 3
    X, _ = table(12, n=90)
    with pytest.warns(FitWarning, match=r"in groups of one fold|No member learned anything"):
        model = AutoBoostClassifier(**FAST, max_trees=20).fit(X, codes, groups=codes)
    assert np.isfinite(model.predict_proba(X)).all()


NO_GROUP = {
    "NaN": np.where(np.arange(120) == 7, np.nan, np.arange(120) % 5),
    "None": np.array([None if i == 7 else "ab"[i % 2] for i in range(120)], dtype=object),
    "NaT": np.array(["2020", "2021"], dtype="M8[Y]")[np.arange(120) % 2],
    "pandas": pd.Series([None if i == 7 else i % 5 for i in range(120)], dtype="Float64"),
}
NO_GROUP["NaT"][7] = "NaT"


@pytest.mark.parametrize("kind", NO_GROUP)
def test_every_row_needs_a_group(kind):
    X, y = table(0)
    with pytest.raises(InvalidDataError, match="groups must name a group.*1 of 120 rows.* row 7"):
        AutoBoostClassifier(**FAST).fit(X, y, groups=NO_GROUP[kind])


def test_groups_of_rows_without_weight_do_not_count():
    X, y = table(0)
    groups = np.arange(len(y)) % 2
    with pytest.raises(InvalidDataError, match="groups must name two groups or more"):
        AutoBoostClassifier(**FAST).fit(X, y, sample_weight=groups, groups=groups)


def test_masked_groups_are_refused():
    X, y = table(0)
    groups = np.ma.array(np.arange(120) % 5, mask=np.arange(120) == 7)
    with pytest.raises(InvalidDataError, match="groups must not have masked values. Got 1 of 120"):
        AutoBoostClassifier(**FAST).fit(X, y, groups=groups)
