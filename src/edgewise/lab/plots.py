"""Pictures of the laboratory, as displays in the style of scikit-learn.

A display is made from a result (``OrbitDisplay.from_orbit(orbit)``), draws itself on given axes or
on new ones, and keeps what it has drawn: `ax_`, `figure_` and its artists. It can be drawn again
elsewhere with `plot`. Needs matplotlib, of the extra ``plot``.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.params import check, integer
from .dynamics._cycle_map import Choices
from .dynamics._cycles import Cycle
from .dynamics._margin_matrix import Signs, Weights
from .dynamics._margins import max_margin
from .dynamics._orbit import Orbit
from .dynamics._survey import Survey

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of the simplex of three
_INK, _FAINT, _SIGNAL = "#222222", "#9a9a9a", "#c4451c"
_FOLLOWED = 200  # steps up to which the eye can follow a line
_COLOURS = ("#2f6f9f", "#c98a1b", "#5b8c3a", "#7a5aa6", "#b0476b", "#3a9a96", "#8c6d46", "#56636e")


def _colour(k: int) -> str:
    return _COLOURS[k % len(_COLOURS)]


def _axes(ax: "Axes | None") -> "Axes":
    """The given axes, or new ones."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(
            "Pictures need matplotlib: install it, or edgewise with the extra 'plot'."
        ) from None
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _bare(ax: "Axes") -> None:
    ax.spines[["top", "right"]].set_visible(False)


class OrbitDisplay:
    """The weights on their way.

    Three examples: the triangle of all weights, divided into the regions where each column is
    taken, and the lines where a column has the edge 0, on which the orbit lies after a step with
    it; the ring marks the start. More examples: two of the weights against each other. Long orbits
    are not joined by a line but coloured by the column taken.
    """

    ax_: "Axes"
    figure_: "Figure"
    path_: Any  # line through the weights
    points_: Any  # the weights
    cycle_: Any  # line through the cycle, if there is one

    def __init__(
        self,
        *,
        matrix: Signs,
        weights: Weights,
        choices: Choices,
        pair: tuple[int, int],
        cycle: Weights | None,
    ) -> None:
        self.matrix, self.weights, self.choices = matrix, weights, choices
        self.pair, self.cycle = pair, cycle

    @classmethod
    def from_orbit(
        cls,
        orbit: Orbit,
        *,
        pair: tuple[int, int] | None = None,
        cycle: Cycle | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw an orbit; of more than three examples the `pair`, or the two that weigh most."""
        if not len(orbit.weights):
            raise InvalidDataError("There are no weights to draw: iterate with keep=True.")
        m = len(orbit.matrix)
        if m < 3:
            raise InvalidDataError(f"An orbit of at least three examples can be drawn. Got {m}.")
        if pair is None:
            first, second = np.argsort(-orbit.weights.mean(axis=0), kind="stable")[:2]
            pair = (int(first), int(second))
        for example in pair:
            check("from_orbit", {"pair": example}, {"pair": integer(0, m - 1)})
        display = cls(
            matrix=orbit.matrix,
            weights=np.vstack([orbit.weights, orbit.final_weights]),
            choices=orbit.choices,
            pair=pair,
            cycle=cycle.weights if isinstance(cycle, Cycle) else None,
        )
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on given or new axes."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        if self.matrix.shape[0] == 3:
            self._triangle()
        self._orbit(self._places(self.weights))
        if self.cycle is not None:
            closed = self._places(np.vstack([self.cycle, self.cycle[:1]]))
            self.cycle_ = self.ax_.plot(
                *closed.T, color=_SIGNAL, linewidth=1.6, marker="o", markersize=5, zorder=5
            )[0]
        if self.matrix.shape[0] > 3:
            i, j = self.pair
            self.ax_.set(xlabel=f"weight of example {i}", ylabel=f"weight of example {j}")
            self.ax_.set(xlim=(0, None), ylim=(0, None))
            _bare(self.ax_)
        return self

    def _orbit(self, places: Weights) -> None:
        """Few points are joined by a line, many are coloured by the column taken there."""
        ax, few = self.ax_, len(places) <= _FOLLOWED
        ranks = np.unique(self.choices, return_inverse=True)[1]
        colours = _INK if few else [_colour(k) for k in ranks]
        shown = places if few else places[: len(ranks)]
        self.points_ = ax.scatter(*shown.T, s=14 if few else 4, c=colours, linewidths=0, zorder=4)
        self.path_ = ax.plot(*places.T, color=_INK, linewidth=0.8 if few else 0.0, zorder=3)[0]
        if few:
            ax.scatter(*places[0], s=60, facecolors="none", edgecolors=_INK, zorder=4)

    def _places(self, weights: Weights) -> Weights:
        """Return the positions (T, 2) of weights (T, m) in the drawing."""
        if self.matrix.shape[0] == 3:
            places: Weights = weights @ _CORNERS
            return places
        return weights[:, list(self.pair)]

    def _triangle(self) -> None:
        ax = self.ax_
        self._regions()
        ax.plot(*_CORNERS[[0, 1, 2, 0]].T, color=_INK, linewidth=1.2, zorder=2)
        for column in np.unique(self.matrix, axis=1).T:
            segment = _zero_edge(column)
            if len(segment) == 2:
                ax.plot(*(segment @ _CORNERS).T, color=_INK, linewidth=0.8, linestyle="--")
        offsets = np.array([[-0.03, -0.03], [0.03, -0.03], [0.0, 0.03]])
        for i, (place, offset) in enumerate(zip(_CORNERS, offsets, strict=True)):
            x, y = place + offset
            ax.text(x, y, f"example {i}", ha="center", va="top" if offset[1] < 0 else "bottom")
        ax.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.1, 0.96))
        ax.set_axis_off()

    def _regions(self) -> None:
        """Shades where each column has the largest edge."""
        steps = np.linspace(0, 1, 301)
        x, y = np.meshgrid(steps, steps * _CORNERS[2, 1])
        third = y / _CORNERS[2, 1]
        second = x - third / 2
        grid = np.stack([1 - second - third, second, third], axis=-1)  # weights of each place
        best = (grid @ self.matrix).argmax(axis=-1).astype(float)
        best[(grid < 0).any(axis=-1)] = np.nan
        from matplotlib.colors import ListedColormap  # noqa: PLC0415 - optional

        n = self.matrix.shape[1]
        for k in np.unique(best[np.isfinite(best)]).astype(int):
            look = {"s": 60, "marker": "s", "color": _colour(k), "alpha": 0.3}
            self.ax_.scatter([], [], label=f"column {k}", **look)
        self.ax_.legend(frameon=False, fontsize="small", loc="upper right", title="takes")
        self.ax_.imshow(
            best,
            extent=(0, 1, 0, _CORNERS[2, 1]),
            origin="lower",
            cmap=ListedColormap([_colour(k) for k in range(n)]),
            vmin=-0.5,
            vmax=n - 0.5,
            alpha=0.16,
            interpolation="nearest",
            zorder=0,
        )


def _zero_edge(column: NDArray[np.int8]) -> Weights:
    """The ends of the line on which a column has the edge 0: middles of sides of the triangle."""
    middles = [(np.eye(3)[i] + np.eye(3)[j]) / 2 for i, j in ((0, 1), (1, 2), (2, 0))]
    ends = [d for d in middles if abs(d @ column) < 1e-12]
    return np.array(ends)


class EdgeDisplay:
    """The edges over the steps, coloured by the column taken."""

    ax_: "Axes"
    figure_: "Figure"
    points_: list[Any]

    def __init__(self, *, edges: Weights, choices: Choices, first: int) -> None:
        self.edges, self.choices, self.first = edges, choices, first

    @classmethod
    def from_orbit(cls, orbit: Orbit, *, ax: "Axes | None" = None) -> Self:
        """Draw the edges of an orbit."""
        _need_steps(orbit)
        first = orbit.n_steps - len(orbit.edges)
        return cls(edges=orbit.edges, choices=orbit.choices, first=first).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on given or new axes."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.points_ = []
        steps = self.first + np.arange(len(self.edges))
        columns = np.unique(self.choices)
        for rank, k in enumerate(columns):
            here = self.choices == k
            look = {"s": 8, "color": _colour(rank), "label": f"column {k}"}
            self.points_.append(self.ax_.scatter(steps[here], self.edges[here], **look))
        if len(columns) <= len(_COLOURS):
            self.ax_.legend(frameon=False, fontsize="small", ncols=2)
        self.ax_.set(xlabel="step", ylabel="edge")
        self.ax_.locator_params(axis="x", nbins=5)
        _bare(self.ax_)
        return self


class MarginDisplay:
    """The smallest margin and the smooth margin over the steps, below the maximum margin."""

    ax_: "Axes"
    figure_: "Figure"
    margin_: Any
    smooth_: Any
    maximum_: Any

    def __init__(
        self, *, steps: NDArray[np.intp], margins: Weights, smooth: Weights, maximum: float
    ) -> None:
        self.steps, self.margins, self.smooth, self.maximum = steps, margins, smooth, maximum

    @classmethod
    def from_orbit(
        cls, orbit: Orbit, *, label: str = "margin", colour: str = _COLOURS[0], ax: Any = None
    ) -> Self:
        """Draw the margins of an orbit; several orbits may share the axes."""
        _need_steps(orbit)
        display = cls(
            steps=1 + orbit.n_steps - len(orbit.edges) + np.arange(len(orbit.edges)),
            margins=orbit.margins(),
            smooth=orbit.smooth_margins(),
            maximum=max_margin(orbit.matrix).value,
        )
        return display.plot(ax=ax, label=label, colour=colour)

    def plot(
        self, ax: "Axes | None" = None, *, label: str = "margin", colour: str = _COLOURS[0]
    ) -> Self:
        """Draw on given or new axes."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.maximum_ = self.ax_.axhline(self.maximum, color=_INK, linewidth=0.9, linestyle="--")
        self.margin_ = self.ax_.plot(
            self.steps, self.margins, color=colour, linewidth=1.4, label=label
        )[0]
        self.smooth_ = self.ax_.plot(
            self.steps, self.smooth, color=colour, linewidth=0.9, linestyle=":"
        )[0]
        self.ax_.set(xscale="log", xlabel="steps", ylabel="smallest margin (dotted: smooth)")
        self.ax_.set_ylim(max(-0.05, min(0.0, self.margins.min())), self.maximum * 1.08 + 0.01)
        self.ax_.legend(frameon=False, fontsize="small", loc="lower right")
        _bare(self.ax_)
        return self


class CycleDisplay:
    """A cycle as a ring of its steps.

    The discs are the columns that the steps take, each with its edge; around them the weights of
    the support before the step, example by example, red where the column is wrong: these the step
    makes heavier.
    """

    ax_: "Axes"
    figure_: "Figure"
    bars_: list[Any]

    def __init__(self, *, cycle: Cycle) -> None:
        self.cycle = cycle

    @classmethod
    def from_cycle(cls, cycle: Cycle, *, ax: "Axes | None" = None) -> Self:
        """Draw a cycle."""
        if not isinstance(cycle, Cycle):
            raise InvalidParameterError(
                f"from_cycle needs a Cycle. Got {type(cycle).__name__}: {cycle!r}."
            )
        return cls(cycle=cycle).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on given or new axes."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.bars_ = []
        T = self.cycle.length
        for t in range(T):
            angle = np.pi / 2 - 2 * np.pi * t / T  # clockwise from the top
            self._step(t, angle)
            self._arrow(angle, angle - 2 * np.pi / T)
        reach = 1.05 + 1.4 * self._size() + 1.2 * float(self.cycle.weights.max())
        self.ax_.set(aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))
        self.ax_.set_axis_off()
        return self

    def _size(self) -> float:
        return min(0.24, 2.0 / self.cycle.length)

    def _step(self, t: int, angle: float) -> None:
        from matplotlib.patches import Circle  # noqa: PLC0415 - optional

        cycle, size = self.cycle, self._size()
        x, y = np.cos(angle), np.sin(angle)
        j = int(cycle.choices[t])
        self.ax_.add_patch(Circle((x, y), size, color=_colour(j), zorder=3))
        centred = {"ha": "center", "va": "center"}
        if cycle.length <= 30:
            self.ax_.text(x, y, str(j), color="white", fontsize=45 * size, zorder=4, **centred)
        if cycle.length <= 12:
            inner = 1 - 1.9 * size
            text = f"{cycle.edges[t]:.3f}"
            self.ax_.text(inner * x, inner * y, text, color=_INK, fontsize="small", **centred)
        self._bars(t, angle, 1.0 + 1.4 * size)

    def _bars(self, t: int, angle: float, inner: float) -> None:
        """The weights of the support, side by side, pointing outwards."""
        from matplotlib.patches import Wedge  # noqa: PLC0415 - optional

        cycle, support = self.cycle, self.cycle.support
        span = np.degrees(2 * np.pi / cycle.length) * 0.8
        width = span / len(support)
        for k, i in enumerate(support):
            centre = np.degrees(angle) + span / 2 - (k + 0.5) * width
            wrong = cycle.matrix[i, cycle.choices[t]] < 0
            bar = Wedge(
                (0, 0),
                inner + 1.2 * cycle.weights[t, i],
                centre - 0.45 * width,
                centre + 0.45 * width,
                width=1.2 * cycle.weights[t, i],
                facecolor=_SIGNAL if wrong else "#c9ced3",
                zorder=2,
            )
            self.bars_.append(self.ax_.add_patch(bar))

    def _arrow(self, here: float, there: float) -> None:
        from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415 - optional

        ends = [(np.cos(a), np.sin(a)) for a in (here, there)]
        size = self._size()
        self.ax_.add_patch(
            FancyArrowPatch(
                *ends,
                arrowstyle="-|>",
                mutation_scale=40 * size,
                shrinkA=110 * size,
                shrinkB=110 * size,
                color=_FAINT,
                zorder=1,
            )
        )


class SurveyDisplay:
    """The number of cycles of each length, and of those that miss the maximum margin."""

    ax_: "Axes"
    figure_: "Figure"
    bars_: list[Any]

    def __init__(self, *, lengths: list[int], reached: list[int], missed: list[int]) -> None:
        self.lengths, self.reached, self.missed = lengths, reached, missed

    @classmethod
    def from_survey(cls, survey: Survey, *, at_most: int = 30, ax: "Axes | None" = None) -> Self:
        """Draw the cycles of a survey up to the length `at_most`."""
        check("from_survey", {"at_most": at_most}, {"at_most": integer(1)})
        lengths = list(range(1, at_most + 1))
        missed, reached = ([0] * at_most for _ in range(2))
        for run in survey.runs:
            if 0 < run.length <= at_most:
                short = run.max_margin - run.margin > 1e-9
                (missed if short else reached)[run.length - 1] += 1
        return cls(lengths=lengths, reached=reached, missed=missed).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on given or new axes."""
        self.ax_ = _axes(ax)
        self.figure_ = self.ax_.figure
        self.bars_ = [
            self.ax_.bar(self.lengths, self.reached, color=_COLOURS[0], label="maximum margin"),
            self.ax_.bar(
                self.lengths, self.missed, bottom=self.reached, color=_SIGNAL, label="misses it"
            ),
        ]
        self.ax_.set(xlabel="length of the cycle", ylabel="runs")
        self.ax_.legend(frameon=False)
        _bare(self.ax_)
        return self


def _need_steps(orbit: Orbit) -> None:
    if not len(orbit.edges):
        raise InvalidDataError(
            "There are no steps to draw: iterate with keep=True or keep='choices'."
        )
