"""Arrays of trees in narrower types: as model files store them, and rounded so that they fit.

A file stores each array in the first type of its row in NARROWER that holds every number exactly,
so files are smaller and models keep their bits. `rounded` changes a model so that narrow types hold
it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Model

Arrays = dict[str, NDArray[Any]]
Types = Mapping[str, np.dtype[Any]]

NARROWER: dict[str, tuple[str, ...]] = {  # the narrowest first; at most a quarter as wide
    "f8": ("f2", "f4"),
    "i8": ("i2", "i4"),
    "i4": ("i1", "i2"),
}


def narrowed(arrays: Mapping[str, NDArray[Any]], types: Types) -> Arrays:
    """The arrays named in `types` in the narrowest types that hold them exactly."""
    return {name: _narrow(a) if name in types else a for name, a in arrays.items()}


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    for kind in NARROWER.get(array.dtype.str[1:], ()):
        with np.errstate(all="ignore"):
            narrow = array.astype(kind)
        if narrow.astype(array.dtype).tobytes() == array.tobytes():  # of NaN and -0.0 too
            return narrow
    return array


def widened(arrays: Mapping[str, NDArray[Any]], types: Types) -> Arrays:
    """Return the arrays in the types of `types`; the checks reject other types."""
    return {name: _wide(array, types.get(name)) for name, array in arrays.items()}


def _wide(array: NDArray[Any], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    if dtype is None or array.dtype.str[1:] not in NARROWER.get(dtype.str[1:], ()):
        return array
    return array.astype(dtype)


def rounded(model: Model) -> Model:
    """The model with thresholds of 32 bits, and gains, covers and values of 16, where they fit."""
    return replace(
        model,
        threshold=_nearest(model.threshold, "f4"),
        gain=_nearest(model.gain, "f2"),
        cover=_nearest(model.cover, "f2"),
        values=_nearest(model.values, "f2"),
        _forest=[],
        _explained=[],
    )


def _nearest(array: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
    """The nearest numbers of the type; the array itself where a finite one would be infinite."""
    with np.errstate(all="ignore"):
        near = array.astype(kind).astype(np.float64)
    return near if np.array_equal(np.isfinite(near), np.isfinite(array)) else array
