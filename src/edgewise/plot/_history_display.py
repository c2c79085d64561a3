"""The history of a fit."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._ground.errors import InvalidDataError
from .._tools.rounds import HistoryFigure, history_figures, rounds_used
from ._axes import COLOURS, INK, bare, pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class HistoryDisplay:
    """Edge, alpha, base class, vote mass and other figures of ``history_`` over the rounds.

    Parameters
    ----------
    figures : list of HistoryFigure
        Figures to draw, as `from_estimator` collects them.
    n_used : int or None
        Rounds the model uses, which are marked; None marks none.

    Attributes
    ----------
    axes_ : ndarray of matplotlib axes
        One per figure.
    figure_ : matplotlib figure
        Figure of the drawing.
    artists_ : dict
        Lines, and the points of base classes, by name.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.plot import HistoryDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> display = HistoryDisplay.from_estimator(model)
    >>> plt.close("all")
    """

    axes_: NDArray[Any]
    figure_: "Figure"
    artists_: dict[str, Any]

    def __init__(self, *, figures: list[HistoryFigure], n_used: int | None) -> None:
        self.figures, self.n_used = figures, n_used

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, names: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Draw the history of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator with `history_`.
        names : sequence of str, default=None
            Figures to draw. None draws all but the time.
        ax : matplotlib axes, default=None
            As many axes as there are figures. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        check_is_fitted(estimator)
        figures = history_figures(estimator, names)
        if not figures:
            raise InvalidDataError(f"{type(estimator).__name__} has no history to draw.")
        return cls(figures=figures, n_used=rounds_used(estimator)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on given axes, or on new ones, one below another.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            As many axes as there are figures. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        self.axes_ = self._axes(ax)
        self.figure_ = self.axes_[0].figure
        self.artists_ = {}
        for place, figure in zip(self.axes_, self.figures, strict=True):
            self.artists_[figure.name] = self._draw(place, figure)
        self.axes_[-1].set_xlabel("round")
        return self

    def _axes(self, ax: Any) -> NDArray[Any]:
        n = len(self.figures)
        if ax is None:
            size = (6.4, 1.2 + 1.5 * n)
            made = pyplot().subplots(n, sharex=True, layout="constrained", figsize=size)[1]
            return np.atleast_1d(made)
        given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(given) != n:
            raise InvalidDataError(
                f"There must be axes for each of the {n} figures "
                f"({', '.join(f.name for f in self.figures)}). Got {len(given)}."
            )
        return given

    def _draw(self, ax: Any, figure: HistoryFigure) -> Any:
        rounds = np.arange(1, len(figure.values) + 1)
        if figure.classes is None:
            artist = ax.plot(rounds, figure.values, color=COLOURS[0], linewidth=1.4)[0]
        else:
            artist = ax.scatter(rounds, figure.values, s=9, marker="|", color=COLOURS[0])
            names = [str(c) for c in figure.classes]
            ax.set_yticks(range(len(names)), names, fontsize="x-small")
        if figure.words.logarithmic and (figure.values > 0).all():
            ax.set_yscale("log")
        if self.n_used is not None and 0 < self.n_used < len(rounds):
            ax.axvline(self.n_used, color=INK, linewidth=0.8, linestyle=":")
        ax.set_ylabel(figure.words.title, fontsize="small")
        bare(ax)
        return artist
