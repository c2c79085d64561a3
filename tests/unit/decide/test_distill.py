"""Small models that stand in for large ones."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from support import table

from edgewise import InvalidDataError, InvalidParameterError
from edgewise._data.cross_fit import examples
from edgewise.decide import _distill, distill
from edgewise.decide._crossover import crossed_places, values_at


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
    assert 0 < student.kept_error < 0.2
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
    assert student.kept_error is None


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


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "arrow"])
def test_mixed_rows_hold_values_of_two_rows_of_a_class(kind):
    X, y = table(4, n=200, K=3)
    words = np.array(["a", "b", "c", None], dtype=object)[np.arange(200) % 4]
    columns = {f"x{j}": column.tolist() for j, column in enumerate(X.T)} | {"word": words.tolist()}
    frame = pd.DataFrame(columns | {"word": words})
    rows = {
        "array": lambda: X,
        "pandas": lambda: frame.set_index(np.arange(200) // 2),
        "polars": lambda: pl.DataFrame(columns),
        "arrow": lambda: pa.table(columns),
    }[kind]()
    places = crossed_places(rows, y, 500)
    assert (y[places] == y[places][:, :1]).all()
    assert {len(np.unique(row)) for row in places} == {1, 2}
    new = values_at(rows, places)
    assert type(new) is type(rows)
    whole = X if kind == "array" else frame.to_numpy(dtype=object)
    wanted = np.take_along_axis(whole, places, axis=0)
    got = (
        new
        if kind == "array"
        else pd.DataFrame(
            {name: list(new[name].to_pylist() if kind == "arrow" else new[name]) for name in frame}
        ).to_numpy(dtype=object)
    )
    assert pd.DataFrame(got).equals(pd.DataFrame(wanted))


def test_mixed_rows_do_not_depend_on_the_order_of_the_rows():
    X, y = table(5, n=150, K=3)
    order = np.random.default_rng(1).permutation(150)
    one, other = (
        values_at(rows, crossed_places(rows, codes, 300))
        for rows, codes in ((X, y), (X[order], y[order]))
    )
    assert one.tobytes() == other.tobytes()


def test_rows_of_a_sparse_matrix_are_not_mixed(data, monkeypatch):
    X, y, _, _ = data
    monkeypatch.setattr(_distill, "crossed_places", None)  # would fail if it were called
    student = distill(teacher().fit(X, y), csr_matrix(np.nan_to_num(X)), max_trees=5)
    assert student.agreement > 0.5


def test_mixed_rows_bring_the_student_nearer_to_the_teacher(data, monkeypatch):
    X, y, X_new, _ = data
    near = distill(teacher(), X, y, max_trees=60)
    monkeypatch.setattr(_distill, "_CROSSED", 0)
    far = distill(teacher(), X, y, max_trees=60)
    assert near.divergence < far.divergence


def test_figures_are_those_of_models_that_have_not_seen_the_rows(data):
    X, y, _, _ = data
    seen = []

    class Watched(RandomForestClassifier):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(X, y)

    student = distill(Watched(30, random_state=0), X, y, max_trees=5)
    n_held = len(X) - max(n for n in seen if n < len(X))
    assert n_held == pytest.approx(len(X) / 5, abs=2)
    # A forest that has seen the rows would have half of this loss.
    assert student.teacher_log_loss > 1.5 * log_loss(y, student.teacher.predict_proba(X))


def test_the_error_of_the_share_kept_is_its_spread():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(500):
        teachers = rng.normal(0.3, 0.8, size=210)
        found.append(_distill._share_kept(0.9 * teachers + rng.normal(0, 0.2, size=210), teachers))
    kept, errors = np.array(found).T
    assert np.median(errors) == pytest.approx(np.std(kept), rel=0.15)
    covered = np.abs(kept - 0.9) < 2 * errors
    assert covered.mean() == pytest.approx(0.95, abs=0.03)


def test_a_teacher_that_gains_nothing_leaves_nothing_to_keep():
    assert _distill._share_kept(np.ones(5), -np.ones(5)) == (None, None)


def test_out_of_fold_labels_are_learned_where_they_are_better():
    X, y = table(6, n=600, noise=1.0)
    by_heart = KNeighborsClassifier(1)  # certain of its training rows, noise and all
    data = examples(X, y, None)
    _, (own, held_out) = _distill._lessons(by_heart, data, np.unique(y), 5)
    assert own.soft.shape == held_out.soft.shape
    assert (own.soft[:600].max(axis=1) == 1).all()
    assert (own.soft[:600].argmax(axis=1) == y).all()
    assert (held_out.soft[:600].argmax(axis=1) != y).mean() > 0.1
    assert np.array_equal(own.soft[600:], held_out.soft[600:])
