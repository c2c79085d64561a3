"""Decisions from probabilities: costs, thresholds, sets, priors, and the classifier of them."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score
from sklearn.model_selection import GroupKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from support import table

from edgewise import AOSOLogitBoostClassifier, InvalidDataError, InvalidParameterError
from edgewise.decide import (
    ConformalSets,
    DecisionClassifier,
    adjust_priors,
    cost_interval,
    decide_by_cost,
    estimate_priors,
    fit_offsets,
)
from edgewise.decide._offsets import _best_offset, _problem, decide_by_offsets


def chances(seed, n=200, K=3, sharp=1.5):
    """Probabilities and codes that are drawn from them, so that they are calibrated."""
    rng = np.random.default_rng(seed)
    p = np.exp(sharp * rng.normal(size=(n, K)) - np.arange(K))
    p /= p.sum(axis=1, keepdims=True)
    return p, (rng.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1).clip(max=K - 1)


# --- costs ------------------------------------------------------------------------------------


def test_decisions_are_those_of_an_exhaustive_search_with_abstaining_and_costs_per_row():
    p, _ = chances(0)
    rng = np.random.default_rng(1)
    costs, value, price = rng.random((200, 3, 3)), rng.random(3), rng.random(200) * 0.5
    said = decide_by_cost(p, costs, value=value, reject_cost=price)
    for i in range(200):
        net = costs[i] - np.diag(value)
        options = {j: sum(p[i, k] * net[k, j] for k in range(3)) for j in range(3)} | {-1: price[i]}
        assert options[said[i]] == pytest.approx(min(options.values()))
    assert 0 < (said == -1).sum() < 200


def test_the_interval_of_a_mean_cost_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        found = cost_interval(rng.exponential(size=200))
        covered += found.low <= 1.0 <= found.high
    assert 0.93 <= covered / 2000 <= 0.96  # exponential costs are skew
    weighted = cost_interval([1.0, 2.0, 4.0], sample_weight=[1, 1, 0])
    assert weighted == pytest.approx(cost_interval([1.0, 2.0]))


# --- thresholds -------------------------------------------------------------------------------

METRICS = {
    "macro_f1": lambda t, s: f1_score(t, s, average="macro", labels=[0, 1, 2], zero_division=0),
    "balanced_accuracy": balanced_accuracy_score,
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_one_step_of_the_search_is_exact(metric, seed):
    p, y = chances(seed, n=60)
    problem = _problem(p, y, metric, None, None)
    rng = np.random.default_rng(seed)
    offsets = rng.normal(size=3)
    for k in range(3):
        score, place = _best_offset(problem, offsets, k)
        tried = []
        for b in [place, *rng.uniform(-8, 8, size=2000)]:
            b_all = offsets.copy()
            b_all[k] = b
            said = (problem.logs + b_all).argmax(axis=1)
            tried.append(METRICS[metric](problem.codes, said))
        assert score == pytest.approx(tried[0])
        assert score >= max(tried) - 1e-12


def test_one_step_of_the_search_is_exact_for_softened_labels():
    problem = _problem(*chances(5, n=60), "macro_f1", None, None).softened()
    assert problem.truth.sum(axis=1) == pytest.approx(np.ones(60))
    rng = np.random.default_rng(5)
    offsets = rng.normal(size=3)
    for k in range(3):
        score, place = _best_offset(problem, offsets, k)
        tried = []
        for b in [place, *rng.uniform(-8, 8, size=2000)]:
            b_all = offsets.copy()
            b_all[k] = b
            tried.append(problem.score((problem.logs + b_all).argmax(axis=1)))
        assert score == pytest.approx(tried[0])
        assert score >= max(tried) - 1e-12


def test_thresholds_raise_macro_f1_on_rows_never_seen_and_do_nothing_where_it_does_not_pay():
    p, y = chances(0, n=4000, K=4, sharp=1.0)
    new, truth = chances(1, n=4000, K=4, sharp=1.0)
    found = fit_offsets(p, y, "macro_f1")
    assert found.applied
    assert found.gain > found.gain_error > 0
    before = f1_score(truth, new.argmax(axis=1), average="macro")
    after = f1_score(truth, decide_by_offsets(new, found.offsets), average="macro")
    assert after > before + 0.02
    assert found.gain == pytest.approx(after - before, abs=0.02)
    # argmax is best for accuracy when probabilities are right: what is found is noise
    noise = fit_offsets(*chances(2, n=300), "accuracy")
    assert noise.found.any()
    assert not noise.applied
    assert not noise.offsets.any()


def test_recall_of_a_class_is_kept_and_a_function_is_searched_too():
    p, y = chances(3, n=3000, sharp=1.0)
    found = fit_offsets(p, y, ("recall", "c", 0.8), classes=["a", "b", "c"])
    said = decide_by_offsets(p, found.found)
    assert recall_score(y == 2, said == 2) >= 0.8
    assert found.applied
    # the same metric, as counts and as a function of labels
    counted = fit_offsets(p[:400], y[:400], "macro_f1")
    own = fit_offsets(p[:400], y[:400], METRICS["macro_f1"])
    assert own.plain == pytest.approx(counted.plain)
    score = [
        METRICS["macro_f1"](y[:400], decide_by_offsets(p[:400], f.found)) for f in (counted, own)
    ]
    assert min(score) > own.plain  # counts see softened labels, a function the labels alone


def test_weights_are_copies_and_the_order_of_rows_does_not_matter():
    p, y = chances(4, n=300)
    times = np.random.default_rng(0).integers(1, 4, size=300)
    weighted = fit_offsets(p, y, "macro_f1", sample_weight=times)
    copied = fit_offsets(np.repeat(p, times, axis=0), np.repeat(y, times), "macro_f1")
    assert weighted.found == pytest.approx(copied.found)
    assert weighted.gain == pytest.approx(copied.gain)
    order = np.random.default_rng(1).permutation(300)
    turned = fit_offsets(p[order], y[order], "macro_f1", sample_weight=times[order])
    assert turned.found.tobytes() == weighted.found.tobytes()
    assert turned.gain_error == weighted.gain_error


# --- sets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lac", "aps", "raps"])
@pytest.mark.parametrize("class_conditional", [False, True])
def test_coverage_is_within_its_finite_sample_band(method, class_conditional):
    """Over many draws the mean coverage is at least what was asked, and hardly more."""
    n, coverage, found = 300, 0.8, []
    for seed in range(60):
        p, y = chances(seed, n=n + 1000)
        p = p**2 / (p**2).sum(axis=1, keepdims=True)  # probabilities need not be right
        made = ConformalSets(coverage, method=method, class_conditional=class_conditional)
        inside = made.fit(p[:n], y[:n]).sets(p[n:])[np.arange(1000), y[n:]]
        found.append(
            [inside[y[n:] == k].mean() for k in range(3)] if class_conditional else inside.mean()
        )
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / 60**0.5
    rows = 20 if class_conditional else n
    assert (mean > coverage - 3 * error).all()
    assert (mean < coverage + 1 / rows + 3 * error).all()


def test_the_threshold_is_the_score_of_the_corrected_rank():
    p = np.column_stack([np.arange(1, 20) / 20, 1 - np.arange(1, 20) / 20])
    made = ConformalSets(0.9).fit(p, np.zeros(19, dtype=int))
    assert made.thresholds_ == pytest.approx(np.full(2, 0.9))  # the 18th of 19 scores 0.05 .. 0.95


@pytest.mark.parametrize("method", ["lac", "aps", "raps"])
def test_a_row_has_the_same_set_alone_and_in_any_batch(method):
    p, y = chances(7)
    made = ConformalSets(0.9, method=method, seed=3).fit(p, y)
    together = made.sets(p)
    assert (np.vstack([made.sets(row[None]) for row in p]) == together).all()
    order = np.random.default_rng(0).permutation(len(p))
    again = ConformalSets(0.9, method=method, seed=3).fit(p[order], y[order])
    assert again.thresholds_.tobytes() == made.thresholds_.tobytes()


# --- priors -----------------------------------------------------------------------------------


def test_estimated_priors_find_the_new_frequencies_and_make_probabilities_better():
    rng = np.random.default_rng(0)
    old, new = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])
    y = rng.choice(3, p=new, size=5000)
    X = rng.normal(size=5000) + 1.5 * y
    densities = np.exp(-0.5 * (X[:, None] - 1.5 * np.arange(3)) ** 2)
    p = densities * old / (densities * old).sum(axis=1, keepdims=True)  # right for the old ones
    found = estimate_priors(p, old)
    assert found == pytest.approx(new, abs=0.04)
    right = densities * new / (densities * new).sum(axis=1, keepdims=True)
    assert adjust_priors(p, old, new) == pytest.approx(right)
    losses = [-np.log(q[np.arange(5000), y]).mean() for q in (p, adjust_priors(p, old, found))]
    assert losses[1] < losses[0] - 0.1


# --- the classifier ---------------------------------------------------------------------------


def imbalanced(n=3000):
    X, y = make_classification(
        n,
        12,
        n_informative=6,
        n_classes=3,
        weights=[0.85, 0.1, 0.05],
        class_sep=0.7,
        random_state=0,
    )
    return train_test_split(X, np.array(["a", "b", "c"])[y], test_size=0.5, random_state=0)


FAST = AOSOLogitBoostClassifier(n_estimators=30)


def test_each_decision_improves_its_metric():
    X, X_test, y, y_test = imbalanced()
    plain = FAST.fit(X, y)
    model = DecisionClassifier(FAST, metric="macro_f1", coverage=0.9, cv=3).fit(X, y)
    macro = [f1_score(y_test, m.predict(X_test), average="macro") for m in (plain, model)]
    assert model.offsets_.applied
    assert macro[1] > macro[0]
    assert model.predict_proba(X_test).tobytes() == plain.predict_proba(X_test).tobytes()
    truth = np.searchsorted(model.classes_, y_test)
    covered = model.predict_sets(X_test)[np.arange(len(truth)), truth].mean()
    assert covered == pytest.approx(0.9, abs=0.03)

    cost = np.array([[0, 1, 1], [5, 0, 1], [20, 1, 0]])
    by_cost = DecisionClassifier(FAST, cost=cost, reject_cost=0.3, cv=3).fit(X, y)
    said = by_cost.predict(X_test)
    assert {"a", "reject"} <= set(said) <= {"a", "b", "c", "reject"}
    known = np.append(by_cost.classes_, "reject")
    places = np.array([known.tolist().index(s) for s in said])
    paid = np.column_stack([cost, np.full(3, 0.3)])[truth, places].mean()
    assert paid < cost[truth, np.searchsorted(model.classes_, plain.predict(X_test))].mean()
    low, high = by_cost.expected_cost_[1:]
    assert low - 0.03 < paid < high + 0.03


def test_out_of_fold_probabilities_of_the_estimator_are_used_where_there_are_some():
    class Knows(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.oof_proba_ = np.full((len(y), 3), 1 / 3)
            return self

    X, y = table(0)
    model = DecisionClassifier(Knows(), coverage=0.5).fit(X, y)
    assert (model.oof_proba_ == 1 / 3).all()
    other = DecisionClassifier(LogisticRegression(), coverage=0.5).fit(X, y)
    assert len(np.unique(other.oof_proba_)) > 100
    in_sample = other.estimator_.predict_proba(X)
    assert not np.isclose(in_sample, other.oof_proba_).all()


def test_the_classifier_adapts_to_new_class_frequencies():
    X, X_test, y, y_test = imbalanced()
    model = DecisionClassifier(FAST).fit(X, y)
    rng = np.random.default_rng(0)
    picked = np.concatenate([rng.choice(np.flatnonzero(y_test == k), 150) for k in "abc"])
    before = (model.predict(X_test[picked]) == y_test[picked]).mean()
    adapted = model.adapt(X_test[picked])
    # Boosting of 30 rounds is not calibrated, so the estimate is biased; it is far closer, though.
    off = [np.abs(q - 1 / 3).max() for q in (adapted.class_prior_, adapted.priors_)]
    assert off[1] < 0.5 * off[0]
    assert (adapted.predict(X_test[picked]) == y_test[picked]).mean() > before + 0.05
    given = DecisionClassifier(FAST, priors=np.full(3, 1 / 3)).fit(X, y)
    assert (given.predict(X_test[picked]) == y_test[picked]).mean() > before + 0.05


def twins(n_groups=60, size=5):
    """Groups of rows that are alike, whose labels are drawn by group."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(n_groups), size)
    X = rng.normal(size=(n_groups, 3))[groups] + 1e-3 * rng.normal(size=(len(groups), 3))
    return X, np.array(["a", "b"])[rng.permutation(n_groups) % 2][groups], groups


@pytest.mark.parametrize("cv", [5, GroupKFold(4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_a_group_are_held_out_together(cv, weighted):
    X, y, groups = twins()
    near = RandomForestClassifier(10, random_state=0)
    w = np.where(groups < 5, 0.0, 1.0) if weighted else None
    model = DecisionClassifier(near, cost=1 - np.eye(2), cv=cv)
    apart = model.fit(X, y, sample_weight=w, groups=groups).expected_cost_.mean
    assert apart > 0.3  # groups say nothing of each other
    names = np.array([f"patient {g}" for g in groups])
    assert model.fit(X, y, w, names).expected_cost_.mean > 0.3
    together = DecisionClassifier(near, cost=1 - np.eye(2)).fit(X, y, w).expected_cost_.mean
    assert together < 0.1


def test_a_classifier_that_knows_groups_gets_them():
    class Grouped(LogisticRegression):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.append(groups)
            return super().fit(X, y, sample_weight)

    X, y, groups = twins()
    seen = []
    DecisionClassifier(Grouped(), coverage=0.8, cv=3).fit(X, y, groups=groups)
    assert (seen[0] == groups).all()
    assert len(seen) == 4
    for part in seen[1:]:
        assert len(part) == 5 * len(np.unique(part)) < len(X)


def test_bad_groups_are_explained():
    X, y, groups = twins()
    model = DecisionClassifier(LogisticRegression(), coverage=0.8)
    for bad, words in (
        (groups[1:], "one entry for each of the 300 rows"),
        (np.zeros(300), "two groups or more"),
        (np.where(groups == 3, np.nan, groups), "a group for every row"),
    ):
        with pytest.raises(InvalidDataError, match=words):
            model.fit(X, y, groups=bad)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=20, random_state=0),
        GaussianNB(),
        KNeighborsClassifier(15),
        CalibratedClassifierCV(LinearSVC(random_state=0), cv=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_classifiers_of_scikit_learn_decide(estimator, n_classes):
    X, X_test, y, y_test = imbalanced()
    few = [np.isin(labels, list("abc")[:n_classes]) for labels in (y, y_test)]
    X, y, X_test, y_test = X[few[0]], y[few[0]], X_test[few[1]], y_test[few[1]]
    places = np.searchsorted(np.unique(y), y_test)
    cost = (1.0 - np.eye(n_classes)) * np.array([1, 8, 20])[:n_classes, np.newaxis]
    model = DecisionClassifier(estimator, cost=cost, coverage=0.9, cv=3).fit(X, y)
    paid = cost[places, np.searchsorted(model.classes_, model.predict(X_test))]
    plain = cost[places, model.predict_proba(X_test).argmax(axis=1)]
    assert paid.mean() < plain.mean()
    found = model.expected_cost_
    # both are means of about as many rows: their difference has twice the variance
    assert abs(paid.mean() - found.mean) < 2 * np.sqrt(2) * (found.high - found.mean)
    covered = model.predict_sets(X_test)[np.arange(len(places)), places]
    assert covered.mean() == pytest.approx(0.9, abs=0.035)
    tuned = DecisionClassifier(estimator, metric="balanced_accuracy", cv=3).fit(X, y)
    recalls = [
        balanced_accuracy_score(y_test, said)
        for said in (tuned.predict(X_test), model.classes_[model.predict_proba(X_test).argmax(1)])
    ]
    assert (recalls[0] > recalls[1]) == tuned.offsets_.applied


def test_costs_of_rows_change_decisions():
    X, y = table(1)
    model = DecisionClassifier(FAST).fit(X, y)
    forbid = np.tile(1.0 - np.eye(3), (len(X), 1, 1))
    forbid[:60, :, 0] = 9.0
    forbid[:60, 0, 0] = 8.0
    said = model.predict(X, costs=forbid)
    assert (said[:60] != 0).all()
    assert (said[60:] == model.predict(X)[60:]).all()


@parametrize_with_checks(
    [
        # None with a metric: the checks want the most likely class, which thresholds may change.
        DecisionClassifier(LogisticRegression(), coverage=0.5),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# --- bad input --------------------------------------------------------------------------------

GOOD = np.full((30, 2), 0.5)
CODES = np.arange(30) % 2


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: decide_by_cost(GOOD, np.ones((3, 3))), r"shape \(2, 2\).*Got shape \(3, 3\)"),
        (lambda: decide_by_cost(GOOD, [[0, -1], [1, 0]]), "not negative. Got -1"),
        (lambda: decide_by_cost(GOOD, np.full((30, 2, 2), np.nan)), "finite.*nan"),
        (lambda: decide_by_cost(GOOD, np.ones((5, 2, 2))), r"\(30, 2, 2\).*Got shape \(5, 2, 2\)"),
        (lambda: decide_by_cost(GOOD, 1 - np.eye(2), reject_cost=-1), "reject_cost must be"),
        (lambda: decide_by_cost(GOOD, 1 - np.eye(2), value=[1, 2, 3]), "value must hold"),
        (lambda: ConformalSets(1.0), "'coverage'.*below 1. Got 1.0"),
        (lambda: ConformalSets(0.99).fit(GOOD, CODES), "at least 99 calibration rows. Got 30"),
        (
            lambda: ConformalSets(0.95, class_conditional=True).fit(GOOD, CODES),
            "at least 19 calibration rows of class 0. Got 15",
        ),
        (lambda: ConformalSets(0.9).sets(GOOD), "call fit first"),
        (lambda: adjust_priors(GOOD, [0.5, 0.5], [0.5, 0.6]), "sum 1. Got"),
        (lambda: estimate_priors(GOOD, [1.0, 0.0]), "positive"),
        (lambda: fit_offsets(GOOD, CODES, "f2"), "metric must be one of 'accuracy'.*Got 'f2'"),
        (lambda: fit_offsets(GOOD, CODES, ("recall", 7, 0.5)), "one of the classes 0, 1"),
        (
            lambda: fit_offsets(GOOD, CODES * 0, ("recall", 1, 0.5)),
            "needs rows of the class 1. Got 30 rows, none",
        ),
        (lambda: fit_offsets(GOOD, CODES + 1, "accuracy"), "from 0 to 1. Got 1 to 2"),
        (lambda: fit_offsets(GOOD, CODES[:5], "accuracy"), "each of the 30 rows"),
        (lambda: cost_interval([1.0]), "two rows or more"),
    ],
)
def test_bad_input_is_explained(work, words):
    with pytest.raises((InvalidParameterError, InvalidDataError), match=words):
        work()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"cost": 1 - np.eye(3), "metric": "macro_f1"}, "not by both"),
        ({"reject_cost": 0.2}, "need 'cost'"),
        ({"coverage": 1.2}, "'coverage'"),
        ({"cost": 1 - np.eye(4)}, r"shape \(3, 3\)"),
        ({"priors": [0.5, 0.5, 0.5]}, "priors must hold"),
        ({"cost": 1 - np.eye(3), "reject_cost": 0.1, "reject_label": 2}, "none of the classes"),
    ],
)
def test_bad_parameters_are_explained(given, words):
    X, y = table(0)
    with pytest.raises(InvalidParameterError, match=words):
        DecisionClassifier(LogisticRegression(), **given).fit(X, y)


def test_sets_need_a_coverage():
    X, y = table(0)
    with pytest.raises(InvalidDataError, match="give DecisionClassifier a 'coverage'"):
        DecisionClassifier(LogisticRegression()).fit(X, y).predict_sets(X)
