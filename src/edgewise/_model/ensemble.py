"""A model whose members are scikit-learn classifiers instead of edgewise's own trees.

A member predicts one of its labels; a table contains the step of the scores for each label.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data.sparse import Matrix, for_others
from .model import Scores


@dataclass(frozen=True)
class Member:
    """A fitted classifier with the steps of its predictions."""

    classifier: Any
    labels: NDArray[Any]  # (n_answers), ascending
    table: Scores  # (n_answers, n_classes)

    @property
    def moves_nothing(self) -> bool:
        return not self.table.any()

    def outputs(self, X: Matrix) -> Scores:
        """(n, n_classes)"""
        answers = np.searchsorted(self.labels, self.classifier.predict(for_others(X)))
        outputs: Scores = self.table[answers]
        return outputs


@dataclass(frozen=True)
class Constant:
    """A classifier that always predicts the same label, for training rows of one class."""

    answer: Any

    def predict(self, X: Matrix) -> NDArray[Any]:
        return np.full(X.shape[0], self.answer)


@dataclass(frozen=True)
class EnsembleModel:
    """Scores are `start` plus the outputs of all members, added in order; a round is a member."""

    start: Scores  # (n_classes)
    n_features: int
    members: tuple[Member, ...]

    @property
    def n_rounds(self) -> int:
        return len(self.members)

    @property
    def n_trees(self) -> int:
        return len(self.members)

    @property
    def n_classes(self) -> int:
        return len(self.start)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, without those inside the classifiers."""
        empty = np.zeros((0, self.n_classes))
        return {
            "start": self.start,
            "tables": np.concatenate([empty, *(member.table for member in self.members)]),
        }

    def scores(self, X: Matrix, n_threads: int) -> Scores:
        """(n_rows, n_classes)"""
        out = np.tile(self.start, (len(X), 1))
        for member in self.members:
            out += member.outputs(X)
        return out

    def staged_scores(self, X: Matrix, n_threads: int) -> Iterator[Scores]:
        """Scores after every round; the same array each time."""
        out = np.tile(self.start, (len(X), 1))
        for member in self.members:
            out += member.outputs(X)
            yield out

    def gain_by_feature(self) -> Scores:
        """The members' importances, weighted by their steps.

        Zeros for members without importances.
        """
        total = np.zeros(self.n_features)
        for member in self.members:
            importances = getattr(member.classifier, "feature_importances_", 0.0)
            total += np.abs(member.table).max() * np.asarray(importances)
        return total

    def first_rounds(self, n_rounds: int) -> "EnsembleModel":
        """The model after `n_rounds` rounds."""
        return replace(self, members=self.members[:n_rounds])

    def followed_by(self, other: "EnsembleModel") -> "EnsembleModel":
        """This model's rounds, then those of `other`."""
        return replace(self, members=self.members + other.members)


class EnsembleBuilder:
    """Collects members round by round."""

    def __init__(self, start: Scores, n_features: int) -> None:
        self._start = start
        self._n_features = n_features
        self._members: list[Member] = []

    @property
    def n_rounds(self) -> int:
        return len(self._members)

    def append(self, members: list[Member]) -> None:
        self._members += members

    def add_scores(self, members: list[Member], X: Matrix, scores: Scores, n_threads: int) -> None:
        """Adds the members' outputs on X to scores (n, n_classes)."""
        for member in members:
            scores += member.outputs(X)

    def model(self) -> EnsembleModel:
        return EnsembleModel(self._start, self._n_features, tuple(self._members))
