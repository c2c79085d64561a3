"""The distribution of the margins."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._tools.rounds import RoundMargins, staged_margins
from ..metrics import margins
from ._axes import SIGNAL, axes, bare, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class MarginDisplay:
    """Cumulative distribution of the margins after several rounds.

    A margin is the score of a row's label minus the largest other score, scaled to lie between -1
    and 1. The share at zero is the error.

    Parameters
    ----------
    stages : sequence
        Margins after some rounds, as `from_estimator` computes them.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes of the drawing.
    figure_ : matplotlib figure
        Figure of the drawing.
    lines_ : list
        One line per stage.
    zero_ : matplotlib line
        The line at margin zero.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.plot import MarginDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> display = MarginDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> plt.close("all")
    """

    ax_: "Axes"
    figure_: "Figure"
    lines_: list[Any]
    zero_: Any

    def __init__(self, *, stages: Sequence[RoundMargins]) -> None:
        self.stages = stages

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        rounds: Sequence[int] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the margins of rows after some rounds.

        Parameters
        ----------
        estimator : fitted classifier
            Classifier whose predictions are drawn.
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.
        rounds : sequence of int, default=None
            Rounds after which to draw. None chooses some of all rounds.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        return cls(stages=staged_margins(estimator, X, y, rounds)).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the margins of scores.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Right labels.
        scores : array-like of shape (n_rows, n_classes)
            Scores, as `decision_function` returns them.
        classes : array-like of shape (n_classes,), default=None
            Labels of the columns: an estimator's `classes_`. None uses the sorted labels of y.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        values = np.sort(margins(y, scores, classes=classes), axis=None)
        return cls(stages=[RoundMargins(None, values)]).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw on given or new axes.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        self.zero_ = self.ax_.axvline(0.0, color=SIGNAL, linewidth=0.9, linestyle=":")
        self.lines_ = []
        for k, (number, values) in enumerate(self.stages):
            name = "all" if number is None else f"after round {number}"
            shares = np.arange(1, len(values) + 1) / len(values)
            line = self.ax_.step(values, shares, where="post", label=name, **look(k))[0]
            self.lines_.append(line)
        self.ax_.set(xlim=(-1.02, 1.02), ylim=(0.0, 1.02))
        self.ax_.set(xlabel="margin", ylabel="share of rows with at most this margin")
        if len(self.stages) > 1:
            self.ax_.legend(frameon=False, fontsize="small", loc="upper left")
        bare(self.ax_)
        return self
