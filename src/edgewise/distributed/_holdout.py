"""Rows held out for validation: those that a local fit to the same rows would hold out.

A local fit draws them class by class, by their positions among the rows of the class. The positions
of a part's rows follow from the sizes of the parts before it. Held-out rows are sent to the driver,
which needs about 30 bytes for every row of all parts while it draws.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._data.rows import Rows, held_out
from .._data.sparse import Matrix, SparseRows
from ._backend import Backend
from ._facts import Raw, Recipe, plain

Places = list[NDArray[np.intp]]  # for each class: places among the rows of the class in a part


def split(
    backend: Backend, parts: Sequence[Any], recipe: Recipe, fraction: float, random_state: Any
) -> tuple[list[Any], Rows]:
    """Parts to learn from, and the rows held out."""
    numbered = backend.derived(_numbered, parts, range(len(parts)))
    counts = backend.sum(_class_counts, numbered, recipe, add=_union)
    of_part = np.array([counts[i] for i in range(len(parts))])  # (n_parts, n_classes)
    places = _places(of_part, held_out(_codes(of_part), fraction, random_state)[1])
    chosen = [(of_classes, recipe) for of_classes in places]
    held = backend.derived(_numbered, backend.derived(_taken, parts, chosen), range(len(parts)))
    rows = backend.sum(_rows, held, recipe, add=_union)
    rest = backend.derived(_left, parts, chosen)
    return rest, _joined([rows[i] for i in range(len(parts))])


def _codes(of_part: NDArray[np.int64]) -> NDArray[np.int32]:
    """Codes of all rows, class after class."""
    totals = of_part.sum(axis=0)
    return np.repeat(np.arange(len(totals), dtype=np.int32), totals)


def _places(of_part: NDArray[np.int64], held: NDArray[np.intp]) -> list[Places]:
    """Of held rows, numbered class after class and in a class part after part."""
    start = np.concatenate([[0], of_part.T.ravel().cumsum()])  # of every class and part
    held = np.sort(held)
    cuts = np.searchsorted(held, start)
    n_parts, n_classes = of_part.shape
    return [
        [
            held[cuts[j] : cuts[j + 1]] - start[j]
            for j in (k * n_parts + i for k in range(n_classes))
        ]
        for i in range(n_parts)
    ]


# --- where the rows are ---------------------------------------------------------------------------


def _numbered(raw: Raw, number: int) -> tuple[int, Raw]:
    return number, raw


def _union(a: dict[int, Any], b: dict[int, Any]) -> dict[int, Any]:
    return a | b


def _class_counts(part: tuple[int, Raw], recipe: Recipe) -> dict[int, NDArray[np.int64]]:
    number, raw = part
    _, codes, _ = recipe.rows(raw)
    return {number: np.bincount(codes, minlength=len(recipe.classes))}


def _rows(part: tuple[int, Raw], recipe: Recipe) -> dict[int, Any]:
    number, raw = part
    X, codes, weights = recipe.rows(raw)
    return {number: (plain(X), codes, weights)}


def _mask(raw: Raw, chosen: tuple[Places, Recipe]) -> NDArray[np.bool_]:
    """Return a mask of the held-out rows of a part; rows without weight are never held out."""
    places, recipe = chosen
    present = recipe.present(raw)
    _, codes, _ = recipe.rows(raw)
    of_present = np.zeros(len(codes), dtype=bool)
    for k, of_class in enumerate(places):
        of_present[np.flatnonzero(codes == k)[of_class]] = True
    mask = np.zeros(len(present), dtype=bool)
    mask[present] = of_present
    return mask


def _taken(raw: Raw, chosen: tuple[Places, Recipe]) -> Raw:
    return raw.take(_mask(raw, chosen))


def _left(raw: Raw, chosen: tuple[Places, Recipe]) -> Raw:
    return raw.take(~_mask(raw, chosen))


def _joined(parts: list[tuple[Any, Any, Any]]) -> Rows:
    blocks, codes, weights = zip(*parts, strict=True)
    w = None if weights[0] is None else np.concatenate(weights)
    if any(map(sparse.issparse, blocks)):
        X: Matrix = SparseRows.of(sparse.vstack(blocks, format="csr"))
    else:
        X = np.concatenate(blocks)
    return Rows(X, np.concatenate(codes), w)
