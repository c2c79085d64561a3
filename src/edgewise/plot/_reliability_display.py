"""Whether the probabilities of several classes can be believed."""

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
    """Forecast against observed, with the number of rows of every bin and the calibration error.

    Attributes
    ----------
    ax_, figure_ : matplotlib's.
    lines_ : the curves, by name.
    diagonal_ : where forecasts come true as often as they say.
    bars_ : the share of the rows in every bin, at the foot; of one curve only.
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
        """Draws the reliability of a fitted estimator's probabilities for X."""
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
        """Draws the reliability of probabilities.

        Parameters
        ----------
        y : (n,) labels, or an indicator matrix (n, K).
        proba : (n, K) probabilities.
        classes : (K,) labels of the columns; if None, the sorted labels of y.
        kind : "top_label": of the most probable class; "classwise": a curve for each class.
        labels : of "classwise", the classes to draw; if None, all.
        n_bins, strategy : as for `edgewise.metrics.calibration_error`.
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
        """Draws on given or new axes."""
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
