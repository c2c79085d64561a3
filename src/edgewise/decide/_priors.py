"""Priors that change: probabilities for other class frequencies, given or estimated.

M. Saerens, P. Latinne and C. Decaestecker, "Adjusting the outputs of a classifier to new a priori
probabilities", Neural Computation 14, 2002. If only the class frequencies change, from pi to pi',
then p'(k|x) is proportional to p(k|x) pi'_k / pi_k; and the pi' of largest likelihood for
unlabelled rows is the fixed point of taking pi' as the mean of p' over these rows (expectation
maximisation).
"""

import numpy as np
from numpy.typing import ArrayLike

from .._ground.checks import Array, check_proba
from .._ground.errors import InvalidDataError, InvalidParameterError


def adjust_priors(proba: ArrayLike, old: ArrayLike, new: ArrayLike) -> Array:
    """Adjust probabilities to other class frequencies.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        Class probabilities.
    old : array-like of shape (n_classes,)
        Class frequencies of the training rows.
    new : array-like of shape (n_classes,)
        Class frequencies to adjust to.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Adjusted probabilities.

    Examples
    --------
    >>> from edgewise.decide import adjust_priors
    >>> adjust_priors([[0.5, 0.5]], [0.5, 0.5], [0.9, 0.1]).round(2).tolist()
    [[0.9, 0.1]]
    """
    chances = check_proba(proba)
    before, after = (
        check_priors(priors, chances.shape[1], name)
        for priors, name in ((old, "old"), (new, "new"))
    )
    if (before == 0).any():
        raise InvalidParameterError(f"old must hold positive frequencies. Got {before}.")
    return _adjusted(chances, after / before)


def estimate_priors(
    proba: ArrayLike, old: ArrayLike, *, max_iter: int = 1000, tolerance: float = 1e-8
) -> Array:
    """Estimate the class frequencies of unlabelled rows from calibrated probabilities.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        Class probabilities of the rows.
    old : array-like of shape (n_classes,)
        Class frequencies of the training rows.
    max_iter : int, default=1000
        Largest number of iterations.
    tolerance : float, default=1e-08
        Change of the frequencies at which the iteration ends.

    Returns
    -------
    ndarray of shape (n_classes,)
        Estimated frequencies.

    Examples
    --------
    >>> from edgewise.decide import estimate_priors
    >>> proba = [[0.9, 0.1]] * 9 + [[0.1, 0.9]]
    >>> bool(estimate_priors(proba, [0.5, 0.5])[0] > 0.8)
    True
    """
    chances = check_proba(proba)
    if len(chances) == 0:
        raise InvalidDataError("proba must have a row at least, to estimate class frequencies.")
    before = check_priors(old, chances.shape[1], "old")
    if (before == 0).any():
        raise InvalidParameterError(f"old must hold positive frequencies. Got {before}.")
    if not chances.any(axis=1).all():
        raise InvalidDataError(
            "proba must have a positive probability in every row, to estimate class frequencies. "
            f"Got zeros only in row {int(chances.any(axis=1).argmin())}."
        )
    chances = chances[np.lexsort(chances.T)]  # so that means do not depend on the rows' order
    new = before
    for _ in range(max_iter):
        last, new = new, _adjusted(chances, new / before).mean(axis=0)
        if np.abs(new - last).max() < tolerance:
            break
    return np.asarray(new / new.sum())


def _adjusted(chances: Array, ratio: Array) -> Array:
    scaled = chances * ratio
    total = scaled.sum(axis=1, keepdims=True)
    adjusted: Array = np.divide(scaled, total, out=chances.copy(), where=total > 0)
    return adjusted


def check_priors(priors: ArrayLike, n_classes: int, name: str) -> Array:
    try:
        values = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(0, np.nan)
    shaped = values.shape == (n_classes,)
    if not shaped or not (values >= 0).all() or abs(values.sum() - 1.0) > 1e-6:
        raise InvalidParameterError(
            f"{name} must hold a frequency for each of the {n_classes} classes, none negative, "
            f"with the sum 1. Got {priors!r}."
        )
    return np.asarray(values / values.sum())
