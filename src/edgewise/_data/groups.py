"""Columns of many categories: groups of categories with similar class frequencies.

A bin is one byte, so at most 254 categories of a column, the heaviest, have a separate bin. A
second column of bins contains at most 254 groups of all its categories. A split of groups is stored
as the set of their categories, so prediction does not need the groups. AutoBoost also groups
columns of fewer categories, which all have a separate bin, too.

Categories are similar if the classes of their rows are. With few rows the class frequencies are
uncertain, so those of a category are shrunk towards the overall frequencies,

    q_c = (n_c f_c + m pi) / (n_c + m),    1 / (m + 1) = rho,

where rho measures how much more often two rows of a category share their class than two arbitrary
rows (the intraclass correlation of a Dirichlet-multinomial model; the idea is Robbins's, 1956). If
rho is not above twice its standard error, the categories carry no information about the class and
there are no groups.

A row's own label must not influence its group, or the trees would memorise labels. The group of a
training row is therefore determined by q without the rows of its fold, one of five; if its category
occurs in no other fold, its group is missing, as it is for an unknown category. Folds
depend on the content of the rows, not on their order. All sums are integer sums.
"""

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._ground.sums import ordered_sum
from .chance import distinct, row_keys, uniforms
from .rows import Group, Rows
from .sparse import Matrix, SparseRows, column_of

Array = NDArray[np.float64]
Places = NDArray[np.intp]

MOST = 254  # categories with a separate bin, and groups
FOLDS = 5
UNSEEN = -1  # the fold of rows whose labels are not used
UNIT = 2.0**12  # weight of the heaviest row, so that squares of integer weights add exactly
SURE = 2.0  # standard errors of rho above zero
LARGEST_RHO = 0.95
MOST_COUNTS = 2**24  # categories times classes; with more, rare classes are counted as one


def grouped(
    rows: Rows,
    categorical: Sequence[int],
    n_classes: int,
    unseen: NDArray[np.bool_] | None = None,
    *,
    most_alone: int = MOST,
) -> Rows:
    """The rows with groups for all categorical columns of more than `most_alone` categories.

    Labels of `unseen` rows (n) are not used; these rows get the groups that new rows would get.
    Groups of at most MOST categories cannot be replayed: `as_trained` knows no value for a row
    whose group is not that of its category.
    """
    groups = []
    seen = np.ones(len(rows.codes), dtype=bool) if unseen is None else ~unseen
    folds: NDArray[np.intp] | None = None
    for j in categorical:
        column = column_of(rows.X, j)
        values = np.unique(column[np.isfinite(column) & seen])
        if len(values) <= most_alone:
            continue
        place = np.searchsorted(values, column).clip(max=len(values) - 1)
        place[values[place] != column] = -1  # missing, or only in rows whose labels are not used
        folds = _folds(rows) if folds is None else folds
        labels = _Labels.of(rows, n_classes, len(values))
        group = _group(j, values, place, labels, np.where(seen, folds, UNSEEN))
        if group is not None:
            groups.append(group)
    return rows._replace(groups=tuple(groups))


def for_core(groups: Sequence[Group]) -> list[_core.Grouped]:
    return [_core.Grouped(g.feature, g.own, g.values, g.group, g.codes) for g in groups]


def as_trained(rows: Rows) -> Matrix:
    """X with values that send every row where its groups sent it in training.

    If the group of a row is not that of its category, its value is a category of that group.
    """
    X = rows.X
    for g in rows.groups:
        column = column_of(X, g.feature)
        rare = np.isfinite(column) & ~np.isin(column, g.own)
        column[rare] = np.append(g.stand_in, np.nan)[g.codes[rare]]
        if isinstance(X, SparseRows):
            X = X.with_column(g.feature, column)
        else:
            X = X.astype(np.float64, copy=X is rows.X)
            X[:, g.feature] = column
    return X


def _sums(at: Places, numbers: Array, n: int) -> Array:
    """Sums of integers by place, exact in any order."""
    return np.asarray(np.bincount(at, numbers, n), dtype=np.float64)


class _Labels(NamedTuple):
    """The classes of the rows: present (n, n_classes) or codes (n), and masses."""

    codes: NDArray[np.int32]
    present: NDArray[np.bool_] | None
    n_classes: int
    mass: Array

    @staticmethod
    def of(rows: Rows, n_classes: int, n_values: int) -> "_Labels":
        mass = np.ones(len(rows.codes))
        if rows.weights is not None:
            mass = np.maximum(np.rint(rows.weights * (UNIT / rows.weights.max())), 1.0)
        if rows.relevant is not None:
            return _Labels(rows.codes, rows.relevant, n_classes, mass)
        most = max(MOST_COUNTS // n_values, 2)
        if n_classes <= most:
            return _Labels(rows.codes, None, n_classes, mass)
        heaviest = np.argsort(-np.bincount(rows.codes, mass, n_classes), kind="stable")
        number = np.full(n_classes, most - 1, dtype=np.int32)
        number[heaviest[: most - 1]] = np.arange(most - 1)
        return _Labels(number[rows.codes], None, most, mass)

    def counts(self, place: Places, n_values: int, which: NDArray[np.bool_]) -> "_Counts":
        """Of the rows `which`, by category."""
        at, mass = place[which], self.mass[which]
        total = _sums(at, mass, n_values)
        squares = _sums(at, mass**2, n_values)
        if self.present is None:
            K = self.n_classes
            by_class = _sums(at * K + self.codes[which], mass, n_values * K)
            return _Counts(by_class.reshape(n_values, K), total, squares, squares)
        present = self.present[which]
        by_label = [_sums(at, mass * label, n_values) for label in present.T]
        own = _sums(at, mass**2 * present.sum(axis=1), n_values)
        return _Counts(np.column_stack(by_label), total, squares, own)


class _Counts(NamedTuple):
    """Sums of a category's rows: masses by class, masses, squares of both."""

    by_class: Array  # (n_values, n_classes)
    total: Array  # (n_values)
    squares: Array
    own: Array  # squares, once for every class of the row

    def take(self, which: NDArray[np.bool_]) -> "_Counts":
        return _Counts(*(part[which] for part in self))

    def without(self, other: "_Counts") -> "_Counts":
        return _Counts(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def n(self) -> Array:
        """Numbers of rows, or effective numbers of rows of equal weight (Kish 1965)."""
        return np.divide(
            self.total**2, self.squares, out=np.zeros_like(self.total), where=self.total > 0
        )

    def frequencies(self) -> Array:
        """Class frequencies of all rows, (n_classes)."""
        return np.asarray(self.by_class.sum(axis=0) / self.total.sum())

    def correlation(self) -> tuple[float, float]:
        """rho and its standard error, from the categories of two rows and more."""
        several = self.take(self.n > 1.5)
        pi = self.frequencies()
        spread = float((pi * (1.0 - pi)).sum())
        if len(several.total) < 2 or spread <= 0:
            return 0.0, 0.0
        pairs = several.total**2 - several.squares
        agree = ((several.by_class**2).sum(axis=1) - several.own) / pairs
        weight = several.n - 1.0
        mean = float((weight * agree).sum() / weight.sum())
        error = float(np.sqrt((weight**2 * (agree - mean) ** 2).sum()) / weight.sum())
        return (mean - float((pi**2).sum())) / spread, error / spread

    def shrunk(self, m: float, pi: Array) -> Array:
        """q, (n_values, n_classes)"""
        n = self.n[:, np.newaxis]
        mean = self.by_class / np.maximum(self.total, 1.0)[:, np.newaxis]
        return np.asarray((n * mean + m * pi) / (n + m))


def _group(
    j: int, values: Array, place: Places, labels: _Labels, folds: NDArray[np.intp]
) -> Group | None:
    known = place >= 0
    counts = labels.counts(place, len(values), known & (folds != UNSEEN))
    heaviest = np.argsort(-counts.total, kind="stable")[:MOST]  # the lowest among equals
    rare = np.ones(len(values), dtype=bool)  # whose rows are in groups of their folds
    if len(values) > MOST:
        rare[heaviest] = False
    tail = counts.take(rare)
    rho, error = tail.correlation()
    if rho <= SURE * error or rho <= 0:
        return None
    m, pi = 1.0 / min(rho, LARGEST_RHO) - 1.0, tail.frequencies()
    regions = _Regions.around(tail.shrunk(m, pi), tail.total)
    group = regions.of(counts.shrunk(m, pi))
    codes = np.where(known, group[place], regions.n).astype(np.uint8)
    for fold in range(FOLDS):
        held = known & (folds == fold)
        others = counts.without(labels.counts(place, len(values), held))
        of_category = np.where(others.total > 0, regions.of(others.shrunk(m, pi)), regions.n)
        held &= rare[place]
        codes[held] = of_category[place[held]]
    first = np.full(regions.n, -1)
    first[group[rare][::-1]] = np.flatnonzero(rare)[::-1]  # the lowest of every group
    own = values[np.sort(heaviest)]
    return Group(j, own, values, group.astype(np.uint8), codes, values[first])


def _folds(rows: Rows) -> NDArray[np.intp]:
    """The fold of every row. Equal rows may be in different folds, independently of their order.

    The copies of a row with soft labels stay together.
    """
    if rows.copies > 1.0:
        return (uniforms(row_keys(rows.X), 0, 0) * FOLDS).astype(np.intp)
    labels = rows.codes if rows.relevant is None else rows.relevant
    keys = distinct(row_keys(rows.X, labels, *([] if rows.weights is None else [rows.weights])))
    return (uniforms(keys, 0, 0) * FOLDS).astype(np.intp)


class _Regions(NamedTuple):
    """Boxes in the space of class frequencies: a tree of cuts, each along one class."""

    axis: Places  # (n_nodes): -1 for a region
    cut: Array  # (n_nodes): up to it to the left
    left: Places  # (n_nodes): left child (right is next to it), or number of the region
    n: int

    def of(self, q: Array) -> Places:
        """The region of every row of q (n, n_classes)."""
        at = np.zeros(len(q), dtype=np.intp)
        while True:
            inner = np.flatnonzero(self.axis[at] >= 0)
            if len(inner) == 0:
                return self.left[at]
            node = at[inner]
            right = q[inner, self.axis[node]] > self.cut[node]
            at[inner] = self.left[node] + right

    @staticmethod
    def around(q: Array, mass: Array) -> "_Regions":
        """At most MOST regions; the cut that explains most of the variance comes next."""
        axis, cut, left = [-1], [0.0], [0]
        queue: list[tuple[float, int, int, float, Places, Places]] = []

        def offer(node: int, members: Places) -> None:
            found = _best_cut(q[members], mass[members])
            if found is not None:
                gain, k, at, below = found
                heapq.heappush(queue, (-gain, node, k, at, members[below], members[~below]))

        offer(0, np.arange(len(q)))
        n_regions = 1
        while queue and n_regions < MOST:
            _, node, k, at, below, above = heapq.heappop(queue)
            axis[node], cut[node], left[node] = k, at, len(axis)
            for members in (below, above):
                axis.append(-1)
                cut.append(0.0)
                left.append(0)
                offer(len(axis) - 1, members)
            n_regions += 1
        leaves = np.flatnonzero(np.array(axis) < 0)
        places = np.array(left)
        places[leaves] = np.arange(len(leaves))
        return _Regions(np.array(axis), np.array(cut), places, len(leaves))


def _best_cut(q: Array, mass: Array) -> tuple[float, int, float, NDArray[np.bool_]] | None:
    """The best cut along the class that varies most:

    its gain, the class, the cut, the rows below.
    """
    mean = ordered_sum(mass, q) / mass.sum()
    k = int(ordered_sum(mass, (q - mean) ** 2).argmax())
    order = np.argsort(q[:, k], kind="stable")
    x, w = q[order, k] - mean[k], mass[order]
    below, sums = np.cumsum(w)[:-1], np.cumsum(w * x)[:-1]
    gain = np.where(x[1:] > x[:-1], sums**2 / below + sums**2 / (w.sum() - below), 0.0)
    if len(gain) == 0 or gain.max() <= 1e-12 * mass.sum():
        return None
    i = int(gain.argmax())
    low, high = q[order[i], k], q[order[i + 1], k]
    cut = float(max(low, (low + high) / 2)) if (low + high) / 2 < high else float(low)
    return float(gain[i]), k, cut, q[:, k] <= cut
