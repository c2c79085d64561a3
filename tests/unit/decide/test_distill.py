"""Small models that stand in for large ones."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC
from support import table

from edgewise import InvalidDataError, InvalidParameterError
from edgewise.decide import _distill, distill


@pytest.fixture(autouse=True)
def few_shapes(monkeypatch):
    """Fewer candidates, so that the tests are quick; what is done with them is the same."""
    monkeypatch.setattr(_distill, "_LEAVES", (8,))
    monkeypatch.setattr(_distill, "_KINDS", ("pair",))


@pytest.fixture(scope="module")
def data():
    X, y = table(0, n=900)
    names = np.array(["a", "b", "c"])[y]
    return X[:600], names[:600], X[600:], names[600:]


def teacher():
    return RandomForestClassifier(60, min_samples_leaf=5, random_state=0)


def test_the_student_is_near_the_teacher_and_within_its_limits(data):
    X, y, X_new, y_new = data
    student = distill(teacher(), X, y, max_bytes=20_000, max_trees=40)
    model = student.model
    assert student.n_bytes <= 20_000
    assert model.model_.n_trees <= 40
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert set(model.predict(X_new)) <= {"a", "b", "c"}
    truth = student.teacher.predict_proba(X_new)
    said = model.predict_proba(X_new)
    agreement = (said.argmax(axis=1) == truth.argmax(axis=1)).mean()
    assert agreement > 0.85
    assert student.agreement == pytest.approx(agreement, abs=0.1)
    assert student.divergence < 0.1
    # what it announces of the gain over the class frequencies is what new rows show
    plain = log_loss(y_new, np.tile(np.unique(y, return_counts=True)[1] / len(y), (len(y_new), 1)))
    kept = (plain - log_loss(y_new, said)) / (plain - log_loss(y_new, truth))
    assert kept > 0.85
    assert student.kept == pytest.approx(kept, abs=0.2)
    assert student.log_loss is not None
    assert student.microseconds > 0


def test_a_fitted_teacher_teaches_without_labels(data):
    X, y, X_new, _ = data
    fitted = teacher().fit(X, y)
    student = distill(fitted, X_new, max_trees=30)
    assert student.teacher is fitted
    assert student.model.classes_.tolist() == ["a", "b", "c"]
    assert student.agreement > 0.7
    assert student.kept is student.log_loss is student.teacher_log_loss is None


def test_the_student_is_the_same_again_and_in_another_order(data):
    X, y, X_new, _ = data
    fitted = teacher().fit(X, y)
    order = np.random.default_rng(0).permutation(len(X_new))
    one, other = (distill(fitted, rows, max_trees=10) for rows in (X_new, X_new[order]))
    proba = [student.model.predict_proba(X) for student in (one, other)]
    assert proba[0].tobytes() == proba[1].tobytes()


def test_latency_is_a_limit(data):
    X, y, _, _ = data
    free = distill(teacher(), X, y, max_trees=150)
    slow = distill(teacher(), X, y, max_trees=150, max_microseconds=1e6)
    assert slow.model.model_.n_trees == free.model.model_.n_trees
    with pytest.raises(InvalidParameterError, match="one tree of 8 leaves.*max_microseconds=0.01"):
        distill(teacher(), X, y, max_microseconds=0.01)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"max_bytes": 10}, "one tree of 8 leaves: .* bytes .*Got max_bytes=10"),
        ({"max_trees": 0}, "'max_trees'.*Got 0"),
        ({"max_microseconds": -1}, "'max_microseconds'.*Got -1"),
    ],
)
def test_bad_limits_are_explained(data, given, words):
    with pytest.raises(InvalidParameterError, match=words):
        distill(teacher(), data[0], data[1], **given)


def test_bad_teachers_are_explained(data):
    X, y, _, _ = data
    with pytest.raises(InvalidParameterError, match="classifier with predict_proba. Got LinearSVC"):
        distill(LinearSVC(), X, y)
    with pytest.raises(NotFittedError):
        distill(teacher(), X)
    other = teacher().fit(X, np.where(y == "c", "d", y))
    with pytest.raises(InvalidDataError, match=r"\['a', 'b', 'c'\]. Got .*'a', 'b', 'd'"):
        distill(other, X, y)
    with pytest.raises(InvalidDataError, match="two"):
        distill(teacher(), X, np.full(len(X), "a"))
