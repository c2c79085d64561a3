"""Splits of categorical features, for the reference: every way to part the categories is tried.

2^(m-1) - 1 ways for m categories in a node, so this is for few. Missing values are a category like
the others. What goes left is written down; all else goes right: missing values, categories that
the node did not see, and those that no row of the table has.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
MISSING = -1  # as the number of a category


def numbered(x: Array) -> tuple[Array, Array]:
    """The finite values of a column, ascending, and the number of each row's value."""
    values = np.unique(x[np.isfinite(x)])
    number = np.searchsorted(values, x).clip(max=max(len(values) - 1, 0))
    known = np.isfinite(x) & (np.append(values, np.nan)[number] == x)
    return values, np.where(known, number, MISSING)


def bipartitions(m: int) -> Array:
    """All ways to part m things into two sets, (2^(m-1) - 1, m) booleans; the last is never in."""
    return np.asarray((np.arange(1, 2 ** (m - 1))[:, None] >> np.arange(m)) % 2 == 1)


def best_sets(
    x: Array,
    stats: Array,
    score: Callable[[Array, Array], Array],
    min_samples_leaf: int,
    first: Callable[[Array], int],
) -> tuple[float, Array]:
    """The best score, and the categories on the left, of a node's numbers x (n_node,).

    `stats` (S, n_node) are what is summed on each side, `first` tells the best of scores. Missing
    values are on the right; where there are none, the larger side is, and of equally large ones
    that without the lowest category.
    """
    seen, of_row, count = np.unique(x, return_inverse=True, return_counts=True)
    sets = bipartitions(len(seen))
    if not len(sets):
        return 0.0, seen
    sums = np.array([np.bincount(of_row, s, len(seen)) for s in stats])  # (S, m)
    L = np.einsum("sm,pm->sp", sums, sets)[:, None]  # (S, 1, sets), as for the cuts of a feature
    n_left = sets @ count
    allowed = np.minimum(n_left, len(x) - n_left) >= min_samples_leaf
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(allowed, score(L, sums.sum(axis=1)[:, None, None] - L)[0], 0.0)
    best = first(scores)
    left = sets[best]
    if seen[0] == MISSING:
        turn = left[0]
    else:
        turn = (n_left[best], not left[0]) > (len(x) - n_left[best], left[0])
    return float(scores[best]), seen[left != turn]
