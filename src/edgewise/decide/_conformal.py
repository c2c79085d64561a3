"""Prediction sets that hold the true class with a chosen probability: split conformal prediction.

A score says how badly a class fits a row; the set holds the classes whose score is at most the
ceil((n + 1) coverage)-th smallest score of the true classes of n calibration rows. If these and the
new row are exchangeable, the set holds its true class with at least that probability.

    "lac"   1 - p_k                                Sadinle, Lei, Wasserman 2019: smallest sets
    "aps"   sum of p over classes more probable than k, plus u p_k
                                                   Romano, Sesia, Candes 2020: adaptive sets
    "raps"  the same, plus penalty * max(0, rank_k - free)
                                                   Angelopoulos and others 2021: smaller ones

u in [0, 1) is drawn from the row's probabilities and the seed, so that a row has the same set alone
and in any batch. With `class_conditional` every class has a threshold of its own (Mondrian; Vovk
2012), and the probability is kept within each class.
"""

import math
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._data.chance import row_keys, uniforms
from .._ground import params as p
from .._ground.checks import check_codes, check_proba
from .._ground.errors import InvalidDataError, InvalidParameterError

Array = NDArray[np.float64]


class ConformalSets:
    """Prediction sets, from the probabilities of calibration rows.

    Parameters
    ----------
    coverage : float
        Probability that a set contains the true class, above 0 and below 1.
    method : {"lac", "aps", "raps"}
        Score of a class: "lac" gives the smallest sets, "aps" and "raps" give sets that adapt
        to the difficulty of a row.
    class_conditional : bool
        Whether the coverage holds within every class.
    penalty : float
        For "raps": the penalty of each class beyond the first `free`.
    free : int
        For "raps": number of classes without a penalty.
    seed : int
        Seed of the random draws of "aps" and "raps".

    Attributes
    ----------
    thresholds_ : (K,) the largest score that is in the set.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.decide import ConformalSets
    >>> proba = np.tile([0.7, 0.2, 0.1], (20, 1))
    >>> sets = ConformalSets(0.8).fit(proba, [0] * 17 + [1] * 3)
    >>> sets.sets([[0.6, 0.3, 0.1]]).tolist()
    [[False, False, False]]
    """

    _rules: ClassVar[dict[str, p.Rule]] = {
        "coverage": p.real(0.0, 1.0, high_open=True),
        "method": p.one_of("lac", "aps", "raps"),
        "class_conditional": p.boolean(),
        "penalty": p.not_negative(),
        "free": p.integer(0),
        "seed": p.seed(),
    }

    def __init__(
        self,
        coverage: float,
        *,
        method: Literal["lac", "aps", "raps"] = "lac",
        class_conditional: bool = False,
        penalty: float = 0.01,
        free: int = 2,
        seed: int = 0,
    ) -> None:
        self.coverage = coverage
        self.method = method
        self.class_conditional = class_conditional
        self.penalty = penalty
        self.free = free
        self.seed = seed
        p.check(type(self).__name__, vars(self), self._rules)

    def fit(self, proba: ArrayLike, codes: ArrayLike) -> Self:
        """Compute the thresholds from calibration rows.

        Parameters
        ----------
        proba : array-like of shape (n_rows, n_classes)
            Probabilities of rows that the classifier was not fitted to.
        codes : array-like of shape (n_rows,)
            Numbers of their true classes, from 0.

        Returns
        -------
        self
            The fitted sets.
        """
        chances = check_proba(proba)
        truth = check_codes(codes, *chances.shape)
        own = self._scores(chances)[np.arange(len(truth)), truth]
        n_classes = chances.shape[1]
        if not self.class_conditional:
            threshold = self._threshold(own, "")
            self.thresholds_: Array = np.full(n_classes, threshold)
            return self
        self.thresholds_ = np.array(
            [self._threshold(own[truth == k], f" of class {k}") for k in range(n_classes)]
        )
        return self

    def _threshold(self, scores: Array, whose: str) -> float:
        """The ceil((n + 1) coverage)-th smallest score."""
        place = math.ceil((len(scores) + 1) * self.coverage - 1e-9)
        if place > len(scores):
            least = math.ceil(self.coverage / (1.0 - self.coverage) - 1e-9)
            raise InvalidDataError(
                f"Sets of coverage {self.coverage:g} need at least {least} calibration rows{whose}."
                f" Got {len(scores)}."
            )
        return float(np.partition(scores, place - 1)[place - 1])

    def sets(self, proba: ArrayLike) -> NDArray[np.bool_]:
        """Compute the prediction sets of rows.

        Parameters
        ----------
        proba : array-like of shape (n_rows, n_classes)
            Class probabilities.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes)
            Whether each class is in the set.
        """
        if not hasattr(self, "thresholds_"):
            raise InvalidParameterError("ConformalSets has no thresholds yet: call fit first.")
        chances = check_proba(proba)
        if chances.shape[1] != len(self.thresholds_):
            raise InvalidDataError(
                f"proba must have a column for each of the {len(self.thresholds_)} classes. Got "
                f"{chances.shape[1]}."
            )
        inside: NDArray[np.bool_] = self._scores(chances) <= self.thresholds_
        return inside

    def _scores(self, chances: Array) -> Array:
        if self.method == "lac":
            return np.asarray(1.0 - chances)
        order = np.argsort(-chances, axis=1, kind="stable")
        ranked = np.take_along_axis(chances, order, axis=1)
        u = uniforms(row_keys(chances), self.seed, 0)[:, np.newaxis]
        mass = np.cumsum(ranked, axis=1) - ranked + u * ranked
        if self.method == "raps":
            rank = np.arange(1, chances.shape[1] + 1)
            mass = mass + self.penalty * np.maximum(0, rank - self.free)
        scores = np.empty_like(mass)
        np.put_along_axis(scores, order, mass, axis=1)
        return scores

    def __repr__(self) -> str:
        words: list[Any] = [f"{name}={getattr(self, name)!r}" for name in self._rules]
        return f"ConformalSets({', '.join(words)})"
