"""The learning curve: the error or loss of a model after every round."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.params import check, one_of
from .._tools.rounds import has_rounds, rounds_used, share_wrong, staged_figures
from ._axes import INK, axes, bare, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Measure = Literal["error", "log_loss"]
Array = NDArray[np.float64]


class RoundsDisplay:
    """Learning curve: error or log loss after every round, with the best round marked.

    Parameters
    ----------
    curves : dict of str to ndarray
        Figures after round 1, 2, ..., by name.
    measure : str
        Label of the axis.
    best_round : int or None
        Round that is marked, from 1.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes of the drawing.
    figure_ : matplotlib figure
        Figure of the drawing.
    lines_ : dict
        Lines of the curves by name.
    best_ : matplotlib artist
        Mark of the best round.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.plot import RoundsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> display = RoundsDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> plt.close("all")
    """

    ax_: "Axes"
    figure_: "Figure"
    lines_: dict[str, Any]
    best_: Any

    def __init__(self, *, curves: dict[str, Array], measure: str, best_round: int | None) -> None:
        self.curves, self.measure, self.best_round = curves, measure, best_round

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        X_train: Any = None,
        y_train: ArrayLike | None = None,
        measure: Measure = "error",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the learning curve of a fitted estimator on held-out rows.

        The mark is the round of the lowest figure on the held-out rows; with early stopping, the
        round that the validation rows chose.

        Parameters
        ----------
        estimator : fitted booster
            Estimator with staged predictions.
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.
        X_train : like X, default=None
            Training rows, which get a curve too.
        y_train : array-like, default=None
            Their labels.
        measure : {"error", "log_loss"}, default='error'
            Figure to draw.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        check("from_estimator", {"measure": measure}, {"measure": one_of(*get_args(Measure))})
        if not has_rounds(estimator):
            raise InvalidParameterError(
                "A learning curve needs staged predictions, round by round. Got "
                f"{type(estimator).__name__}, which has none."
            )
        held = staged_figures(estimator, X, y)
        curves = {"held-out rows": getattr(held, measure)}
        if X_train is not None and y_train is not None:
            curves["training rows"] = getattr(staged_figures(estimator, X_train, y_train), measure)
        stopped = "validation_score" in getattr(estimator, "history_", {})
        best = rounds_used(estimator) if stopped else held.best_round(measure)
        display = cls(curves=curves, measure=measure.replace("_", " "), best_round=best or None)
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, staged: Iterable[ArrayLike], *, ax: "Axes | None" = None
    ) -> Self:
        """Draw the error of predictions after every round.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Right labels.
        staged : iterable of array-like
            Predictions after every round, as `staged_predict` yields them.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        errors = np.array([share_wrong(y, said) for said in staged])
        if not len(errors):
            raise InvalidDataError("There are no predictions: give those of one round or more.")
        best = int(errors.argmin()) + 1
        return cls(curves={"held-out rows": errors}, measure="error", best_round=best).plot(ax=ax)

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
        self.lines_ = {}
        for k, (name, values) in enumerate(self.curves.items()):
            rounds = np.arange(1, len(values) + 1)
            self.lines_[name] = self.ax_.plot(rounds, values, label=name, **look(k))[0]
        self.best_ = None
        if self.best_round is not None:
            self._mark(self.best_round)
        self.ax_.set(xlabel="round", ylabel=self.measure)
        self.ax_.legend(frameon=False, fontsize="small")
        bare(self.ax_)
        return self

    def _mark(self, best: int) -> None:
        value = next(iter(self.curves.values()))[best - 1]
        words = f"best: round {best}, {value:.4g}"
        self.ax_.axvline(best, color=INK, linewidth=0.8, linestyle=":")
        self.best_ = self.ax_.plot(
            best, value, marker="D", markersize=6, color=INK, linestyle="none", label=words
        )[0]
