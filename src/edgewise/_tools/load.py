"""From a model file to the estimator that was saved."""

import os
from typing import Any

from .._ground.errors import ModelFormatError
from .._ground.estimator import ESTIMATORS
from .._model import file
from .._model.saved import check_version, restored


def load(path: str | os.PathLike[str]) -> Any:
    """Load a fitted estimator from a file written by its method `save`.

    The estimator predicts, and with ``warm_start=True`` resumes, exactly as the saved one. Loading
    runs no code from the file; a file that is not valid raises `ModelFormatError`.

    Parameters
    ----------
    path : str or path-like
        File to read.

    Returns
    -------
    estimator
        The fitted estimator.

    Examples
    --------
    >>> import os, tempfile
    >>> import edgewise
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = os.path.join(tempfile.mkdtemp(), "iris.edgewise")
    >>> edgewise.MARTClassifier(n_estimators=5).fit(X, y).save(path)
    >>> edgewise.load(path).predict(X[:2])
    array([0, 0])
    """
    return from_bytes(file.read(path))


def from_bytes(data: bytes) -> Any:
    """The estimator of the bytes of a model file."""
    header, arrays = file.unpack(data)
    check_version(header)
    algorithm = header["algorithm"]
    cls = ESTIMATORS.get(algorithm) if isinstance(algorithm, str) else None
    if cls is None:
        raise ModelFormatError(
            f"Not a valid model: the algorithm must be one of {', '.join(ESTIMATORS)}. Got "
            f"{str(algorithm)[:80]!r}."
        )
    return restored(cls, header, arrays)
