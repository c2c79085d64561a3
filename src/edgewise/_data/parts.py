"""Parts of the rows to hold out one after the other, chosen by content and not by order."""

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .chance import Keys, distinct, mixed, round_key, row_keys
from .rows import Rows

ENOUGH = 2000  # rows held out in all parts; more hardly improve the choice of rounds
MOST_PARTS = 5
FEW = 200  # rows up to which equal rows stay together
NEVER = -1

Random = int | np.random.RandomState | None


def held_out_parts(rows: Rows, share: float, random_state: Random) -> list[tuple[Rows, Rows]]:
    """Yield training rows and held-out rows; every row is held out at most once.

    A part contains about `share` of every class. Classes with one row stay in training. With few
    rows there are more parts, so that enough rows are held out.
    """
    n = len(rows.codes)
    part = _part_of_rows(rows, _whole_parts(share), _seed(random_state))
    splits = [(part != j, part == j) for j in range(n_held_out_parts(n, share))]
    whole = _classes(rows)
    return [
        (training, rows.take(held).in_own_order().expanded())
        for training, held in ((rows.take(seen).expanded(), held) for seen, held in splits)
        if held.any() and _classes(training) == whole
    ]


def n_held_out_parts(n_rows: int, share: float) -> int:
    """Return the largest number of parts that are held out of this many rows."""
    whole = _whole_parts(share)
    return min(whole, MOST_PARTS, max(1, math.ceil(ENOUGH * whole / n_rows)))


def _whole_parts(share: float) -> int:
    """The number of parts that all rows form."""
    return max(2, round(1 / share))


def _part_of_rows(rows: Rows, n_parts: int, seed: int) -> NDArray[np.intp]:
    """The part in which each row is held out, or NEVER."""
    keys = mixed(_keys(rows) ^ round_key(seed, 0))
    part = np.full(len(keys), NEVER)
    dealt = 0
    for k in np.unique(rows.codes):
        of_class = np.flatnonzero(rows.codes == k)
        found, place = np.unique(keys[of_class], return_inverse=True)
        if len(found) > 1:
            part[of_class] = (dealt + place) % n_parts
            dealt += len(found)
    return part


def _keys(rows: Rows) -> Keys:
    """Keys of the rows.

    In small data equal rows have equal keys, because a held-out copy of a training row says
    nothing; in large data rows repeat each other as new rows will.
    """
    soft = rows.soft if rows.soft is not None and (rows.soft % 1.0).any() else None  # else labels
    labels = [part for part in (rows.codes, rows.relevant, soft) if part is not None]
    if len(rows.codes) <= FEW:
        return row_keys(rows.X, *labels)
    weights = [] if rows.weights is None else [rows.weights]
    return distinct(row_keys(rows.X, *labels, *weights))


def _classes(rows: Rows) -> set[int]:
    """Classes that rows can have; with soft labels a class may be possible for a few rows only."""
    possible = rows.codes if rows.soft is None else np.nonzero(rows.soft > 0)[1]
    return set(np.unique(possible).tolist())


def _seed(random_state: Random) -> int:
    """None is also a fixed seed: without a seed, the same rows are held out every time."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
