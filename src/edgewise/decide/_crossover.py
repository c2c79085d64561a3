"""Rows mixed from other rows, for a teacher to label.

As in C. Bucila, R. Caruana and A. Niculescu-Mizil, "Model compression" (KDD 2006), a new row takes
some of its values from another row. The paper takes them from the nearest row; here it is any row
that the teacher finds most probable for the same class, so that no distance between categories,
missing values and numbers of different units is needed.

A matrix of places says which row each value comes from. Values themselves are copied, never
computed, so columns of every type are possible. What is drawn depends on the content of the rows,
not on their order.
"""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._data.folds import content_order
from .._data.frames import is_frame

Places = NDArray[np.intp]

_SHARE = 0.3  # of the values of a new row that come from the other row


def can_cross(X: Any) -> bool:
    """Return whether X is a frame or an array of two dimensions, whose values can be mixed."""
    return is_frame(X) if not isinstance(X, np.ndarray) else X.ndim == 2


def crossed_places(X: Any, classes: Places, n_new: int) -> Places:
    """(n_new, n_features): the rows of X that the values of new rows come from.

    `classes` (n,) are the most probable classes of the rows.
    """
    order = content_order(X)
    order = order[np.argsort(classes[order], kind="stable")]  # class after class
    sorted_classes = classes[order]
    first = np.searchsorted(sorted_classes, sorted_classes, side="left")
    last = np.searchsorted(sorted_classes, sorted_classes, side="right")
    rng = np.random.default_rng(0)
    row = rng.integers(len(order), size=n_new)
    other = rng.integers(first[row], last[row])
    swapped = rng.random((n_new, X.shape[1])) < _SHARE
    return np.asarray(order[np.where(swapped, other[:, np.newaxis], row[:, np.newaxis])])


def values_at(X: Any, places: Places) -> Any:
    """The rows whose value in column j is that of row places[:, j], of the kind of X."""
    if not is_frame(X):
        return np.take_along_axis(X, places, axis=0)
    if hasattr(X, "iloc"):  # names may be of any kind
        frame = X.iloc[places[:, 0]].reset_index(drop=True)
        for j in range(X.shape[1]):
            frame.isetitem(j, X.iloc[:, j].array.take(places[:, j]))
        return frame
    frame = nw.from_native(X, eager_only=True)
    columns = [frame[name][places[:, j]] for j, name in enumerate(frame.columns)]
    return frame[places[:, 0], :].with_columns(*columns).to_native()
