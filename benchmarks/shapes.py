"""Synthetic tables of any shape, and a fraction of all shapes that is worth measuring."""

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

ROWS = (1_000, 10_000, 100_000, 1_000_000)
COLUMNS = (5, 50, 500, 2000)
DENSITY = (0.001, 0.01, 0.1, 1.0)
BINS = (2, 16, 255, 1020)
CLASSES = (2, 10, 100, 1000)
THREADS = (1, 2)

MOST_ENTRIES = 1e8  # in a table: some hundred megabytes as the peers keep it
MOST_WORK = 3e9  # entries times classes: some seconds a round
MOST_SCORES = 2e7  # rows times classes
FEWEST_PER_CLASS = 10
FEWEST_PER_COLUMN = 20  # entries; fewer teach nothing


class Shape(NamedTuple):
    """A cell of the map."""

    rows: int
    columns: int
    density: float
    bins: int
    classes: int
    threads: int

    @property
    def entries(self) -> float:
        return self.rows * self.columns * self.density

    @property
    def dense(self) -> bool:
        """Whether the table is an array. More than 255 bins are not for sparse matrices."""
        return self.density == 1.0 or self.bins > 255

    @property
    def work(self) -> float:
        """Additions to histograms in a round, about."""
        return self.entries * self.classes

    def possible(self) -> bool:
        """Whether two cores do it in seconds, and there is something to learn."""
        return (
            (self.rows * self.columns if self.dense else self.entries) <= MOST_ENTRIES
            and self.work <= MOST_WORK
            and self.rows * self.classes <= MOST_SCORES
            and self.rows >= FEWEST_PER_CLASS * self.classes
            and self.rows * self.density >= FEWEST_PER_COLUMN
        )


def fraction(shapes: Iterable[Shape], strength: int = 2) -> list[Shape]:
    """Some of the shapes, in which all pairs of levels occur that occur in all; or all triples.

    Greedily: the next one is that with the most pairs that are new, then with the least work. So
    the beginning of the list, for which a budget may suffice, tells most.
    """
    left = {
        shape: set(combinations(enumerate(shape), strength))
        for shape in sorted(shapes, key=lambda s: (s.work, s))
    }
    wanted = set().union(*left.values())
    chosen = []
    while wanted:
        best = max(left, key=lambda shape: len(left[shape] & wanted))
        wanted -= left.pop(best)
        chosen.append(best)
    return chosen


def all_shapes() -> list[Shape]:
    """Of the whole product, those that are possible."""
    levels = product(ROWS, COLUMNS, DENSITY, BINS, CLASSES, THREADS)
    return [shape for shape in map(Shape._make, levels) if shape.possible()]


def table(shape: Shape, seed: int = 0) -> tuple[Any, Any]:
    """X, an array or in CSR form, and labels that depend on some columns."""
    rng = np.random.default_rng(seed)
    n, d = shape.rows, shape.columns
    if shape.density == 1.0:
        X: Any = rng.integers(shape.bins, size=(n, d), dtype=np.int16).astype(np.float32)
    else:
        X = sparse.csr_matrix(
            sparse.random_array(
                (n, d),
                density=shape.density,
                format="csr",
                dtype=np.float32,
                rng=rng,
                data_sampler=lambda size: rng.integers(1, max(2, shape.bins), size),
            )
        )
        X = X.toarray() if shape.dense else X
    effect = rng.normal(size=d) * (rng.random(d) < max(0.1, 5 / d))
    score = X @ effect
    score = score + 0.3 * score.std() * rng.normal(size=n)
    y = np.argsort(np.argsort(score, kind="stable"), kind="stable") * shape.classes // n
    return X, y
