"""The figures of Geist, "Soft-max boosting" (2015), and his three algorithms with his settings."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import AdaBoostMHClassifier, SAMMEClassifier, SoftmaxBoostClassifier
from ._effort import seconds_of_trees

PAPER = 'M. Geist, "Soft-max boosting", Machine Learning 100(2-3), 2015'
MH, SAMME, SOFTMAX = "AdaBoost.MH", "SAMME", "sm-boost"
ALGORITHMS = (MH, SAMME, SOFTMAX)
STAGES = (10, 100, 1000)  # rounds after which the paper gives errors
LEAVES = 12  # of a tree for one class
NOISY_SHARE = 0.2

# Test errors in percent after 10, 100 and 1000 rounds.
TABLE_2 = {
    "dna": {MH: (5.14, 3.96, 4.05), SAMME: (6.15, 4.64, 4.46), SOFTMAX: (6.49, 4.89, 4.13)},
    "letter": {MH: (15.0, 3.72, 2.34), SAMME: (13.0, 3.68, 2.84), SOFTMAX: (26.9, 10.7, 5.40)},
    "mnist": {MH: (12.7, 4.14, 1.76), SAMME: (10.8, 3.72, 2.52), SOFTMAX: (14.0, 7.12, 3.56)},
    "pendigits": {MH: (4.86, 2.43, 2.17), SAMME: (3.03, 2.49, 2.29), SOFTMAX: (8.23, 4.57, 2.83)},
    "satimage": {MH: (13.0, 10.0, 9.20), SAMME: (13.7, 9.85, 8.8), SOFTMAX: (12.9, 10.8, 8.95)},
    "segment": {MH: (5.90, 6.00, 6.38), SAMME: (10.86,) * 3, SOFTMAX: (9.19, 6.95, 6.19)},
    "splice": {MH: (2.94, 2.71, 2.53), SAMME: (5.75, 3.17, 2.71), SOFTMAX: (4.64, 3.63, 3.08)},
    "vowel": {MH: (49.4, 44.6, 42.9), SAMME: (47.8, 39.4, 38.3), SOFTMAX: (56.9, 45.7, 46.3)},
}
TABLE_3 = {  # with a fifth of the training labels exchanged
    "dna": {MH: (8.26, 7.67, 7.25), SAMME: (13.8, 10.5, 8.85), SOFTMAX: (6.15, 4.64, 6.24)},
    "letter": {MH: (26.2, 15.1, 8.58), SAMME: (25.8, 11.6, 6.84), SOFTMAX: (20.2, 13.2, 6.98)},
    "mnist": {MH: (19.8, 11.5, 7.01), SAMME: (17.4, 12.1, 5.48), SOFTMAX: (14.1, 6.96, 3.78)},
    "pendigits": {MH: (10.9, 7.63, 5.7), SAMME: (11.7, 6.66, 4.49), SOFTMAX: (9.06, 3.97, 3.06)},
    "satimage": {MH: (16.7, 12.8, 10.9), SAMME: (17.3, 12.9, 10.7), SOFTMAX: (13.8, 11.8, 10.4)},
    "segment": {MH: (15.6, 13.8, 13.9), SAMME: (17.0, 14.0, 13.0), SOFTMAX: (15.9, 12.4, 12.0)},
    "splice": {MH: (16.9, 16.7, 14.9), SAMME: (18.3, 17.2, 14.3), SOFTMAX: (9.15, 10.7, 13.1)},
    "vowel": {MH: (55.8, 47.2, 47.6), SAMME: (54.1, 44.6, 41.3), SOFTMAX: (52.8, 48.9, 43.7)},
}


class DataSet(NamedTuple):
    """A data set of the paper and its name here."""

    source: str
    rows: int
    columns: int
    n_classes: int
    test_rows: int


DATA_SETS = {  # from cheap to expensive
    "segment": DataSet("segment", 210, 19, 7, 2100),
    "vowel": DataSet("vowel", 528, 10, 11, 462),
    "splice": DataSet("splice", 1000, 60, 2, 2175),
    "dna": DataSet("dna", 2000, 180, 3, 1186),
    "satimage": DataSet("satimage", 4435, 36, 6, 2000),
    "pendigits": DataSet("pendigits", 7494, 16, 10, 3498),
    "letter": DataSet("letter@15000", 15000, 16, 26, 5000),  # libsvm's split
    "mnist": DataSet("mnist", 60000, 784, 10, 10000),
}


def build(
    algorithm: str,
    n_classes: int,
    seed: int,
    *,
    rounds: int,
    leaves: int = LEAVES,
    threads: int | None = None,
    **own: Any,
) -> Any:
    """Build one of the three algorithms, with one tree of so many leaves per class and round.

    SAMME has one tree of K - 1 times as many leaves.
    """
    shared: dict[str, Any] = {"n_estimators": rounds, "min_samples_leaf": 1, "n_jobs": threads}
    shared["random_state"] = seed
    if algorithm == MH:
        mh = {"base": "one_vs_all", "initial_weights": "uniform", "max_leaf_nodes": leaves}
        return AdaBoostMHClassifier(**shared | mh | own)
    if algorithm == SAMME:
        return SAMMEClassifier(**shared | {"max_leaf_nodes": (n_classes - 1) * leaves} | own)
    softmax = {"projection": "sampled", "max_leaf_nodes": leaves}
    return SoftmaxBoostClassifier(**shared | softmax | own)


def exchanged(y: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The labels, with those of a random fifth of the rows permuted."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(y), size=round(NOISY_SHARE * len(y)), replace=False)
    y = y.copy()
    y[rows] = y[rng.permutation(rows)]
    return y


def wrong_by_round(model: Any, X: NDArray[Any], y: NDArray[np.int64]) -> list[int]:
    """The number of wrong rows after each round."""
    return [int(np.count_nonzero(labels != y)) for labels in model.staged_predict(X)]


def at_stages(wrong: list[int], rounds: int = STAGES[-1]) -> dict[str, int]:
    """The paper's stages, or the last round if boosting ended before."""
    stages = [stage for stage in STAGES if stage <= rounds]
    return {str(stage): wrong[min(stage, len(wrong)) - 1] for stage in stages}


def effort(algorithm: str, rounds: int, rows: int, columns: int, n_classes: int) -> float:
    """Seconds, roughly."""
    if algorithm == SAMME:
        return seconds_of_trees(rounds, rows, columns, "gini")
    per_class = seconds_of_trees(rounds * n_classes, rows, columns, "vote")
    return per_class * (2 if algorithm == SOFTMAX else 1)
