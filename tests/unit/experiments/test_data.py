"""Where data sets come from: a folder, OpenML (here a stand-in for it), scikit-learn."""

import numpy as np
import pytest
import sklearn.datasets

from edgewise.experiments import DataSetMissingError, _data, _geist, _li


@pytest.fixture
def folder(tmp_path):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 3
    np.savez(
        tmp_path / "letter.npz",
        X=X,
        y=y,
        X_train=X[:7],
        y_train=y[:7],
        X_test=X[7:],
        y_test=y[7:],
    )
    return str(tmp_path)


def test_original_split_first_rows_and_parts_exchanged(folder):
    split = _data.load("letter", folder=folder)
    assert (split.X_train.dtype, split.y_train.dtype) == (np.float32, np.int64)
    assert (len(split.y_train), len(split.y_test)) == (7, 3)
    assert len(_data.load("letter@4", folder=folder).y_train) == 4
    last = _data.load("letter@-4", folder=folder)
    assert (last.X_train[:, 0] == [12, 14, 16, 18]).all()
    assert (last.X_test[:, 0] == [0, 2, 4, 6, 8, 10]).all()
    turned = _data.load("letter~", folder=folder)
    assert (turned.X_train == split.X_test).all()
    with pytest.raises(DataSetMissingError, match="only 10 rows"):
        _data.load("letter@10", folder=folder)


def test_the_folder_may_come_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv(_data.FOLDER, folder)
    assert len(_data.load("letter").y_train) == 7


def test_the_hash_is_of_all_four_arrays(folder):
    split = _data.load("letter", folder=folder)
    assert _data.digest(split) == _data.digest(_data.load("letter", folder=folder))
    for part in split._fields:
        changed = getattr(split, part).copy()
        changed.flat[0] += 1
        assert _data.digest(split._replace(**{part: changed})) != _data.digest(split)


class Fetched:
    """Answers like fetch_openml, with pendigits' numbers of rows."""

    def __init__(self, sorted_by_class):
        test = np.repeat(np.arange(10), _data._OPENML["pendigits"].test_counts)
        train = np.arange(7494) % 10
        labels = np.concatenate([train, test])
        self.labels = (np.sort(labels) if sorted_by_class else labels).astype(str)

    def __call__(self, data_id, return_X_y, as_frame):
        assert (data_id, return_X_y, as_frame) == (32, True, False)
        return np.zeros((len(self.labels), 2)), self.labels


def test_openml_in_the_original_order(monkeypatch):
    monkeypatch.delenv(_data.FOLDER, raising=False)
    monkeypatch.setattr(_data, "_reachable", lambda: True)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", Fetched(sorted_by_class=False))
    split = _data.load("pendigits")
    assert (len(split.y_train), len(split.y_test)) == (7494, 3498)


def test_openml_in_another_order_is_not_taken_for_the_original(monkeypatch):
    monkeypatch.delenv(_data.FOLDER, raising=False)
    monkeypatch.setattr(_data, "_reachable", lambda: True)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", Fetched(sorted_by_class=True))
    with pytest.raises(DataSetMissingError, match="not in the order of the original split"):
        _data.load("pendigits")


def test_openml_that_fails_is_a_missing_set(monkeypatch):
    def broken(**_):
        raise ConnectionResetError("reset by peer")

    monkeypatch.delenv(_data.FOLDER, raising=False)
    monkeypatch.setattr(_data, "_reachable", lambda: True)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", broken)
    with pytest.raises(DataSetMissingError, match="OpenML failed: reset by peer"):
        _data.load("pendigits")


def test_every_set_of_the_papers_has_a_stand_in():
    sources = [known.source for known in (*_li.DATA_SETS.values(), *_geist.DATA_SETS.values())]
    assert {_data.stand_in(source) for source in sources} <= set(_data.CARRIED)
