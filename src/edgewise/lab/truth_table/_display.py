"""A table of three classifiers as a picture.

Votes with coefficients that are not negative, scaled to sum 1, fill a triangle. Where one
coefficient is above a half its classifier decides alone; in the triangle between, the majority
does. So the 0/1 cost has four values there; AdaBoost and relaxation are paths, the minimiser is
a point in the same picture.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._ground.errors import EdgewiseError, InvalidDataError

if TYPE_CHECKING:
    from . import TruthTable

Reals = NDArray[np.float64]

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])  # of classifiers 1, 2, 3
_MIDDLES = 0.5 * (_CORNERS[[1, 0, 0]] + _CORNERS[[2, 2, 1]])  # of the sides opposite to them
_VOTES = ("classifier 1", "classifier 2", "classifier 3", "majority")


@dataclass
class ThreeClassifierDisplay:
    """The triangle of votes of three classifiers; made by `from_table`.

    Attributes
    ----------
    errors : of the three classifiers alone and of the majority, (4,).
    minimiser : coefficients that minimise the risk, or None where there is no minimum.
    paths : AdaBoost's and relaxation's coefficients, by name.
    ax_, figure_ : matplotlib's, after `plot`.
    """

    errors: Reals
    minimiser: Reals | None
    paths: dict[str, Reals]

    @classmethod
    def from_table(
        cls, table: "TruthTable", loss: Any = "exponential", *, n_rounds: int = 20, ax: Any = None
    ) -> "ThreeClassifierDisplay":
        """Computes what is to be seen, and draws it."""
        if table.n_classifiers != 3:
            raise InvalidDataError(
                f"The triangle is for tables of three classifiers. Got {table.n_classifiers}."
            )
        votes = np.vstack([np.eye(3), np.ones(3)])
        paths = {"AdaBoost": table.adaboost(n_rounds).betas}
        minimiser = None
        if table.existence.exists:
            relaxed = table.minimise(loss, method="relaxation")
            paths["relaxation"], minimiser = relaxed.trace.betas, relaxed.beta
        display = cls(np.array([table.errors(v) for v in votes]), minimiser, paths)
        return display.plot(ax)

    def plot(self, ax: Any = None) -> "ThreeClassifierDisplay":
        """Draws into `ax`, or into a new figure."""
        if ax is None:
            ax = _pyplot().subplots(figsize=(6, 5.5))[1]
        self.ax_, self.figure_ = ax, ax.figure
        self._draw_cells()
        for name, betas in self.paths.items():
            ax.plot(*_places(betas).T, marker="o", markersize=3, linewidth=1, label=name)
        if self.minimiser is not None:
            ax.plot(*_places(self.minimiser[None]).T, "k*", markersize=12, label="minimiser")
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.legend(loc="upper right", frameon=False)
        return self

    def _draw_cells(self) -> None:
        """Four triangles, the darker the more errors, each with its number."""
        corners = [np.array([c, *np.delete(_MIDDLES, i, axis=0)]) for i, c in enumerate(_CORNERS)]
        spread = max(float(np.ptp(self.errors)), 1e-300)
        shade = 0.35 * (self.errors - self.errors.min()) / spread
        for triangle, number, dark, vote in zip(
            [*corners, _MIDDLES], self.errors, shade, _VOTES, strict=True
        ):
            self.ax_.fill(*triangle.T, facecolor=str(0.95 - dark), edgecolor="black", linewidth=0.8)
            words = f"{vote}\n{number:g} errors"
            self.ax_.text(*triangle.mean(axis=0), words, ha="center", va="center", fontsize=8)


def _places(betas: ArrayLike) -> Reals:
    """Coefficients (n, 3) with a positive sum as points (n, 2) of the plane."""
    coefficients = np.asarray(betas, dtype=np.float64)
    total = coefficients.sum(axis=1)
    shown = total > 0
    points: Reals = (coefficients[shown] / total[shown, None]) @ _CORNERS
    return points


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot  # noqa: PLC0415  # only who draws needs it
    except ImportError:
        raise EdgewiseError(
            "Plots need matplotlib: pip install 'edgewise[plot]', or give an ax of your own."
        ) from None
    return pyplot
