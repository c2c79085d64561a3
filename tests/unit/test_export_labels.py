"""Exports to Python: labels and categories of types that derive from Python's own, or of others."""

import enum
import sys

import numpy as np
import pytest

import edgewise
from edgewise import ModelFormatError
from edgewise.export import to_c, to_python

X = np.random.default_rng(0).random((60, 2))


class Colour(str, enum.Enum):  # noqa: UP042  its str() is not its value
    RED = "red"
    BLUE = "blue"


class Code(str):
    """Writes itself as code."""

    __slots__ = ()

    def __repr__(self):
        return "__import__('sys').modules.__setitem__('planted', 1)"

    __str__ = __repr__


def fitted(labels):
    y = np.empty(60, dtype=object)
    y[:] = [labels[i % len(labels)] for i in range(60)]
    return edgewise.MARTClassifier(n_estimators=2, min_samples_leaf=1).fit(X, y)


def run(text):
    space = {}
    exec(text, space)  # noqa: S102
    return space


@pytest.mark.parametrize(
    ("labels", "plain"),
    [
        ([np.str_("a"), np.str_("b")], ["a", "b"]),
        ([Colour.BLUE, Colour.RED], ["blue", "red"]),
        ([Code("a"), Code("b'\n\\")], ["a", "b'\n\\"]),
    ],
    ids=["np.str_", "str enum", "a str that writes code"],
)
def test_labels_that_derive_from_strings_are_strings(labels, plain):
    model = fitted(labels)
    space = run(to_python(model))
    assert space["CLASSES"] == plain
    assert {type(label) for label in space["CLASSES"]} == {str}
    assert [space["predict"](row) for row in X.tolist()] == list(map(str.__str__, model.predict(X)))
    assert "planted" not in sys.modules


def test_labels_that_cannot_be_written_are_refused():
    y = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")[np.arange(60) % 2]
    model = edgewise.MARTClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ModelFormatError, match=r"numbers, strings and booleans.*date"):
        to_python(model)
    assert "2020-01-01" in to_c(model)  # where they are a comment
