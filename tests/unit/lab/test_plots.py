"""Displays: what they draw, where they draw it, and that importing them costs nothing."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from edgewise import InvalidDataError, InvalidParameterError
from edgewise.lab import dynamics, plots


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def orbits():
    return {
        m: dynamics.iterate(dynamics.one_error_each(m), np.arange(1, m + 1) / (m * (m + 1) / 2),
                            n_steps=50)
        for m in (3, 5)
    }  # fmt: skip


def displays(orbits):
    cycle = dynamics.find_cycle(dynamics.one_error_each(5))
    survey = dynamics.survey(8, 6, 6, random_state=0, max_steps=3000)
    return [
        lambda ax: plots.OrbitDisplay.from_orbit(orbits[3], ax=ax),
        lambda ax: plots.OrbitDisplay.from_orbit(orbits[5], cycle=cycle, ax=ax),
        lambda ax: plots.EdgeDisplay.from_orbit(orbits[3], ax=ax),
        lambda ax: plots.MarginDisplay.from_orbit(orbits[5], ax=ax),
        lambda ax: plots.CycleDisplay.from_cycle(cycle, ax=ax),
        lambda ax: plots.SurveyDisplay.from_survey(survey, ax=ax),
    ]


@pytest.mark.parametrize("number", range(6))
def test_displays_draw_on_given_or_new_axes(orbits, number):
    make = displays(orbits)[number]
    figure, ax = plt.subplots()
    display = make(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.has_data() or ax.patches
    alone = make(None)
    assert alone.ax_ is not ax
    again = alone.plot(ax=plt.subplots()[1])
    assert again is alone
    assert again.ax_ is plt.gca()
    figure.canvas.draw()


def test_the_triangle_shows_the_weights(orbits):
    orbit = orbits[3]
    cycle = dynamics.find_cycle(orbit.matrix, orbit.start)
    display = plots.OrbitDisplay.from_orbit(orbit, cycle=cycle)
    places = np.asarray(display.path_.get_xydata())
    assert len(places) == 51
    x, y = places.T  # back to weights: the corners are (0, 0), (1, 0) and (1/2, sqrt(3)/2)
    third = y / np.sqrt(0.75)
    second = x - third / 2
    np.testing.assert_allclose(second, np.append(orbit.weights[:, 1], orbit.final_weights[1]))
    np.testing.assert_allclose(third, np.append(orbit.weights[:, 2], orbit.final_weights[2]))
    dashed = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 3  # the inner triangle
    assert len(display.cycle_.get_xydata()) == 4  # closed
    assert len(display.ax_.get_legend().get_texts()) == 3


def test_the_lines_without_an_edge(orbits):
    """After its step an orbit lies on the line where the column has the edge 0."""
    orbit = orbits[3]
    for column in range(3):
        ends = plots._zero_edge(orbit.matrix[:, column])
        assert ends.shape == (2, 3)
        np.testing.assert_allclose(ends @ orbit.matrix[:, column], 0)
    assert len(plots._zero_edge(np.ones(3))) == 0


def test_two_weights_of_many(orbits):
    orbit = orbits[5]
    display = plots.OrbitDisplay.from_orbit(orbit, pair=(3, 1))
    np.testing.assert_allclose(display.path_.get_xydata()[:-1], orbit.weights[:, [3, 1]])
    assert "example 3" in display.ax_.get_xlabel()
    assert "example 1" in display.ax_.get_ylabel()


def test_margins_are_drawn_over_the_steps():
    M = dynamics.example("8x8").matrix
    orbit = dynamics.iterate(M, n_steps=30, n_transient=10)
    display = plots.MarginDisplay.from_orbit(orbit, label="AdaBoost")
    steps, margins = display.margin_.get_data()
    np.testing.assert_array_equal(steps, np.arange(11, 41))
    np.testing.assert_allclose(margins, orbit.margins())
    np.testing.assert_allclose(display.smooth_.get_ydata(), orbit.smooth_margins())
    assert display.maximum_.get_ydata()[0] == pytest.approx(3 / 8)


def test_edges_are_drawn_by_column(orbits):
    display = plots.EdgeDisplay.from_orbit(orbits[3])
    assert len(display.points_) == 3
    drawn = np.concatenate([points.get_offsets() for points in display.points_])
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(orbits[3].edges))


def test_a_ring_has_a_bar_per_step_and_example():
    cycle = dynamics.find_cycle(dynamics.one_error_each(5))
    display = plots.CycleDisplay.from_cycle(cycle)
    assert len(display.bars_) == 25
    texts = {text.get_text() for text in display.ax_.texts}
    assert {"0", "1", "2", "3", "4", "0.928"} <= texts


def test_bars_count_the_cycles():
    survey = dynamics.survey(30, 8, 8, random_state=0, max_steps=20_000)
    display = plots.SurveyDisplay.from_survey(survey, at_most=max(survey.lengths))
    heights = [bar.get_height() for bars in display.bars_ for bar in bars]
    assert sum(heights) == survey.outcomes["cycle"]


def test_undrawable_inputs_are_refused(orbits):
    unkept = dynamics.iterate(dynamics.one_error_each(3), keep=False)
    with pytest.raises(InvalidDataError, match="keep=True"):
        plots.OrbitDisplay.from_orbit(unkept)
    for display in (plots.EdgeDisplay, plots.MarginDisplay):
        with pytest.raises(InvalidDataError, match="no steps to draw"):
            display.from_orbit(unkept)
    two = dynamics.iterate([[1, -1], [-1, 1]], [0.7, 0.3], n_steps=1)
    with pytest.raises(InvalidDataError, match=r"three examples.*Got 2"):
        plots.OrbitDisplay.from_orbit(two)
    with pytest.raises(InvalidParameterError, match=r"pair.*0 to 4.*Got 9"):
        plots.OrbitDisplay.from_orbit(orbits[5], pair=(0, 9))
    with pytest.raises(InvalidParameterError, match=r"needs a Cycle.*NoCycle"):
        plots.CycleDisplay.from_cycle(dynamics.NoCycle("too long"))


def test_matplotlib_is_loaded_only_to_draw():
    code = """
import sys
import edgewise.lab.plots
print([m for m in ("matplotlib", "mpmath") if m in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
