"""Parts of the rows that are held out in turn, chosen by what the rows hold, not by their order."""

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .chance import Keys, distinct, mixed, round_key, row_keys
from .rows import Rows

ENOUGH = 2000  # rows held out in all parts together; more make the choice of rounds little better
MOST_PARTS = 5
FEW = 200  # rows up to which equal ones go together
NEVER = -1

Random = int | np.random.RandomState | None


def held_out_parts(rows: Rows, share: float, random_state: Random) -> list[tuple[Rows, Rows]]:
    """Training rows and held-out rows, several times; every row is held out once at most.

    A part holds about `share` of every class. Classes with one row stay in training. With few rows
    there are more parts, so that the rows held out are enough to choose by.
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
    """Parts that all rows make."""
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
    """Equal rows have equal keys if there are few, since a row that is learned from and held out
    says nothing; many rows repeat each other as new rows will."""
    soft = rows.soft if rows.soft is not None and (rows.soft % 1.0).any() else None  # else labels
    labels = [part for part in (rows.codes, rows.relevant, soft) if part is not None]
    if len(rows.codes) <= FEW:
        return row_keys(rows.X, *labels)
    weights = [] if rows.weights is None else [rows.weights]
    return distinct(row_keys(rows.X, *labels, *weights))


def _classes(rows: Rows) -> set[int]:
    """Classes that rows can have; soft labels may allow one for a few rows only."""
    possible = rows.codes if rows.soft is None else np.nonzero(rows.soft > 0)[1]
    return set(np.unique(possible).tolist())


def _seed(random_state: Random) -> int:
    """None is a seed like any other: without one, the same rows are held out every time."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
