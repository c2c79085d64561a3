"""Margin matrices: of the literature, from examples, from fitted ensembles."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from edgewise.lab import dynamics


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, "yes", "no")


@pytest.mark.parametrize("name", dynamics.EXAMPLES)
def test_examples_are_whole(name):
    known = dynamics.example(name)
    m, n = (int(size) for size in name.split("x"))
    assert known.matrix.shape == (m, n)
    assert known.matrix.dtype == np.int8
    assert set(np.unique(known.matrix)) == {-1, 1}
    assert known.start is None or (len(known.start) == m and sum(known.start) == pytest.approx(1))
    assert known.story


def test_the_20x8_start_is_exact():
    assert sum(dynamics.example("20x8").start) == 1


def test_random_matrices_and_weights():
    M = dynamics.random_matrix(300, 200, error_rate=0.3, random_state=0)
    assert np.mean(M < 0) == pytest.approx(0.3, abs=0.01)
    np.testing.assert_array_equal(
        M, dynamics.random_matrix(300, 200, error_rate=0.3, random_state=0)
    )
    d = dynamics.random_weights(50, random_state=3)
    assert d.shape == (50,)
    assert d.sum() == pytest.approx(1)
    np.testing.assert_array_equal(d, dynamics.random_weights(50, random_state=3))


def test_repeated_rows():
    M = dynamics.repeated_rows([[1, -1], [-1, 1]], (3, 1))
    np.testing.assert_array_equal(M, [[1, -1], [1, -1], [1, -1], [-1, 1]])


def test_from_examples(data):
    X, y = data
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    M = dynamics.from_examples(X, y, [tree, lambda X: np.where(X[:, 0] > 0, "yes", "no")])
    expected = np.column_stack([tree.predict(X) == y, (X[:, 0] > 0) == (y == "yes")])
    np.testing.assert_array_equal(M > 0, expected)


@pytest.mark.parametrize("labels", [("no", "yes"), (-1, 1), (1, 2), (0, 1), (False, True)], ids=str)
@pytest.mark.parametrize(
    "ensemble",
    [
        AdaBoostClassifier(n_estimators=8, random_state=0),
        BaggingClassifier(n_estimators=8, max_features=0.5, random_state=0),
        RandomForestClassifier(n_estimators=8, max_depth=2, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_from_booster(data, ensemble, labels):
    X, y = data
    given = np.array(labels)[(y == "yes").astype(int)]
    fitted = ensemble.fit(X, given)
    M = dynamics.from_booster(fitted, X, given)
    assert M.shape == (80, 8)
    seen = getattr(fitted, "estimators_features_", [np.arange(4)] * 8)
    for member, features, column in zip(fitted.estimators_, seen, M.T, strict=True):
        codes = member.predict(X[:, features]) == member.classes_[1]
        np.testing.assert_array_equal(column > 0, codes == (y == "yes"))
    assert np.mean(M > 0) > 0.5


def test_the_members_of_adaboost_have_edges(data):
    """scikit-learn's AdaBoost with stumps is a walk on the matrix of its own members.

    In SAMME each member is weighed by ln((1 - e) / e), twice the vote artanh(r).
    """
    X, y = data
    fitted = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    M = dynamics.from_booster(fitted, X, y)
    d = np.full(len(M), 1 / len(M))
    for column, error, weight in zip(
        M.T, fitted.estimator_errors_, fitted.estimator_weights_, strict=True
    ):
        edge = d @ column
        assert (1 - edge) / 2 == pytest.approx(error, abs=1e-12)
        assert 2 * np.arctanh(edge) == pytest.approx(weight, abs=1e-9)
        d = d / (1 + column * edge)
