"""Narrow arrays of model files: exact, refused where they are of another kind, smaller."""

import numpy as np
import pytest
from support import table
from support_files import rewritten, save_aoso

import edgewise
from edgewise._model import file
from edgewise._model.check import TYPES
from edgewise._model.narrow import narrowed, rounded, widened

NUMBERS = {
    "threshold": [0.1, np.inf, -np.inf, np.nan, -0.0, 1e300],
    "values": [0.5, -0.0, 65504.0, 2.0**-24],
    "gain": [1 + 2.0**-20, 2.0**127],
    "cover": [2.0**-25, 1.0, 1 / 3],
    "feature": [-1, 127, 32768],
    "left": [-129, 5],
    "classes": [0, 127],
    "node_start": [0, 2**31 - 1],
    "round_start": [0, 2**40],
}
NARROW = {
    "threshold": "f8", "values": "f2", "gain": "f4", "cover": "f8", "feature": "i4",
    "left": "i2", "classes": "i1", "node_start": "i4", "round_start": "i8",
}  # fmt: skip


def test_arrays_are_as_narrow_as_their_numbers_allow_and_come_back_with_all_bits():
    arrays = {name: np.array(values, dtype=TYPES[name]) for name, values in NUMBERS.items()}
    narrow = narrowed(arrays, TYPES)
    assert {name: array.dtype.str[1:] for name, array in narrow.items()} == NARROW
    wide = widened(narrow, TYPES)
    for name, array in arrays.items():
        assert wide[name].dtype == array.dtype
        assert wide[name].tobytes() == array.tobytes()


def test_files_are_smaller_and_the_model_is_the_same(tmp_path):
    X, y = table(0, n=300, K=4, missing=0.1)
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=30).fit(X, y)
    model.save(tmp_path / "model")
    header, arrays = file.unpack((tmp_path / "model").read_bytes())
    wide = model.model_.arrays()
    stored = sum(arrays[f"model.{name}"].nbytes for name in wide)
    assert stored < 0.8 * sum(a.nbytes for a in wide.values())
    for name, array in edgewise.load(tmp_path / "model").model_.arrays().items():
        assert array.dtype == wide[name].dtype
        assert array.tobytes() == wide[name].tobytes()


@pytest.mark.parametrize(
    ("name", "kind"),
    [("feature", "f2"), ("values", "i2"), ("left", "u1"), ("missing_left", "i1"), ("start", "i4")],
)
def test_a_type_of_another_kind_is_refused(tmp_path, name, kind):
    def change(header, arrays):
        array = arrays[f"model.{name}"]
        arrays[f"model.{name}"] = np.zeros(len(array), dtype=kind)

    path = save_aoso(tmp_path / "sound")
    (tmp_path / "changed").write_bytes(rewritten(path, change))
    with pytest.raises(edgewise.ModelFormatError, match=f"'{name}' must be a vector of type"):
        edgewise.load(tmp_path / "changed")


def test_rounded_models_are_narrow_and_predict_nearly_the_same(tmp_path):
    X, y = table(1, n=400, K=3)
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=40).fit(X, y)
    small = rounded(model.model_)
    narrow = narrowed(small.arrays(), TYPES)
    kinds = {name: narrow[name].dtype.str[1:] for name in ("threshold", "gain", "cover", "values")}
    assert set(kinds.values()) <= {"f2", "f4"}
    difference = np.abs(small.scores(X, 1) - model.model_.scores(X, 1))
    assert 0 < np.median(difference) < 1e-3


def test_numbers_too_large_to_round_stay_as_they_are():
    X, y = table(2, n=200, K=3)
    X = X * 1e300
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=3).fit(X, y)
    assert np.array_equal(rounded(model.model_).threshold, model.model_.threshold)
    assert np.array_equal(rounded(model.model_).scores(X, 1).argmax(axis=1), model.predict(X))
