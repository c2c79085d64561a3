"""The expected time of a run: the effort of its cells times the speed of this machine.

The constants are seconds on one core of the machine on which the documents' figures were measured;
the calibration below takes CALIBRATION seconds there. They are rough, because the number of rounds
is not known beforehand.
"""

from time import perf_counter

import numpy as np

CALIBRATION = 0.18
_PER_ENTRY = {
    "class": 4e-9,
    "pair": 20e-9,
    "vote": 3e-9,
    "gini": 60e-9,
}  # of a tree, a row, a column
_PER_TREE = 1e-4


def seconds_of_trees(n_trees: float, rows: int, columns: int, kind: str = "class") -> float:
    """Seconds for this number of trees of about twenty leaves, of the kinds named above."""
    return n_trees * (_PER_TREE + _PER_ENTRY[kind] * rows * columns)


def speed(threads: int | None) -> float:
    """Return the ratio of a fit's time on this machine now to the recorded time."""
    from .. import MARTClassifier  # noqa: PLC0415 - not needed to look at results

    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 16)).astype(np.float32)
    y = (X[:, :10] + rng.standard_normal((4000, 10))).argmax(axis=1)
    model = MARTClassifier(n_estimators=30, max_leaf_nodes=20, n_jobs=threads)
    start = perf_counter()
    model.fit(X, y)
    return (perf_counter() - start) / CALIBRATION


def in_words(seconds: float) -> str:
    """A duration in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
