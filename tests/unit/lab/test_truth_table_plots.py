"""The picture of a table of three classifiers."""

import builtins

import numpy as np
import pytest

from edgewise import EdgewiseError, InvalidDataError
from edgewise.lab.truth_table import ThreeClassifierDisplay, TruthTable

EVERY = [[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)]
TABLE = TruthTable.from_cells(EVERY, [500, 110, 90, 95, 60, 55, 40, 50])


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot  # noqa: PLC0415

    yield pyplot
    pyplot.close("all")


def test_what_is_drawn(pyplot):
    display = ThreeClassifierDisplay.from_table(TABLE, n_rounds=5)
    words = [text.get_text() for text in display.ax_.texts]
    alone = [TABLE.errors(v) for v in (*np.eye(3), np.ones(3))]
    assert [w.splitlines()[1] for w in words] == [f"{e:g} errors" for e in alone]
    lines = {line.get_label(): line.get_xydata() for line in display.ax_.lines}
    assert set(lines) == {"AdaBoost", "relaxation", "minimiser"}
    np.testing.assert_allclose(lines["relaxation"][-1], lines["minimiser"][0], atol=1e-9)
    assert len(display.ax_.patches) == 4
    assert display.figure_ is display.ax_.figure


def test_places_are_barycentric(pyplot):
    display = ThreeClassifierDisplay.from_table(TABLE)
    beta = display.minimiser / display.minimiser.sum()
    corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])
    star = display.ax_.lines[-1].get_xydata()[0]
    np.testing.assert_allclose(star, beta @ corners)


def test_into_given_axes_and_without_minimum(pyplot):
    ax = pyplot.figure().add_subplot()
    separable = TruthTable.from_cells([[1, 1, 1], [1, -1, 1]], [3, 2])
    display = ThreeClassifierDisplay.from_table(separable, ax=ax)
    assert display.ax_ is ax
    assert display.minimiser is None
    assert len(ax.lines) == 1


def test_three_classifiers_are_wanted():
    two = TruthTable.from_cells([[1, 1], [-1, -1]], [3, 2])
    with pytest.raises(InvalidDataError, match="three classifiers. Got 2"):
        ThreeClassifierDisplay.from_table(two)


def test_without_matplotlib(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(EdgewiseError, match=r"edgewise\[plot\]"):
        ThreeClassifierDisplay.from_table(TABLE)
