"""AdaBoost as a dynamical system: draws the pictures of docs/lab_dynamics.md.

    python examples/lab_dynamics.py [FOLDER]

Takes well under a minute; needs the extras `lab` and `plot`.
"""

import sys
from math import log
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from edgewise.lab import dynamics, plots

RULES = {
    "optimal": "AdaBoost",
    "arc-gv": "arc-gv",
    "ascent": "approximate coordinate ascent",
    "adaboost-star": "AdaBoost*, nu = 0.01",
}
COLOURS = ("#c4451c", "#2f6f9f", "#5b8c3a", "#7a5aa6")


def main() -> None:
    mpl.use("Agg")
    default = Path(__file__).parents[1] / "docs" / "images"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (triangle, rings, margins, wandering, lengths, never):
        figure = draw()
        figure.savefig(folder / f"lab_{draw.__name__}.png", dpi=90)
        plt.close(figure)
        print(f"lab_{draw.__name__}.png")


def triangle() -> plt.Figure:
    """Two starts of the 3x3 case, and the two cycles where they end."""
    M = dynamics.one_error_each(3)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.5), layout="constrained")
    for ax, start in zip(axes, ((0.08, 0.32, 0.6), (0.32, 0.08, 0.6)), strict=True):
        orbit = dynamics.iterate(M, start, n_steps=12)
        cycle = dynamics.find_cycle(M, start)
        plots.OrbitDisplay.from_orbit(orbit, cycle=cycle, ax=ax)
        ax.set_title("columns " + ", ".join(map(str, cycle.choices)) + ", ...", fontsize=10)
    return figure


def rings() -> plt.Figure:
    """The 5x5 case, the 8x8 case, and a longer cycle of a random matrix."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
    random = dynamics.random_matrix(12, 12, error_rate=0.4, random_state=1)
    matrices = (dynamics.one_error_each(5), dynamics.example("8x8").matrix, random)
    for ax, M in zip(axes, matrices, strict=True):
        cycle = dynamics.find_cycle(M)
        plots.CycleDisplay.from_cycle(cycle, ax=ax)
        best = dynamics.max_margin(M).value
        ax.set_title(f"margin {cycle.margin:.4f}, at most {best:.4f}", fontsize=10)
    return figure


def margins() -> plt.Figure:
    """The 8x8 case: AdaBoost stays below the maximum margin, the others approach it."""
    M = dynamics.example("8x8").matrix
    figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for (rule, label), colour in zip(RULES.items(), COLOURS, strict=True):
        orbit = dynamics.iterate(M, n_steps=10_000, rule=rule, keep="choices")
        plots.MarginDisplay.from_orbit(orbit, label=label, colour=colour, ax=ax)
    return figure


def wandering() -> plt.Figure:
    """A random matrix on which the weights do not settle within a million steps."""
    M = dynamics.random_matrix(20, 20, error_rate=0.4, random_state=1)
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
    orbit = dynamics.iterate(M, n_steps=3_000, n_transient=997_000)
    plots.OrbitDisplay.from_orbit(orbit, ax=axes[0])
    plots.EdgeDisplay.from_orbit(dynamics.iterate(M, n_steps=300, n_transient=997_000), ax=axes[1])
    return figure


def lengths() -> plt.Figure:
    """Lengths of the cycles on random matrices of two sizes."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.4), layout="constrained")
    for ax, m in zip(axes, (12, 20), strict=True):
        survey = dynamics.survey(300, m, m, random_state=0, progress=sys.stderr.isatty())
        plots.SurveyDisplay.from_survey(survey, ax=ax)
        share = survey.outcomes["cycle"] / len(survey.runs)
        ax.set_title(f"{m}x{m}: {share:.0%} of 300 runs cycle", fontsize=10)
        print(survey)
    return figure


def never() -> plt.Figure:
    """The 20x8 case: bursts in the two halves of the columns, exactly and in double precision."""
    known = dynamics.example("20x8")
    n_bursts = 100
    exact = dynamics.exact_choices(known.matrix, known.start, n_steps=5 * n_bursts)
    double = dynamics.iterate(known.matrix, known.start, n_steps=5 * n_bursts, keep="choices")
    rate = log(0.2038817329) / (log(0.0944920595) + log(0.2038817329))  # irrational (Wang 2026)
    figure, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
    bursts = np.arange(1, n_bursts + 1)
    for choices, label, colour in (
        (double.choices, "double precision", "#9a9a9a"),
        (exact.choices, "exact", "#c4451c"),
    ):
        left = choices[::5] < 4
        ax.step(bursts, np.cumsum(left) - rate * bursts, where="mid", color=colour, label=label)
    ax.axhline(0, color="#222222", linewidth=0.6)
    ax.set(xlabel="bursts of five steps", ylabel=f"bursts in the left half\nless {rate:.4f} each")
    ax.set_ylim(-1.5, 6)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    main()
