"""Covers: the share of the training rows' weight that reaches each node."""

import numpy as np
import pytest
from support import VARIANTS, nominal_table, table, uneven_weights

import edgewise


def naive_covers(model, X, weights):
    """Walks every row down every tree and adds up its share at the nodes it comes by."""
    shares = weights / weights.sum()
    n_trees = model.n_trees
    leaves = np.zeros((len(X), n_trees), dtype=np.int32)
    model.forest.apply(X, 0, n_trees, leaves, 1)
    cover = np.zeros(len(model.feature))
    for t in range(n_trees):
        begin, end = model.node_start[t], model.node_start[t + 1]
        parent = {}
        for i in range(begin, end):
            if model.feature[i] >= 0:
                parent |= dict.fromkeys((begin + model.left[i], begin + model.left[i] + 1), i)
        for i in range(begin, end):
            if model.feature[i] < 0:
                share, node = shares[leaves[:, t] == model.left[i]].sum(), i
                while node is not None:
                    cover[node] += share
                    node = parent.get(node)
    return cover


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_covers_are_shares_of_the_rows(make, weighted):
    X, y = nominal_table(3, n=150, missing=0.1)
    w = uneven_weights(3, len(X)) if weighted else None
    model = make(categorical_features=[0, 1]).fit(X, y, sample_weight=w).model_
    expected = naive_covers(model, X, np.ones(len(X)) if w is None else w)
    np.testing.assert_allclose(model.cover, expected, rtol=0, atol=1e-12)
    assert (model.cover[model.node_start[:-1]] == 1.0).all()


def test_rows_that_take_no_part_in_the_search_count():
    X, y = table(1, n=3000, noise=0.02)
    model = edgewise.LogitBoostClassifier(n_estimators=30, learning_rate=0.5).fit(X, y).model_
    np.testing.assert_allclose(model.cover, naive_covers(model, X, np.ones(3000)), atol=1e-12)


def test_rows_that_were_not_drawn_count():
    X, y = table(1, n=300)
    half = edgewise.LogitBoostClassifier(n_estimators=4, subsample=0.5, random_state=0).fit(X, y)
    expected = naive_covers(half.model_, X, np.ones(300))
    np.testing.assert_allclose(half.model_.cover, expected, atol=1e-12)


def test_a_weight_of_two_is_a_row_twice():
    X, y = table(4)
    twice = np.arange(len(X)) % 3 == 0
    make = VARIANTS["logitboost"]
    weighted = make().fit(X, y, sample_weight=1.0 + twice).model_
    repeated = make().fit(np.concatenate([X, X[twice]]), np.concatenate([y, y[twice]])).model_
    np.testing.assert_array_equal(weighted.cover, repeated.cover)


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
def test_a_continued_model_has_the_covers_of_all_its_rounds(make):
    X, y = table(5)
    at_once = make(n_estimators=4).fit(X, y)
    continued = make(n_estimators=2, warm_start=True).fit(X, y)
    continued.set_params(n_estimators=4).fit(X, y)
    assert continued.model_.cover.tobytes() == at_once.model_.cover.tobytes()
    cut = at_once.model_.first_rounds(1)
    assert len(cut.cover) == len(cut.feature)


def test_nodes_of_a_branching_program_count_the_mass_they_see():
    X, y = table(6, K=2)
    model = edgewise.MartiBoostClassifier(n_layers=4, random_state=0).fit(X, y).model_
    trees = model.trees
    assert (trees.cover[trees.node_start[:-1]] == 1.0).all()
    first = naive_covers(trees, X, np.ones(len(X)))[: trees.node_start[1]]  # sees every row
    np.testing.assert_allclose(trees.cover[: trees.node_start[1]], first, atol=1e-12)
    leaf = trees.feature < 0
    sums = [
        trees.cover[a:b][leaf[a:b]].sum()
        for a, b in zip(trees.node_start[:-1], trees.node_start[1:], strict=True)
    ]
    np.testing.assert_allclose(sums, 1.0, atol=1e-12)
