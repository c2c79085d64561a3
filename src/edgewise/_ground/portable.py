"""exp, log and functions of them, with the same bits on every machine.

The results of NumPy, SciPy and the C library depend on the processor (with AVX-512 the last bit
differs) and on the system, and the last bit of a score may decide a split.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core

Array = NDArray[np.float64]


def _of_each(function: Any, x: ArrayLike) -> Any:
    values = np.ascontiguousarray(x, dtype=np.float64)
    answers = function(values.reshape(-1)).reshape(values.shape)
    return answers if np.ndim(x) else float(answers.item())


def exp(x: ArrayLike) -> Any:
    """exp of every element: an array, or a number for a number."""
    return _of_each(_core.exp_all, x)


def log(x: ArrayLike) -> Any:
    """log of every element: an array, or a number for a number; minus infinity for 0."""
    return _of_each(_core.log_all, x)


def log_softmax(x: Array) -> Array:
    """The logarithm of the soft-max of every row."""
    shifted = x - x.max(axis=1, keepdims=True)
    answer: Array = shifted - log(exp(shifted).sum(axis=1, keepdims=True))
    return answer


def softmax(x: Array) -> Array:
    """The soft-max of every row."""
    powers: Array = exp(x - x.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def log_logistic(x: Array) -> Array:
    """log(1 / (1 + exp(-x))) without overflow."""
    answer: Array = np.minimum(x, 0.0) - log(1.0 + exp(-np.abs(x)))
    return answer
