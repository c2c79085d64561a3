"""Rows as the input of exported models."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._data.features import matrix
from .._data.sparse import dense


def as_numbers(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return rows as the numbers that exported models take.

    Categories become their positions in ``categories_``, or NaN if they are unknown. Dates and
    times become seconds, and the parts of dates, which ``dates_`` names, follow the last column.

    Parameters
    ----------
    estimator : fitted edgewise classifier
        Model that was exported.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        Rows with the columns of the fit.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        Numbers, NaN where missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from edgewise import MARTClassifier
    >>> from edgewise.export import as_numbers
    >>> X = pd.DataFrame({"day": pd.date_range("1970-01-05", periods=40)})
    >>> model = MARTClassifier(n_estimators=2).fit(X, X["day"].dt.day_of_week > 4)
    >>> as_numbers(model, X[:1])  # seconds, month, day, weekday
    array([[3.456e+05, 1.000e+00, 5.000e+00, 1.000e+00]])
    """
    check_is_fitted(estimator)
    return dense(matrix(estimator, X, reset=False)).astype(np.float64, order="C")
