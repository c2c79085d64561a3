"""Hashes of rows and of settings, which identify equal runs."""

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from ._features import Features


def of_settings(**settings: Any) -> str:
    text = json.dumps(settings, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def of_rows(features: Features, labels: NDArray[Any]) -> str:
    """Return the hash of the values of X and y, in order."""
    digest = hashlib.sha256()
    if issparse(features.matrix):
        matrix = csr_array(features.matrix, copy=True)
        matrix.sum_duplicates()
        parts = [np.array(matrix.shape), matrix.indptr, matrix.indices, matrix.data]
    else:
        parts = [features.matrix, features.categorical]
    for part in [*parts, labels.astype(str)]:
        array = np.ascontiguousarray(part)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.data if array.dtype.kind != "U" else array.tobytes())
    return digest.hexdigest()[:32]
