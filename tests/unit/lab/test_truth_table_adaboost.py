"""AdaBoost through a table: the same choices and coefficients as on the raw examples."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier

from edgewise.lab.truth_table import ExponentialLoss, TruthTable


def examples(seed, n=500, M=5):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    ease = rng.normal(size=(n, 1)) + rng.uniform(0.3, 1.2, size=M)
    right = rng.random((n, M)) < 1 / (1 + np.exp(-ease))
    return y, np.where(right, y[:, None], -y[:, None])


class BestOfGiven(ClassifierMixin, BaseEstimator):
    """A base learner whose rows are predictions: it takes the column of least weighted error."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.column_ = int(np.argmin(sample_weight @ (y[:, None] != X)))
        return self

    def predict(self, X):
        return X[:, self.column_]


def by_the_book(y, H, n_rounds, choose):
    """The slides' algorithm over examples: w *= exp(alpha 1[wrong])."""
    w = np.full(len(y), 1 / len(y))
    wrong = y[:, None] != H
    choices, alphas = [], []
    for t in range(n_rounds):
        j = choose(t, w @ wrong)
        epsilon = w[wrong[:, j]].sum() / w.sum()
        alphas.append(np.log((1 - epsilon) / epsilon))
        w *= np.exp(alphas[-1] * wrong[:, j])
        w /= w.sum()
        choices.append(j)
    return choices, alphas


def test_greedy_is_scikit_learns_adaboost(seed):
    y, H = examples(seed)
    theirs = AdaBoostClassifier(BestOfGiven(), n_estimators=25).fit(H, y)
    ours = TruthTable.from_predictions(y, H).adaboost(25)
    k = len(ours.choices)
    assert ours.choices.tolist() == [e.column_ for e in theirs.estimators_][:k]
    np.testing.assert_allclose(ours.alphas, theirs.estimator_weights_[:k], rtol=1e-10)
    np.testing.assert_allclose(ours.errors, theirs.estimator_errors_[:k], rtol=1e-10)
    # Where ours has ended, theirs goes on with errors of a half but for rounding, and no weight.
    assert "no better than chance" in ours.stopped
    assert abs(theirs.estimator_weights_[k:]).max() < 1e-12
    np.testing.assert_array_equal(np.sign(H @ ours.beta), theirs.predict(H))


@pytest.mark.parametrize("rule", ["greedy", "historical"])
def test_both_rules_are_those_of_the_slides(rule, seed):
    y, H = examples(seed)
    choose = (lambda t, errors: errors.argmin()) if rule == "greedy" else (lambda t, errors: t)
    choices, alphas = by_the_book(y, H, 4, choose)
    path = TruthTable.from_predictions(y, H).adaboost(4, rule=rule)
    assert path.choices.tolist() == choices
    np.testing.assert_allclose(path.alphas, alphas, rtol=1e-11)
    assert path.stopped == "4 rounds were asked for"


def test_every_round_is_a_step_of_coordinate_descent(seed):
    y, H = examples(seed)
    table = TruthTable.from_predictions(y, H)
    path = table.adaboost(30, negations=True)
    assert len(path.choices) == 30
    np.testing.assert_allclose([table.risk(b) for b in path.betas], path.risks, rtol=1e-11)
    assert (np.diff(path.risks) < 0).all()
    np.testing.assert_allclose(
        path.risks[1:] / path.risks[:-1], 2 * np.sqrt(path.errors * (1 - path.errors)), rtol=1e-9
    )
    for j, before, after in zip(path.choices, path.betas[:-1], path.betas[1:], strict=True):
        step = table.pairs.gradient(after, ExponentialLoss())
        assert abs(step[j]) < 1e-9 * table.total
        assert np.flatnonzero(after - before).tolist() == [j]


def test_the_minimiser_is_reached_with_negations_only():
    """The slides' point: the risk falls, but beta does not converge to the minimiser."""
    y, H = examples(0, n=2000, M=3)
    table = TruthTable.from_predictions(y, H)
    minimum = table.minimise()
    once = table.adaboost(reuse=False)
    assert sorted(once.choices) == [0, 1, 2]
    assert abs(once.beta - minimum.beta).max() > 1e-3
    assert minimum.risk < once.risks[-1] < 1
    greedy = table.adaboost(500)
    assert "no better than chance" in greedy.stopped
    assert abs(greedy.beta - minimum.beta).max() > 1e-3
    closed = table.adaboost(500, negations=True)
    assert (closed.alphas < 0).any()
    assert (closed.errors[closed.alphas < 0] > 0.5).all()
    np.testing.assert_allclose(closed.beta, minimum.beta, atol=1e-8)


def test_first_coefficient_of_the_slides():
    """beta_1 = -log(errors / (n - errors)) / 2 for the classifier with fewest errors."""
    y, H = examples(2, n=300, M=3)
    wrong = (y[:, None] != H).sum(axis=0)
    path = TruthTable.from_predictions(y, H).adaboost(1)
    assert path.choices[0] == wrong.argmin()
    assert path.beta[wrong.argmin()] == pytest.approx(
        -0.5 * np.log(wrong.min() / (300 - wrong.min()))
    )


def test_why_it_stops():
    perfect = TruthTable.from_cells([[1, 1], [1, -1]], [3, 2])
    assert perfect.adaboost(5).stopped.startswith("classifier 0 makes no error")
    assert len(perfect.adaboost(5).choices) == 0
    assert perfect.adaboost(5).betas.shape == (1, 2)
    chance = TruthTable.from_cells([[1], [-1]], [3, 2])
    assert "no better than chance" in chance.adaboost(5).stopped
    assert len(chance.adaboost(5).choices) == 1  # afterwards its weighted error is a half
    worse = TruthTable.from_cells([[-1, 1], [1, -1], [1, 1], [-1, 1]], [3, 1, 1, 1])
    assert worse.adaboost(5, rule="historical").stopped.startswith("classifier 0 is no better")
    y, H = examples(1, M=2)
    table = TruthTable.from_predictions(y, H)
    assert table.adaboost(9, reuse=False).stopped == "every classifier was used once"


def test_ties_go_to_the_first():
    table = TruthTable.from_cells([[1, 1, 1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]], [4, 1, 1, 1])
    assert table.adaboost(1).choices.tolist() == [0]
