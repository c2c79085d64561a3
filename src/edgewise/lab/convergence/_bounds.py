"""Lower bounds of the mass of the best votes, and the resulting numbers of rounds.

W_{n,K} below is the least mass that the best votes can have, over all weightings of n rows with K
classes. Proofs: docs/lab_convergence.md.
"""

import math
from collections.abc import Collection
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..._families.best_votes import elementary_share, sharp_share
from ..._ground import params as p
from ._search import least_mass
from ._weighting import InitialWeights, check_labels

Version = Literal["edge", "sharp", "elementary", "khintchine"]
TrainingError = Literal["hamming", "argmax"]
Labels = Literal["one_hot", "any"] | Collection[int]

MOST_CLASSES = 40  # of the linear program: a second


def sharp_constant(n_classes: int, n_rows: int | None = None) -> float:
    """The least mass W_{n,K} of the best votes for one label per row.

    For n >= K, and without n, this is C_K = K / (3K - 4) for even and (K + 1) / (3K - 1) for odd K
    (Zou and Xu, 2026), which falls to 1/3; for fewer rows it is C_{n+1}. `n_rows` may count the
    classes that occur rather than the rows.
    """
    _check_counts("sharp_constant", n_classes, n_rows)
    q = n_classes if n_rows is None else min(n_rows + 1, n_classes)
    return sharp_share(q)


def elementary_bound(n_classes: int) -> float:
    """The least mass of the best votes for any labels: C(K-1, floor((K-1)/2)) / 2^(K-1).

    It is at least 1 / sqrt(2K), and no larger bound holds for all label matrices.
    """
    _check_counts("elementary_bound", n_classes, None)
    return elementary_share(n_classes)


def mass_bound(n_classes: int, labels: Labels = "any") -> float:
    """The least mass of the best votes over all weightings of rows with such labels.

    `labels` is "one_hot" (sharp_constant), "any" (elementary_bound), or how many labels a row may
    have, such as {1, 2}: then a linear program finds it for up to 40 classes, and the bound for
    "any" stands in for more. A row's labels may be exchanged for their negatives, so r labels of K
    are as good as K - r.
    """
    _check_counts("mass_bound", n_classes, None)
    if isinstance(labels, str):
        p.check("mass_bound", {"labels": labels}, {"labels": p.one_of("one_hot", "any")})
        return sharp_constant(n_classes) if labels == "one_hot" else elementary_bound(n_classes)
    rule = p.integer(0, n_classes)
    for r in labels:
        p.check("mass_bound", {"labels": r}, {"labels": rule})
    p.check("mass_bound", {"labels": len(labels)}, {"labels": (bool, "given, at least one")})
    cardinalities = sorted({min(int(r), n_classes - int(r)) for r in labels})
    if cardinalities == [1]:
        return sharp_constant(n_classes)
    if n_classes > MOST_CLASSES:
        return elementary_bound(n_classes)
    return least_mass(n_classes, cardinalities)


def bound_for(Y: ArrayLike) -> tuple[float, str]:
    """The largest of the bounds that hold for all weightings of these labels, and its name."""
    signs = check_labels(Y)
    n_classes = signs.shape[1]
    n_positive = (signs > 0).sum(axis=1)
    cardinalities = sorted(set(np.minimum(n_positive, n_classes - n_positive).tolist()))
    if cardinalities == [1]:
        alone = np.where((n_positive == 1)[:, None], signs > 0, signs < 0).argmax(axis=1)
        return sharp_constant(n_classes, len(set(alone.tolist()))), "one label per row"
    words = ", ".join(map(str, sorted(set(n_positive.tolist()))))
    return mass_bound(n_classes, cardinalities), f"{words} labels per row"


def rounds_bound(
    n_rows: int,
    n_classes: int,
    delta: float,
    *,
    version: Version = "sharp",
    error: TrainingError = "hamming",
    initial_weights: InitialWeights = "balanced",
) -> int:
    """Rounds after which the training error is zero, T* = ceil(2 log(c) / (mass delta)^2) + 1.

    `delta` is the edge of the weak learning condition, eq. 15 of Kégl (2014), and `version` says
    how much of it the votes leave, if the base learner tries the votes of largest mass:

    - "edge": all; `delta` bounds the edge itself, as in eq. 13, or the K classifiers of
      one-against-all AdaBoost.MH
    - "sharp": sharp_constant, for one label per row
    - "elementary": elementary_bound, for any labels
    - "khintchine": max(1/n, 1/sqrt(2K)), for any labels (Zou, Zhou, Xu and Liu, 2024)

    The weights of the first round and the error determine c:

    - "hamming": no label is wrong; c = 2n(K-1) (eq. 13), or nK with uniform weights
    - "argmax": the highest score is right, for one label per row; c = n sqrt(K-1) (footnote 2), or
      nK/2 with uniform weights
    """
    p.check("rounds_bound", locals(), _ROUNDS_RULES)
    n, K = n_rows, n_classes
    mass = {
        "edge": 1.0,
        "sharp": sharp_constant(K, n),
        "elementary": elementary_bound(K),
        "khintchine": max(1 / n, 1 / math.sqrt(2 * K)),
    }[version]
    c = {
        ("hamming", "balanced"): 2 * n * (K - 1),
        ("hamming", "uniform"): n * K,
        ("argmax", "balanced"): n * math.sqrt(K - 1),
        ("argmax", "uniform"): n * K / 2,
    }[error, initial_weights]
    return math.ceil(2 * math.log(c) / (mass * delta) ** 2) + 1


_ROUNDS_RULES = {
    "n_rows": p.integer(1, p.WHOLE),
    "n_classes": p.integer(2),
    "delta": p.real(0, 1),
    "version": p.one_of("edge", "sharp", "elementary", "khintchine"),
    "error": p.one_of("hamming", "argmax"),
    "initial_weights": p.one_of("balanced", "uniform"),
}


def _check_counts(owner: str, n_classes: int, n_rows: int | None) -> None:
    rules = {"n_classes": p.integer(1), "n_rows": p.integer(1, none=True)}
    p.check(owner, {"n_classes": n_classes, "n_rows": n_rows}, rules)
