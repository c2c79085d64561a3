"""An upper bound of the memory of a fit, from its size and the estimator."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._boosting.footprint import Measured, Size
from .._boosting.threads import n_threads
from .._ground import params as p
from .._ground.errors import InvalidParameterError
from ..aoso_logitboost import AOSOLogitBoostClassifier

_RULES: dict[str, p.Rule] = {
    "n_rows": p.integer(1, p.WHOLE),
    "n_features": p.integer(1, p.WHOLE),
    "n_classes": p.integer(2, p.WHOLE),
    "density": p.real(0.0, 1.0),
}


def estimate_memory(
    n_rows: int,
    n_features: int,
    n_classes: int,
    *,
    estimator: Any = None,
    density: float = 1.0,
    dtype: DTypeLike = np.float64,
) -> int:
    """Estimate an upper bound of the memory that `fit` takes, besides X and y.

    Parameters
    ----------
    n_rows : int
        Number of rows. With soft labels a row counts once for every class of positive probability.
    n_features : int
        Number of columns.
    n_classes : int
        Number of classes.
    estimator : estimator, default=None
        Estimator of this library with its parameters. None is
        ``AOSOLogitBoostClassifier()``.
    density : float, default=1.0
        Share of the entries of X that are stored; below 1 for a sparse matrix.
    dtype : dtype, default=numpy.float64
        Type of the numbers of X.

    Returns
    -------
    int
        Bytes: a bound for a NumPy array of a type that is read in place, or for a SciPy CSR matrix.
        A data frame with columns of several types is first converted to one array, which takes 8
        bytes more for each value. Count the validation rows as rows, if you pass any.

    Examples
    --------
    >>> from edgewise import estimate_memory
    >>> estimate_memory(100_000, 50, 10) < 500_000_000
    True
    """
    given = {"n_rows": n_rows, "n_features": n_features, "n_classes": n_classes, "density": density}
    p.check("estimate_memory", given, _RULES)
    estimator = AOSOLogitBoostClassifier() if estimator is None else estimator
    if not isinstance(estimator, Measured):
        raise InvalidParameterError(
            "The 'estimator' parameter of estimate_memory must be a booster of edgewise. Got "
            f"{type(estimator).__name__}."
        )
    entries = density * n_rows * n_features
    size = Size(
        n_rows,
        n_features,
        n_classes,
        entries,
        density < 1.0,
        np.dtype(dtype).itemsize,
        max(estimator.max_bins, 254),
        n_threads(estimator.n_jobs, int(entries * n_classes)),
    )
    return estimator._memory(size)
