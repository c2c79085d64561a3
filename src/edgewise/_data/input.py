"""Input: the user's X, y and weights, checked together."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._ground.errors import InvalidDataError, InvalidParameterError
from .features import matrix
from .rows import Rows
from .soft import SoftLabels, soft_labels
from .sparse import Matrix
from .targets import encode, indicators, is_matrix, labels
from .weights import Weights, row_costs, row_weights


class Labelled(NamedTuple):
    """Checked input with the user's labels."""

    X: Matrix
    y: Any  # (n) labels, (n, n_labels) booleans, or soft labels
    weights: Weights | None
    costs: Weights | None = None
    weight_unit: float = 1.0

    @property
    def is_matrix(self) -> bool:
        """Return whether y is an indicator matrix."""
        return isinstance(self.y, np.ndarray) and self.y.ndim == 2

    def with_costs(self, costs: Any) -> "Labelled":
        return self._replace(costs=row_costs(costs, len(self.X)))

    def without_weightless(self) -> "Labelled":
        """Drops rows of weight zero."""
        if self.weights is None or self.weights.all():
            return self
        present = self.weights > 0
        return Labelled(*(_taken(part, present) for part in self))

    def encoded(self, classes: NDArray[Any], name: str) -> Rows:
        if isinstance(self.y, SoftLabels):
            soft = self.y.among(classes, name)
            likeliest = soft.argmax(axis=1).astype(np.int32)
            rows = Rows(self.X, likeliest, self.weights, None, self.costs, soft)
            return rows._replace(weight_unit=self.weight_unit)
        if self.y.ndim == 1:
            codes = encode(classes, self.y, name)
            rows = Rows(self.X, codes, self.weights, None, self.costs)
            return rows._replace(weight_unit=self.weight_unit)
        if self.y.shape[1] != len(classes):
            raise InvalidDataError(
                f"{name} must have one column for each of the {len(classes)} labels. Got "
                f"{self.y.shape[1]} columns."
            )
        nothing = np.zeros(len(self.y), dtype=np.int32)
        rows = Rows(self.X, nothing, self.weights, self.y, self.costs)
        return rows._replace(weight_unit=self.weight_unit)


def _taken(part: Any, which: NDArray[Any]) -> Any:
    """Select rows of an array with one entry per row; return other values unchanged."""
    return part if part is None or isinstance(part, float) else part[which]


def checked(
    estimator: BaseEstimator,
    given: tuple[Any, Any, Any],
    class_weight: Any,
    *,
    names: tuple[str, str, str],
    reset: bool,
    multi_label: bool = False,
    soft: bool = False,
    learn: bool = False,
) -> Labelled:
    """Check X, y and weights; `names` are the user's names for them. For `learn` see `matrix`."""
    X = matrix(estimator, given[0], reset=reset, learn=learn)
    y: Any = soft_labels(given[1], names[1]) if soft else None
    if y is None and multi_label and is_matrix(given[1]):
        y = indicators(given[1], names[1])
        if class_weight is not None:
            raise InvalidParameterError(
                "The 'class_weight' parameter is for labels that exclude each other; with an "
                f"indicator matrix as y it must be None. Got {class_weight!r}."
            )
    if y is None:
        y = labels(given[1], names[1])
    if len(y) != len(X):
        raise InvalidDataError(
            f"{names[0]} and {names[1]} must have the same number of rows. Got {len(X)} rows in "
            f"{names[0]} and {len(y)} in {names[1]}: inconsistent numbers of samples."
        )
    if isinstance(y, SoftLabels):
        y, class_weight = y.weighted(class_weight), None
    w, unit = row_weights(given[2], X, y, class_weight, names[2])
    return Labelled(X, y, w, weight_unit=unit)
