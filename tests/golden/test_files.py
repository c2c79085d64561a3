"""Model files of every version of the format load for ever, and predict what they did.

The files of a version are written once, by `python tests/golden/write_files.py`, and never again
after a release has written that version.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import EVERY_CLASSIFIER

import edgewise
from edgewise._model.saved import VERSION

FILES = Path(__file__).with_name("files")
MODELS = sorted(FILES.glob("*/*.edgewise"))


def rows():
    """Rows (40, 4) by rule: two numbers, a category, whole numbers; gaps, infinities, strangers."""
    i = np.arange(40)
    roots = np.round(np.cbrt(i - 20), 9)  # whose last bit depends on the processor
    X = np.stack([i * 7 % 11 - 5.0, roots, i * 3 % 5, i // 9], axis=1)
    X[i % 13 == 5, 0] = np.nan
    X[i % 17 == 3, 2] = np.nan
    X[7, 1], X[8, 1], X[9, 2] = np.inf, -np.inf, 77.0
    return X


def rows_for(model):
    """The rows in the form that the model was fitted to."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return rows()
    frame = pd.DataFrame(rows(), columns=names)
    if model.dates_:
        return in_dates(frame)
    return in_words(frame) if model.categories_ else frame


def in_words(frame):
    """The frame with strings and whole categories in the place of numbers."""
    words = {0.0: "null", 1.0: "eins", 2.0: "zwei", 3.0: "drei ☃", 4.0: ""}
    whole = frame["d"].astype(int).astype("category")
    return frame.assign(c=[words.get(value) for value in frame["c"]], d=whole)


def in_dates(frame):
    """The frame with moments over three years, some missing, and durations in place of numbers."""
    hours = (np.arange(40) * 641).astype("m8[h]")
    when = np.where(
        np.arange(40) % 11 == 4, np.datetime64("NaT", "h"), np.datetime64("2019-12-30") + hours
    )
    return frame.assign(b=when.astype("M8[s]"), d=hours.astype("m8[s]"))


@pytest.mark.parametrize("path", MODELS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_old_files_load_and_predict_the_same(path):
    expected = json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))[path.stem]
    model = edgewise.load(path)
    assert type(model).__name__ == expected["algorithm"]
    assert model.classes_.tolist() == expected["classes"]
    assert model.predict(rows_for(model)).tolist() == expected["labels"]
    np.testing.assert_allclose(
        model.predict_proba(rows_for(model)), expected["proba"], rtol=1e-13, atol=1e-300
    )


def test_there_are_files_of_every_version_and_estimator():
    for version in range(1, VERSION + 1):
        folder = FILES / f"v{version}"
        expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        assert {path.stem for path in folder.glob("*.edgewise")} == expected.keys()
        names = {entry["algorithm"] for entry in expected.values()}
        assert names == {classifier.__name__ for classifier in EVERY_CLASSIFIER}
