"""Checkpoints: model files, checked in full, and good only for the fit that wrote them."""

import os
import re

import numpy as np
import pytest
from sklearn.base import clone
from support_blocks import fit_blocks
from support_files import cast, cut, put, rewritten, say, without

import edgewise
from edgewise import InvalidDataError, ModelFormatError
from edgewise.distributed._backend import LocalBackend

FAST = {"n_estimators": 4, "max_leaf_nodes": 5, "min_samples_leaf": 1}
MART = edgewise.MARTClassifier(**FAST)
MH = edgewise.AdaBoostMHClassifier(**FAST)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    return X, y


@pytest.fixture(params=[MART, MH], ids=["mart", "mh"])
def boost(request):
    return request.param


@pytest.fixture
def file(boost, data, tmp_path):
    fit_blocks(boost, *data, checkpoint=tmp_path / "rounds.edgewise")
    return tmp_path / "rounds.edgewise"


def longer(boost):
    return clone(boost).set_params(n_estimators=6)


def test_a_checkpoint_is_a_model_file(boost, data, file):
    X, y = data
    loaded = edgewise.load(file)
    whole = clone(boost).fit(X, y)
    np.testing.assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))
    assert loaded.stop_reason_ == "checkpoint"
    assert loaded.n_iter_ == 4


# Places that led outside of memory, or to models of NaN.
EDITS = {
    "a feature": put("model.feature", 0, 10**8),
    "a child": put("model.left", 0, 10**8),
    "a negative child": put("model.left", 0, -(10**8)),
    "a leaf number": put("model.left", -1, 60000),
    "a class": put("model.classes", 0, 10**8),
    "a negative class": put("model.classes", 0, -1),
    "a width": put("model.width", 0, 10**8),
    "a round": put("model.round_start", 1, 10**8),
    "a node": put("model.node_start", 1, 10**8),
    "a value's place": put("model.value_start", 1, 10**8),
    "a set": put("model.set_start", -1, 10**8),
    "a start of NaN": put("model.start", 0, np.nan),
    "a start of infinity": put("model.start", 0, np.inf),
    "a value of NaN": put("model.values", 0, np.nan),
    "a value of 1e308": put("model.values", slice(None), 1e308),
    "a threshold of NaN": put("model.threshold", 0, np.nan),
    "a cover of NaN": put("model.cover", 0, np.nan),
    "a start less": cut("model.start"),
    "a value less": cut("model.values"),
    "a loss less": cut("history.loss"),
    "an array less": without("model.gain"),
    "no losses": without("history.loss"),
    "values of single precision": cast("model.values", np.float32),
    "rounds that are not there": say("fitted", "n_iter_", value=99),
    "labels less": say("classes", value={"dtype": "int64", "shape": [2], "values": [0, 1]}),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_array_is_refused(boost, data, file, name):
    file.write_bytes(rewritten(file, EDITS[name]))
    with pytest.raises(InvalidDataError, match="resume_from must name a checkpoint"):
        fit_blocks(longer(boost), *data, resume_from=file)


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"PK\5\6" + bytes(18), b"\x80\4", b"{}" * 99])
def test_what_is_no_checkpoint_is_refused(boost, data, tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InvalidDataError, match="must name a checkpoint, which is a model file"):
        fit_blocks(boost, *data, resume_from=tmp_path / "file")


@pytest.mark.parametrize("length", [0, 7, 100, 2000, -1])
def test_a_checkpoint_cut_short_is_refused(boost, data, file, length):
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(InvalidDataError, match="must name a checkpoint, which is a model file"):
        fit_blocks(boost, *data, resume_from=file)


def test_no_file_is_refused(boost, data, tmp_path):
    with pytest.raises(InvalidDataError, match="must name a checkpoint"):
        fit_blocks(boost, *data, resume_from=tmp_path / "nothing")


@pytest.mark.parametrize(
    "change",
    [{"learning_rate": 0.05}, {"max_leaf_nodes": 4}, {"max_bins": 30}, {"class_weight": {0: 2.0}}],
    ids=lambda change: next(iter(change)),
)
def test_other_parameters_are_refused(boost, data, file, change):
    (name,) = change
    with pytest.raises(InvalidDataError, match=f"has the {name}"):
        fit_blocks(longer(boost).set_params(**change), *data, resume_from=file)


def test_parameters_of_how_a_fit_is_run_may_change(boost, data, file):
    other = longer(boost).set_params(n_jobs=1, time_limit=1000.0, n_iter_no_change=3)
    resumed = fit_blocks(other, *data, resume_from=file)
    expected = longer(boost).fit(*data)
    np.testing.assert_array_equal(resumed.model_.values, expected.model_.values)


def test_other_labels_are_refused(boost, data, file):
    X, y = data
    with pytest.raises(InvalidDataError, match="other classes"):
        fit_blocks(longer(boost), X, y + 5, resume_from=file)
    with pytest.raises(InvalidDataError, match="same labels.*training loss"):
        fit_blocks(longer(boost), X, y[::-1].copy(), resume_from=file)
    swapped = y.copy()
    a, b = (int(np.argmax(y == k)) for k in (0, 1))
    swapped[[a, b]] = 1, 0
    with pytest.raises(InvalidDataError, match="same labels.*training loss"):
        fit_blocks(longer(boost), X, swapped, resume_from=file)


def test_other_weights_are_refused(boost, data, file):
    weights = np.linspace(1, 2, len(data[1]))
    with pytest.raises(InvalidDataError, match="same data"):
        fit_blocks(longer(boost), *data, weights, resume_from=file)


def test_other_estimators_are_refused(data, tmp_path):
    fit_blocks(MART, *data, checkpoint=tmp_path / "file")
    with pytest.raises(InvalidDataError, match="same estimator.*MARTClassifier"):
        fit_blocks(edgewise.LogitBoostClassifier(**FAST), *data, resume_from=tmp_path / "file")


def test_other_columns_are_refused(boost, data, file):
    X, y = data
    with pytest.raises(InvalidDataError, match="number of columns"):
        fit_blocks(longer(boost), X[:, :2], y, resume_from=file)
    with pytest.raises(InvalidDataError, match="same data.*other data"):
        fit_blocks(longer(boost), X * np.pi, y, resume_from=file)


def test_what_a_model_file_cannot_hold_is_refused_before_the_fit(boost, data, tmp_path):
    asked = clone(boost).set_params(random_state=np.random.RandomState(0))
    with pytest.raises(ModelFormatError, match="random_state"):
        fit_blocks(asked, *data, checkpoint=tmp_path / "rounds.edgewise")


def test_a_resumed_fit_writes_checkpoints_of_all_rounds(boost, data, file, tmp_path):
    second = tmp_path / "second"
    resumed = fit_blocks(longer(boost), *data, resume_from=file, checkpoint=second)
    loaded = edgewise.load(second)
    np.testing.assert_array_equal(loaded.model_.values, resumed.model_.values)
    np.testing.assert_array_equal(loaded.history_["loss"], resumed.history_["loss"])
    assert (np.diff(loaded.history_["seconds"]) >= 0).all()


@pytest.mark.parametrize("kind", ["no folder", "a folder", "a file for reading only"])
def test_a_checkpoint_that_cannot_be_written_is_refused_before_the_fit(data, tmp_path, kind):
    path = tmp_path / "no" / "rounds" if kind == "no folder" else tmp_path / "rounds"
    if kind == "a folder":
        path.mkdir()
    if kind == "a file for reading only":
        path.write_bytes(b"")
        path.chmod(0o400)
        if os.access(path, os.W_OK):
            pytest.skip("this user may write to any file")
    counting = CountingBackend(2)
    with pytest.raises(OSError, match=re.escape(str(path))):
        fit_blocks(MART, *data, checkpoint=path, backend=counting)
    assert counting.n_trips == 0
    assert [p for p in tmp_path.iterdir() if p != path] == []


class CountingBackend(LocalBackend):
    n_trips = 0

    def map(self, *args):
        self.n_trips += 1
        return super().map(*args)

    def sum(self, *args, **named):
        self.n_trips += 1
        return super().sum(*args, **named)
