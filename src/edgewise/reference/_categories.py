"""Splits of categorical features, for the reference: every division of the categories is tried.

2^(m-1) - 1 ways for m categories in a node, so this is for few. Missing values are a category like
the others. What goes left is written down; all else goes right: missing values, categories that
no row of the table has and, unless the noise of the statistics is known, those that the node did
not see.
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
    *,
    n_values: int = 0,
    noise: float = 0.0,
) -> tuple[float, Array]:
    """The best score, and the categories on the left, of a node's numbers x (n_node,).

    `stats` (S, n_node) are what is summed on each side, `first` tells the best of scores. Missing
    values are on the right; where there are none, the larger side is, and of equally large ones
    that without the lowest category.

    With `noise`, the variance of A per unit of B, the categories that do not stand apart from the
    node stay together, and the cuts in the order of all `n_values` are tried first.
    """
    seen, of_row, count = np.unique(x, return_inverse=True, return_counts=True)
    sums = np.array([np.bincount(of_row, s, len(seen)) for s in stats])  # (S, m)
    pool = np.zeros(len(seen), dtype=bool)
    cuts = np.empty((0, len(seen)), dtype=bool)
    if noise > 0:
        cuts = _in_order(seen)
        pool = ~_stand_apart(sums, noise)
    sets = np.vstack([cuts, _sets(pool)]) if noise == 0 or n_values > 2 else cuts
    if not len(sets):
        return 0.0, seen
    L = np.einsum("sm,pm->sp", sums, sets)[:, None]  # (S, 1, sets), as for the cuts of a feature
    n_left = sets @ count
    allowed = np.minimum(n_left, len(x) - n_left) >= min_samples_leaf
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(allowed, score(L, sums.sum(axis=1)[:, None, None] - L)[0], 0.0)
    best = first(scores)
    left = sets[best]
    sides = dict(zip(seen.tolist(), left.tolist(), strict=True))
    if noise > 0:
        sides = _all_sides(seen, left, n_values, best < len(cuts), pool, sums)
    lowest = sides[min(sides)]
    if MISSING in sides:
        turn = sides[MISSING]
    else:
        turn = (n_left[best], not lowest) > (len(x) - n_left[best], lowest)
    return float(scores[best]), np.array([v for v in sorted(sides) if sides[v] != turn], dtype=int)


def _in_order(seen: Array) -> Array:
    """The cuts of the values in their order: missing values to the right, then to the left."""
    is_missing = seen == MISSING
    values = seen[~is_missing]
    below: Array = (seen <= values[:, None]) & ~is_missing  # (values, seen)
    if not is_missing.any():
        return below[:-1]
    return np.vstack([below, below[:-1] | is_missing])


def _stand_apart(sums: Array, noise: float) -> Array:
    """Return the categories two standard errors of A or more from the node; sums (2, m)."""
    (A, B), (all_A, all_B) = sums, sums.sum(axis=1)
    return np.asarray((A - B * all_A / all_B) ** 2 * all_B >= 4 * noise * B * (all_B - B))


def _sets(pool: Array) -> Array:
    """The ways to part m categories, (ways, m), those of the pool together."""
    of_part = np.where(pool, 0, np.cumsum(~pool) - (0 if pool.any() else 1))
    return bipartitions(int(of_part.max()) + 1)[:, of_part]


def _all_sides(
    seen: Array, left: Array, n_values: int, in_order: bool, pool: Array, sums: Array
) -> dict[int, bool]:
    """Return whether each category goes left, by number: those that the node did not see, too."""
    sides = dict(zip(seen.tolist(), left.tolist(), strict=True))
    unseen = [v for v in range(n_values) if v not in sides]
    if in_order:
        low = seen[left].max()
        above = seen[~left & (seen > low)]
        middle = (low + above.min() - 1) // 2 if len(above) else n_values
        return sides | {v: bool(v <= middle) for v in unseen}
    if pool.any():
        with_pool = bool(left[pool][0])
    else:
        (A_left, B_left), (A_right, B_right) = sums[:, left].sum(axis=1), sums[:, ~left].sum(axis=1)
        larger = (B_left, A_left / B_left) > (B_right, A_right / B_right)
        with_pool = bool(larger)
    return sides | dict.fromkeys(unseen, with_pool)
