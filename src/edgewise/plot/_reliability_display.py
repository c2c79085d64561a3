"""Reliability diagrams of the probabilities of several classes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from .._ground.params import check, one_of
from ..metrics import ReliabilityCurve, reliability_curve
from ..metrics._calibration import Kind, Strategy
from ..metrics._forecasts import is_indicator
from ._axes import FAINT, axes, bare, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class ReliabilityDisplay:
    """Reliability diagram: forecast against observed frequency, with the calibration error.

    Parameters
    ----------
    curves : dict of str to ReliabilityCurve
        Curves by name.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes of the drawing.
    figure_ : matplotlib figure
        Figure of the drawing.
    lines_ : dict
        The curves by name.
    diagonal_ : matplotlib line
        Line where forecasts come true as often as they say.
    bars_ : matplotlib bars
        Share of the rows in every bin; only with a single curve.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.plot import ReliabilityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> plt.close("all")
    """

    ax_: "Axes"
    figure_: "Figure"
    lines_: dict[str, Any]
    diagonal_: Any
    bars_: Any

    def __init__(self, *, curves: Mapping[str, ReliabilityCurve]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        kind: Kind = "top_label",
        labels: Sequence[Any] | None = None,
        n_bins: int = 15,
        strategy: Strategy = "uniform",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the reliability of the probabilities of a fitted estimator.

        Parameters
        ----------
        estimator : fitted classifier
            Classifier whose predictions are drawn.
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.
        kind : {"top_label", "classwise"}, default='top_label'
            One curve for the most probable class, or a curve for each class.
        labels : sequence, default=None
            Classes to draw with "classwise". None draws all.
        n_bins : int, default=15
            Number of bins between 0 and 1.
        strategy : {"uniform", "quantile"}, default='uniform'
            Bins of equal width, or of about the same number of rows.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            classes=estimator.classes_,
            kind=kind,
            labels=labels,
            n_bins=n_bins,
            strategy=strategy,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        kind: Kind = "top_label",
        labels: Sequence[Any] | None = None,
        n_bins: int = 15,
        strategy: Strategy = "uniform",
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the reliability of probabilities.

        Parameters
        ----------
        y : array-like of shape (n_rows,) or (n_rows, n_classes)
            Labels, or an indicator matrix.
        proba : array-like of shape (n_rows, n_classes)
            Probabilities.
        classes : array-like of shape (n_classes,), default=None
            Labels of the columns: an estimator's `classes_`. None uses the sorted labels of y.
        kind : {"top_label", "classwise"}, default='top_label'
            One curve for the most probable class, or a curve for each class.
        labels : sequence, default=None
            Classes to draw with "classwise". None draws all.
        n_bins : int, default=15
            Number of bins between 0 and 1.
        strategy : {"uniform", "quantile"}, default='uniform'
            Bins of equal width, or of about the same number of rows.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        ask: dict[str, Any] = {"n_bins": n_bins, "strategy": strategy, "classes": classes}
        if kind == "top_label":
            curve = reliability_curve(y, proba, **ask)
            return cls(curves={"predicted class": curve}).plot(ax=ax)
        check("from_predictions", {"kind": kind}, {"kind": one_of(*get_args(Kind))})
        if labels is None:
            labels = _labels(y, proba, classes)
        curves = {str(k): reliability_curve(y, proba, label=k, **ask) for k in labels}
        return cls(curves=curves).plot(ax=ax)

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
        self.diagonal_ = self.ax_.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=":")[0]
        self.lines_, self.bars_ = {}, None
        if len(self.curves) == 1:
            self._bars(next(iter(self.curves.values())))
        for k, (name, curve) in enumerate(self.curves.items()):
            self._line(k, name, curve)
        self.ax_.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        self.ax_.set(xlabel="probability forecast", ylabel="share that came true")
        self._tell_errors()
        bare(self.ax_)
        return self

    def _line(self, k: int, name: str, curve: ReliabilityCurve) -> None:
        self.lines_[name] = self.ax_.plot(
            curve.forecast,
            curve.observed,
            marker="o",
            markersize=4,
            label=f"{name}: {curve.error:.4f}",
            **look(k),
        )[0]

    def _tell_errors(self) -> None:
        """Expected calibration errors: above the axes, or of several curves in the legend."""
        if len(self.curves) == 1:
            ((name, curve),) = self.curves.items()
            words = f"{name}: calibration error {curve.error:.4f}"
            self.ax_.set_title(words, fontsize="small", loc="left")
        else:
            self.ax_.legend(frameon=False, fontsize="small", title="calibration error")

    def _bars(self, curve: ReliabilityCurve) -> None:
        """The share of the rows in every bin, as bars of a fifth of the height at most."""
        heights = 0.2 * curve.weight / curve.weight.max()
        self.bars_ = self.ax_.bar(
            curve.lower, heights, curve.upper - curve.lower, align="edge", color="#d5dbe0", zorder=0
        )
        for low, high, top, n in zip(curve.lower, curve.upper, heights, curve.count, strict=True):
            middle = (low + high) / 2
            self.ax_.text(middle, top + 0.01, f"{n}", ha="center", fontsize=6.5, color=FAINT)


def _labels(y: ArrayLike, proba: ArrayLike, classes: ArrayLike | None) -> Sequence[Any]:
    if classes is None:
        classes = np.arange(np.shape(proba)[1]) if is_indicator(y) else np.unique(np.asarray(y))
    return list(np.asarray(classes))
