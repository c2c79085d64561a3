"""Folds: the rows that each member of AutoBoost holds out.

Rows are ordered by a hash of their values, so the folds do not depend on the order in which the
rows were given. The seed shuffles them, and they are dealt out class by class: every fold has its
share of every class. Rows of one group share a fold.
"""

import numpy as np
from numpy.typing import NDArray

from .._data.chance import Keys, mixed, round_key, row_keys
from .._data.targets import Labels

Folds = NDArray[np.intp]
NEVER = -1  # the fold of rows that all members see


def dealt_folds(codes: Labels, n_folds: int, seed: int) -> Folds:
    """The fold of each row, class by class; the only row of a class is never held out."""
    keys = _shuffled(np.arange(len(codes)).astype(np.uint64), seed)
    fold = np.full(len(keys), NEVER)
    dealt = 0
    for k in np.unique(codes):
        of_class = np.flatnonzero(codes == k)
        if len(of_class) > 1:
            fold[of_class[np.argsort(keys[of_class])]] = np.arange(dealt, dealt + len(of_class))
            dealt += len(of_class)
    return np.where(fold == NEVER, NEVER, fold % n_folds)


def group_folds(codes: Labels, groups: NDArray[np.intp], n_folds: int, seed: int) -> Folds:
    """Return the fold of each row; a group goes to the fold in which its classes are rarest so far.

    The largest groups choose first; of equals, the one with the smallest hash. Of folds that have
    as few rows of its classes, a group takes the one with the fewest rows: groups of different
    classes must not all meet in one fold.
    """
    n_groups, n_classes = int(groups.max()) + 1, int(codes.max()) + 1
    counts = np.bincount(groups * n_classes + codes, minlength=n_groups * n_classes)
    counts = counts.reshape(n_groups, n_classes)
    size = counts.sum(axis=1)
    share = counts / counts.sum(axis=0).clip(min=1)
    keys = _shuffled(row_keys(counts, np.arange(n_groups)), seed)
    taken = np.zeros((n_folds, n_classes))
    n_rows = np.zeros(n_folds, dtype=np.intp)
    fold_of = np.empty(n_groups, dtype=np.intp)
    for g in np.lexsort((keys, -size)):
        crowding = (taken * share[g]).sum(
            axis=1
        )  # what it adds to the sum of squares, but for 2 x + c
        fold_of[g] = int(np.lexsort((n_rows, crowding))[0])
        taken[fold_of[g]] += share[g]
        n_rows[fold_of[g]] += size[g]
    return fold_of[groups]


def _shuffled(keys: Keys, seed: int) -> Keys:
    return mixed(keys ^ round_key(seed, 0))
