"""The rows, features and cuts of a round, drawn by the seed and the round's number.

A hash of its values decides whether a row is drawn, so neither the order of the rows nor their
distribution over threads or machines matters; the core draws cuts from a key. Rounds do not depend
on each other: a resumed fit draws the same as a longer fit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._data.chance import round_key, row_keys, uniforms


class Draw(NamedTuple):
    """The rows and features of one round; None means all."""

    features: list[int] | None = None  # ascending
    rows: NDArray[np.uint8] | None = None  # (n): 1 for a row that is drawn
    cut_key: int = 0

    def limits(self) -> dict[str, Any]:
        """As the core's GrowLimits names it."""
        return {"features": self.features or [], "drawn": self.rows, "cut_key": self.cut_key}


class Draws:
    """Draws features and the keys of cuts; rows are drawn where they are stored."""

    def __init__(
        self,
        n_features: int,
        *,
        subsample: float,
        max_features: int | float | None,
        cuts: bool,
        seed: Callable[[], int],
    ) -> None:
        self._n_features = n_features
        self._n_drawn = n_drawn(max_features, n_features)
        self.subsample = subsample
        self._cuts = cuts
        self.draws = cuts or subsample < 1.0 or self._n_drawn < self._n_features
        self.seed = seed() if self.draws else 0

    def of_round(self, m: int) -> Draw:
        features = drawn_features(self.seed, m, self._n_drawn, self._n_features)
        return Draw(features, cut_key=cut_key(self.seed, m) if self._cuts else 0)


class Sampler(Draws):
    """Draws rows of (X, codes), too."""

    def __init__(self, X: Any, codes: NDArray[Any], **drawing: Any) -> None:
        super().__init__(X.shape[1], **drawing)
        self._keys = row_keys(X, codes) if self.subsample < 1.0 else None

    def of_round(self, m: int) -> Draw:
        draw = super().of_round(m)
        if self._keys is None:
            return draw
        numbers = uniforms(self._keys, self.seed, m)
        least = max(self.subsample, just_above(numbers.min()))  # one row at least
        return draw._replace(rows=(numbers < least).astype(np.uint8))


def just_above(smallest: float) -> float:
    """A bound that exceeds only the smallest of the rows' numbers."""
    return float(np.nextafter(smallest, 1.0))


def cut_key(seed: int, m: int) -> int:
    """Return the key of the random cuts of round m; never zero, which means no random cuts."""
    return int(round_key(seed, m)[0]) | 1


def drawn_features(seed: int, m: int, n: int, n_features: int) -> list[int] | None:
    """n of the features for round m, ascending; None if n is all."""
    if n == n_features:
        return None
    drawn = np.random.default_rng([seed, m]).choice(n_features, n, replace=False)
    features: list[int] = np.sort(drawn).tolist()
    return features


def n_drawn(max_features: int | float | None, n_features: int) -> int:
    """Features drawn for a round: a number, or a share of them."""
    if max_features is None:
        return n_features
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    return min(max_features, n_features)


def seed_of(random_state: Any) -> int:
    """Return a number from a random state of scikit-learn's kind."""
    return int(check_random_state(random_state).randint(2**31 - 1))
