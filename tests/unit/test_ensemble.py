"""Models made of classifiers of another library: tables of scores, rounds, importances."""

import pickle

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from support import table

from edgewise._model.ensemble import Constant, EnsembleBuilder, EnsembleModel, Member

X, Y = table(0, n=60, K=3)


def member(depth, scale):
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, Y)
    return Member(tree, np.arange(3), scale * np.eye(3))


@pytest.fixture
def model():
    builder = EnsembleBuilder(np.array([0.5, 0.0, -0.5]), X.shape[1])
    for depth in (1, 2, 3):
        builder.append([member(depth, depth / 2)])
    assert builder.n_rounds == 3
    return builder.model()


def expected(n_rounds):
    scores = np.tile([0.5, 0.0, -0.5], (len(X), 1))
    for depth in range(1, n_rounds + 1):
        answers = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, Y).predict(X)
        for i, answer in enumerate(answers):
            scores[i, answer] += depth / 2
    return scores


def test_scores_add_up(model):
    np.testing.assert_array_equal(model.scores(X, 1), expected(3))
    assert (model.n_rounds, model.n_trees, model.n_classes) == (3, 3, 3)


def test_stages_are_shorter_models(model):
    for n_rounds, scores in enumerate(model.staged_scores(X, 1), start=1):
        np.testing.assert_array_equal(scores, expected(n_rounds))
        np.testing.assert_array_equal(model.first_rounds(n_rounds).scores(X, 1), scores)


def test_followed_by_undoes_the_cut(model):
    rest = EnsembleModel(model.start, model.n_features, model.members[1:])
    assert model.first_rounds(1).followed_by(rest).members == model.members


def test_labels_need_not_be_places():
    signs = np.where(Y == 1, 1, -1)
    tree = DecisionTreeClassifier(max_depth=2).fit(X, signs)
    votes = np.array([[-1.0, 2.0, 0.0], [1.0, -2.0, 0.0]])
    outputs = Member(tree, np.array([-1, 1]), votes).outputs(X)
    np.testing.assert_array_equal(outputs, votes[(tree.predict(X) == 1).astype(int)])


def test_builder_adds_scores_of_other_rows():
    scores = np.ones((5, 3))
    EnsembleBuilder(np.zeros(3), 4).add_scores([member(1, 2.0)], X[:5], scores, 1)
    np.testing.assert_array_equal(scores, 1.0 + member(1, 2.0).outputs(X[:5]))


def test_constants_answer_alike():
    assert Constant(-1).predict(X).tolist() == [-1] * len(X)
    assert Member(Constant(1), np.array([-1, 1]), np.eye(2)).outputs(X[:2]).tolist() == [[0, 1]] * 2


def test_importances_are_those_of_the_members(model):
    gain = model.gain_by_feature()
    trees = [m.classifier.feature_importances_ for m in model.members]
    np.testing.assert_allclose(gain, 0.5 * trees[0] + 1.0 * trees[1] + 1.5 * trees[2])
    without = EnsembleModel(np.zeros(3), 4, (Member(GaussianNB(), np.arange(3), np.eye(3)),))
    np.testing.assert_array_equal(without.gain_by_feature(), np.zeros(4))


def test_member_that_moves_nothing():
    assert Member(Constant(0), np.arange(2), np.zeros((2, 2))).moves_nothing
    assert not member(1, 1e-9).moves_nothing


def test_pickle(model):
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.scores(X, 1), model.scores(X, 1))
    np.testing.assert_array_equal(copy.arrays()["tables"], model.arrays()["tables"])
