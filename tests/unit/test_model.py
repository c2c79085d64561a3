"""The model as arrays: cutting, joining, staged prediction, importances, growth limits."""

import pickle
from collections import deque

import numpy as np
import pytest
from support import assert_same_model, table, training_loss, uneven_weights

from edgewise import (
    AOSOLogitBoostClassifier,
    LogitBoostClassifier,
    MARTClassifier,
    NewtonBoostClassifier,
    _core,
)
from edgewise._model.check import PER_NODE, PER_VALUE, TYPES
from edgewise._model.model import ModelBuilder
from edgewise.aoso_logitboost import auto_leaves


@pytest.fixture
def fitted(make, gappy):
    X, y = gappy
    return make().fit(X, y), X, y


def rounds_of(make, n_estimators, X, y):
    return make(n_estimators=n_estimators).fit(X, y).model_


# --- rounds -----------------------------------------------------------------------------------


def test_first_rounds_are_a_shorter_fit(make, gappy):
    whole = rounds_of(make, 6, *gappy)
    for n_rounds in (1, 4, 6):
        assert_same_model(whole.first_rounds(n_rounds), rounds_of(make, n_rounds, *gappy))


def test_zero_rounds_give_the_initial_scores(fitted):
    model, X, _ = fitted
    none = model.model_.first_rounds(0)
    assert none.n_rounds == 0
    np.testing.assert_array_equal(none.scores(X, 1), np.tile(none.start, (len(X), 1)))
    assert list(none.staged_scores(X, 1)) == []
    np.testing.assert_array_equal(none.gain_by_feature(), np.zeros(X.shape[1]))


def test_followed_by_undoes_the_cut(fitted):
    whole = fitted[0].model_
    first = whole.first_rounds(2)
    n_trees = int(whole.round_start[2])
    arrays = whole.arrays()
    node, value = whole.node_start[n_trees], whole.value_start[n_trees]
    per_node = ("feature", "left", "threshold", "missing_left", "gain", "cover")
    cut = {name: arrays[name][node:] for name in per_node}
    cut |= {name: arrays[name][value:] for name in ("classes", "values")}
    rest = type(
        whole
    )(  # the last four rounds, cut out by hand
        start=whole.start,
        n_features=whole.n_features,
        round_start=whole.round_start[2:] - n_trees,
        node_start=whole.node_start[n_trees:] - node,
        value_start=whole.value_start[n_trees:] - value,
        width=whole.width[n_trees:],
        **cut,
    )
    assert_same_model(first.followed_by(rest), whole)


def test_cutting_leaves_the_model_as_it_was(fitted):
    model, X, _ = fitted
    before = model.decision_function(X)
    model.model_.first_rounds(1).scores(X, 1)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_staged_predictions_are_those_of_truncated_models(make, dataset):
    X, y = dataset
    model = make(n_estimators=4).fit(X, y)
    stages = zip(
        model.staged_decision_function(X),
        model.staged_predict_proba(X),
        model.staged_predict(X),
        strict=True,
    )
    n_stages = 0
    for n_rounds, (decision, proba, labels) in enumerate(stages, start=1):
        part = make(n_estimators=n_rounds).fit(X, y)
        np.testing.assert_array_equal(decision, part.decision_function(X))
        if not hasattr(model, "sharpness_"):  # SAMME scales the probabilities of whole models
            np.testing.assert_array_equal(proba, part.predict_proba(X))
        np.testing.assert_array_equal(labels, part.predict(X))
        n_stages = n_rounds
    assert n_stages == model.n_iter_ == 4


def test_stages_are_arrays_of_their_own(fitted):
    model, X, _ = fitted
    for staged in (model.staged_decision_function, model.staged_predict_proba):
        first, *_, last = staged(X)
        assert not np.array_equal(first, last)


# --- prediction -------------------------------------------------------------------------------


def test_predictions_fit_together(make, dataset):
    X, y = dataset
    model = make().fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), len(model.classes_))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-14)
    decision = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[decision.argmax(axis=1)])


def test_probabilities_of_the_logistic_family_are_the_softmax(make_logistic, dataset):
    X, y = dataset
    model = make_logistic().fit(X, y)
    proba, decision = model.predict_proba(X), model.decision_function(X)
    softmax = np.exp(decision) / np.exp(decision).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(proba, softmax, rtol=1e-12)


def test_decision_of_two_classes_is_the_log_odds_of_the_second(make_logistic):
    X, y = table(0, n=80, K=2)
    model = make_logistic().fit(X, y)
    decision, proba = model.decision_function(X), model.predict_proba(X)
    assert decision.shape == (80,)
    np.testing.assert_allclose(decision, np.log(proba[:, 1] / proba[:, 0]), rtol=1e-9)
    each = 2 if isinstance(model, NewtonBoostClassifier) else 1
    assert len(model.model_.width) == each * model.n_iter_


@pytest.mark.parametrize("awkward", ["infinite", "huge", "denormal", "whole", "single"])
def test_training_rows_are_predicted_where_they_were_trained(make, awkward):
    """The loss that the fit keeps by bins is the loss of the predictions by thresholds."""
    X, y = table(1, n=200, K=3, missing=0.1)
    rng = np.random.default_rng(1)
    if awkward == "infinite":
        X[rng.random(X.shape) < 0.2] = np.inf
        X[rng.random(X.shape) < 0.2] = -np.inf
    elif awkward == "huge":
        X = X * 4e307
    elif awkward == "denormal":
        X = np.round(X * 50) * 5e-324
    elif awkward == "whole":
        X = np.round(np.nan_to_num(X) * 3).astype(np.int16)
    else:
        X = X.astype(np.float32)
    w = uneven_weights(1, len(y))
    model = make(max_bins=20).fit(X, y, sample_weight=w)
    assert model.n_iter_ == 6
    assert model.history_["loss"][-1] == pytest.approx(training_loss(model, X, y, w), abs=1e-11)


def test_rows_left_out_of_the_search_move_too(make):
    """Late rounds of many rows: most hardly count any more, but all have their leaf."""
    X, y = table(2, n=2500, K=3, noise=0.02)
    model = make(n_estimators=30, learning_rate=1.0, max_leaf_nodes=8).fit(X, y)
    expected = training_loss(model, X, y, np.ones(len(y)))
    assert model.history_["loss"][-1] == pytest.approx(expected, rel=1e-9)


def test_predictions_do_not_depend_on_type_and_layout(fitted):
    model, X, _ = fitted
    X = np.nan_to_num(X).round(1).astype(np.float32)
    expected = model.predict_proba(X)
    wide = np.zeros((len(X), 2 * X.shape[1]), dtype=np.float32)
    wide[:, ::2] = X
    for same in (X.astype(float), np.asfortranarray(X), wide[:, ::2], X.astype(">f4"), X.tolist()):
        np.testing.assert_array_equal(model.predict_proba(same), expected)


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 63, 64, 65, 130])
def test_rows_are_predicted_alike_in_every_block(fitted, n_rows):
    model, X, _ = fitted
    one_by_one = np.concatenate([model.decision_function(X[[i]]) for i in range(n_rows)])
    np.testing.assert_array_equal(model.decision_function(X[:n_rows]), one_by_one)


def test_infinite_values_take_the_outer_branches(fitted):
    model, X, _ = fitted
    for limit, beyond in ((1e300, np.inf), (-1e300, -np.inf)):
        np.testing.assert_array_equal(
            model.decision_function(np.full((1, X.shape[1]), limit)),
            model.decision_function(np.full((1, X.shape[1]), beyond)),
        )


# --- importances ------------------------------------------------------------------------------


def test_importances_are_shares_of_the_gain(fitted):
    model, X, _ = fitted
    importances = model.feature_importances_
    gain = np.zeros(X.shape[1])
    for feature, g in zip(model.model_.feature, model.model_.gain, strict=True):
        if feature >= 0:
            gain[feature] += g
    np.testing.assert_allclose(importances, gain / gain.sum(), rtol=1e-12)
    assert (model.model_.gain[model.model_.feature >= 0] > 0).all()


def test_importance_goes_to_the_feature_that_matters(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.digitize(X[:, 3], [-0.5, 0.5])
    importances = make().fit(X, y).feature_importances_
    assert importances.argmax() == 3
    assert importances[3] > 0.9


def test_gain_is_the_fall_of_the_quadratic_model():
    # Two equal halves parted by one split, from zero scores: g = +-1/2, h = 1/4, G^2 / H each.
    X, y = np.arange(8.0).reshape(-1, 1), np.repeat([0, 1], 4)
    parameters = {"max_leaf_nodes": 2, "min_samples_leaf": 1, "init": "zero"}
    model = LogitBoostClassifier(n_estimators=1, **parameters).fit(X, y).model_
    assert model.threshold[0] == 3.5
    assert model.gain[0] == pytest.approx(2 * (4 * 0.5) ** 2 / (4 * 0.25))


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_importances_without_a_split_are_zeros(make):
    model = make().fit(np.ones((12, 2)), np.arange(12) % 3)
    importances = model.feature_importances_
    assert importances.dtype == np.float64
    np.testing.assert_array_equal(importances, [0.0, 0.0])


# --- limits of growth -------------------------------------------------------------------------


def leaves_and_depths(model):
    """Number of leaves and depth of every tree."""
    for t in range(len(model.width)):
        at = model.node_start[t]
        todo, deepest, n_leaves = deque([(0, 0)]), 0, 0
        while todo:
            node, depth = todo.popleft()
            deepest = max(deepest, depth)
            if model.feature[at + node] < 0:
                n_leaves += 1
            else:
                left = int(model.left[at + node])
                todo += [(left, depth + 1), (left + 1, depth + 1)]
        yield n_leaves, deepest


@pytest.mark.parametrize("max_leaf_nodes", [2, 5, 11, None])
def test_max_leaf_nodes(make_trees, gappy, max_leaf_nodes):
    model = make_trees(max_leaf_nodes=max_leaf_nodes, n_estimators=2).fit(*gappy).model_
    n_leaves = [n for n, _ in leaves_and_depths(model)]
    if max_leaf_nodes is None:  # drawn cuts may all be useless: then a node stays a leaf
        assert min(n_leaves) >= (9 if make_trees.keywords.get("splitter") == "random" else 11)
    else:
        assert set(n_leaves) == {max_leaf_nodes}
    assert np.diff(model.node_start).tolist() == [2 * n - 1 for n in n_leaves]
    assert np.diff(model.value_start).tolist() == (n_leaves * model.width).tolist()


@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_max_depth(make_trees, gappy, max_depth):
    model = make_trees(max_depth=max_depth, max_leaf_nodes=None, n_estimators=2).fit(*gappy).model_
    depths = [depth for _, depth in leaves_and_depths(model)]
    assert max(depths) == max_depth


@pytest.mark.parametrize("min_samples_leaf", [1, 2, 10, 40, 75, 76])
@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_min_samples_leaf(make_trees, gappy, min_samples_leaf):
    X, y = gappy
    limits = {"min_samples_leaf": min_samples_leaf, "max_leaf_nodes": None}
    model = make_trees(n_estimators=2, **limits).fit(X, y)
    n_trees = len(model.model_.width)
    leaves = np.zeros((len(X), n_trees), dtype=np.int32)
    model.model_.forest.apply(X, 0, n_trees, leaves, 1)
    for t in range(n_trees):
        assert np.unique(leaves[:, t], return_counts=True)[1].min() >= min_samples_leaf
    if min_samples_leaf > 75:  # 150 rows cannot be parted
        assert (np.diff(model.model_.node_start) == 1).all()


def test_max_bins_limits_the_thresholds(make):
    X, y = table(0, n=300, K=3, d=2)
    model = make(max_bins=4, max_leaf_nodes=None).fit(X, y).model_
    thresholds = set(zip(model.feature.tolist(), model.threshold.tolist(), strict=True))
    assert len([t for f, t in thresholds if f == 0]) <= 3


def test_auto_leaves_grow_with_classes_and_rows():
    assert auto_leaves(50, 3) == 8
    assert auto_leaves(20_000, 26) > auto_leaves(20_000, 10) > 8
    assert auto_leaves(200_000, 10) > auto_leaves(20_000, 10)
    assert auto_leaves(500, 26) < auto_leaves(10**6, 26)
    assert auto_leaves(10**9, 10) == auto_leaves(10**9, 10**4) == 256
    assert auto_leaves(10**9, 300) == 900
    assert auto_leaves(10**9, 2000) == 1024
    assert 256 < auto_leaves(10**9, 4000) < 1024


def test_auto_leaves_are_used():
    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 4
    model = AOSOLogitBoostClassifier(n_estimators=1, min_samples_leaf=1).fit(X, y).model_
    assert next(leaves_and_depths(model))[0] == auto_leaves(400, 4)


# --- storage ----------------------------------------------------------------------------------


def test_a_pickle_contains_arrays_only(fitted):
    model, X, _ = fitted
    model.predict(X)  # the forest is built
    copy = pickle.loads(pickle.dumps(model.model_))
    assert copy._forest == []
    assert_same_model(copy, model.model_)
    np.testing.assert_array_equal(copy.scores(X, 1), model.model_.scores(X, 1))


def test_only_classes_that_move_are_stored(gappy):
    widths = {
        kind: set(AOSOLogitBoostClassifier(leaf=kind, n_estimators=3).fit(*gappy).model_.width)
        for kind in ("pair", "vector")
    }
    assert widths == {"pair": {2}, "vector": {3}}
    assert set(MARTClassifier(n_estimators=3).fit(*gappy).model_.width) == {1}


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_nothing_is_allocated_for_rounds_that_never_come(make_drawless):
    X, y = np.ones((20, 1)), np.arange(20) % 2  # nothing to learn
    assert make_drawless(n_estimators=10**9).fit(X, y).n_iter_ <= 1


def test_trees_of_the_core_show_their_arrays(gappy, monkeypatch):
    trees = []
    append = ModelBuilder.append
    monkeypatch.setattr(
        ModelBuilder, "append", lambda self, new: (trees.extend(new), append(self, new))
    )
    X, y = gappy
    model = AOSOLogitBoostClassifier(n_estimators=1, max_leaf_nodes=4).fit(X, y).model_
    (tree,) = trees
    per_node = ("feature", "left", "threshold", "missing_left", "gain", "cover")
    for name in (*per_node, "classes", "values"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(model, name))
    assert tree.leaf_of_row.shape == (len(X),)
    assert tree.width == 2
    assert not tree.moves_nothing


def test_the_lists_of_arrays_are_one():
    """That of the core (tree_arrays.hpp), of the model and of the checks."""
    X, y = table(0, n=60, K=3)
    of_core = _core.ForestStore().arrays()
    of_model = MARTClassifier(n_estimators=2).fit(X, y).model_.arrays()
    own = {"start", "round_start"}
    assert set(TYPES) == set(of_model) == set(of_core) | own
    assert {name: of_model[name].dtype for name in TYPES} == TYPES
    assert {name: array.dtype for name, array in of_core.items()} == {
        name: dtype for name, dtype in TYPES.items() if name not in own
    }
    assert {len(of_model[name]) for name in PER_NODE} == {len(of_model["feature"])}
    assert {len(of_model[name]) for name in PER_VALUE} == {len(of_model["values"])}
