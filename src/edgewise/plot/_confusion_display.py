"""Confusions of classes."""

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.checks import check_cost
from .._ground.params import check, integer, one_of
from ..metrics import Confusion, confusion_matrix, worst_confusions
from ._axes import INK, SIGNAL, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = Literal["count", "rate", "cost"]
Array = NDArray[np.float64]

_READABLE = 20  # classes whose cells have room for numbers


class ConfusionDisplay:
    """Confusion matrix with the worst confusions framed and named.

    Parameters
    ----------
    matrix : ndarray of shape (n_classes, n_classes)
        Figures; rows are true classes, columns are predicted classes.
    classes : ndarray of shape (n_classes,)
        Labels.
    worst : list of Confusion
        Confusions that are framed, and named below the matrix.
    values : {"count", "rate", "cost"}
        Meaning of the figures.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes of the drawing.
    figure_ : matplotlib figure
        Figure of the drawing.
    image_ : matplotlib image
        The matrix.
    text_ : ndarray of shape (n_classes, n_classes) or None
        The numbers; None if there are too many classes.
    frames_ : list
        Frames around the worst confusions.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.plot import ConfusionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> display = ConfusionDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> plt.close("all")
    """

    ax_: "Axes"
    figure_: "Figure"
    image_: Any
    text_: NDArray[Any] | None
    frames_: list[Any]

    def __init__(
        self,
        *,
        matrix: Array,
        classes: NDArray[Any],
        worst: list[Confusion],
        values: Values = "count",
    ) -> None:
        self.matrix, self.classes, self.worst, self.values = matrix, classes, worst, values

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        values: Values = "count",
        cost: ArrayLike | None = None,
        n_worst: int = 3,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the confusions of a fitted estimator.

        Parameters
        ----------
        estimator : fitted classifier
            Classifier whose predictions are drawn.
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.
        values : {"count", "rate", "cost"}, default='count'
            Number of rows, share of the true class, or number of rows times their cost.
        cost : array-like of shape (n_classes, n_classes), default=None
            Cost of predicting class j (column) where class k is right (row). None: every mistake
            costs 1.
        n_worst : int, default=3
            Number of confusions to name, by `values`.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        return cls.from_predictions(
            y,
            estimator.predict(X),
            classes=estimator.classes_,
            values=values,
            cost=cost,
            n_worst=n_worst,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        y_pred: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        values: Values = "count",
        cost: ArrayLike | None = None,
        n_worst: int = 3,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the confusions of predictions.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Right labels.
        y_pred : array-like of shape (n_rows,)
            Predicted labels.
        classes : array-like of shape (n_classes,), default=None
            Classes in the order wanted. None uses the sorted labels that occur.
        values : {"count", "rate", "cost"}, default='count'
            Number of rows, share of the true class, or number of rows times their cost.
        cost : array-like of shape (n_classes, n_classes), default=None
            Cost of predicting class j (column) where class k is right (row). None: every mistake
            costs 1.
        n_worst : int, default=3
            Number of confusions to name, by `values`.
        ax : matplotlib axes, default=None
            Axes to draw on. None makes a new figure.

        Returns
        -------
        display
            The drawn display.
        """
        rules = {"values": one_of(*get_args(Values)), "n_worst": integer(1)}
        check("from_predictions", {"values": values, "n_worst": n_worst}, rules)
        counts, known = confusion_matrix(y, y_pred, classes=classes)
        worst = worst_confusions(y, y_pred, classes=known, n=n_worst, by=values, cost=cost)
        matrix = _valued(counts, values, cost)
        return cls(matrix=matrix, classes=known, worst=worst, values=values).plot(ax=ax)

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
        self.image_ = self.ax_.imshow(self.matrix, cmap="Blues", vmin=0)
        places = range(len(self.classes))
        self.ax_.set(xticks=places, yticks=places, xlabel="predicted", ylabel="true")
        names = [str(c) for c in self.classes]
        turned = 90 if max(map(len, names)) > 3 else 0
        self.ax_.set_xticklabels(names, rotation=turned)
        self.ax_.set_yticklabels(names)
        self.text_ = self._numbers() if len(names) <= _READABLE else None
        self.frames_ = [self._frame(c) for c in self.worst]
        if self.worst:
            self.ax_.set_title(self._named(), fontsize="small", loc="left")
        return self

    def _numbers(self) -> NDArray[Any]:
        text = np.empty(self.matrix.shape, dtype=object)
        half = self.matrix.max() / 2
        for (k, j), value in np.ndenumerate(self.matrix):
            colour = "white" if value > half else INK
            words = "" if value == 0 else f"{value:.2f}" if self.values == "rate" else f"{value:g}"
            text[k, j] = self.ax_.text(
                j, k, words, ha="center", va="center", color=colour, fontsize="small"
            )
        return text

    def _frame(self, confusion: Confusion) -> Any:
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

        k, j = (
            int(np.flatnonzero(self.classes == c)[0]) for c in (confusion.true, confusion.predicted)
        )
        frame = Rectangle((j - 0.5, k - 0.5), 1, 1, fill=False, edgecolor=SIGNAL, linewidth=1.8)
        return self.ax_.add_patch(frame)

    def _named(self) -> str:
        lines = [f"{c.true} taken for {c.predicted}: {self._size(c)}" for c in self.worst]
        return "\n".join(lines)

    def _size(self, c: Confusion) -> str:
        if self.values == "cost":
            return f"cost {c.cost:g} ({c.count:g} rows)"
        return f"{c.count:g} rows, {c.rate:.1%} of {c.true}"


def _valued(counts: Array, values: str, cost: ArrayLike | None) -> Array:
    if values == "rate":
        of_class = counts.sum(axis=1, keepdims=True)
        return counts / np.where(of_class > 0, of_class, 1.0)
    if values == "cost":
        K = len(counts)
        return counts * (1.0 - np.eye(K) if cost is None else check_cost(cost, K))
    return counts
