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
    """Cumulative distribution of the margins, after several rounds.

    A margin is the score of a row's label minus the largest other score, scaled to lie between -1
    and 1; the share at zero is the error.

    Attributes
    ----------
    ax_, figure_ : matplotlib's.
    lines_ : one for each stage.
    zero_ : the line at margin zero.
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
        """Draws the margins of rows X with labels y after `rounds`, or after some of all."""
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
        """Draws the margins of scores, as `decision_function` gives them."""
        values = np.sort(margins(y, scores, classes=classes), axis=None)
        return cls(stages=[RoundMargins(None, values)]).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draws on given or new axes."""
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
