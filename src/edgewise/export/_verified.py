"""The verification of exports: each is run before it is returned, if its runtime is installed.

The test rows consist of the model's own thresholds, their neighbours, and its categories. If the
runtime disagrees with the estimator, the export fails and nothing is written.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import ModelFormatError
from ._contents import Contents

Array = NDArray[np.float64]

MOST_ROWS = 512
LEAST_ROWS = 16
WORK = 500_000  # rows times trees, about: what a check may take


class Verification:
    """The estimator's results, with which a runtime must agree."""

    def __init__(self, estimator: Any, contents: Contents, runtime: str) -> None:
        self._estimator, self._contents = estimator, contents
        self._runtime = runtime

    def rows(self, *, fractions: bool, work: int = WORK) -> Array:
        """Return rows (n, d) of thresholds, their neighbours, categories and special values.

        These are missing values, infinities and unknown categories.

            Without `fractions` all categories are whole numbers.
        """
        trees = self._contents.trees
        n = min(MOST_ROWS, max(LEAST_ROWS, work // max(trees.n_trees, 1)))
        rng = np.random.default_rng(0)
        has_set = np.isnan(trees.threshold)
        sets = self._contents.sets()
        X = np.empty((n, trees.n_features))
        for j in range(trees.n_features):
            at = trees.threshold[(trees.feature == j) & ~has_set]
            values = [at, np.nextafter(at, -np.inf), np.nextafter(at, np.inf), _ODD]
            of_sets = [sets[s] for s in np.flatnonzero(trees.feature[has_set] == j)]
            if of_sets:
                members = np.unique(np.concatenate(of_sets))
                strangers = [-1.0, 0.0, 77.0, 2.0**40, np.nan, *([1.5, -0.0] if fractions else [])]
                values = [members, np.array(strangers)]
            candidates = rng.permutation(np.unique(np.concatenate(values)))
            X[:, j] = rng.permutation(np.resize(candidates, n))
        return X

    def need_agreement(self, X: Array, labels: Any, proba: Any, *, rtol: float) -> None:
        """Compare labels and probabilities of a runtime; `labels` is None if it returns none."""
        expected, scores, size = self._expected(X)
        bound = rtol * (1.0 + size)
        # Of a walk one probability is 1 minus the other: the rounding is that of 1.
        least = 1e-300 if self._contents.program is None else 1e-15
        wrong = ~(np.abs(np.asarray(proba) - expected) <= bound * np.abs(expected) + least)
        if wrong.any():
            i, k = np.argwhere(wrong)[0]
            said = f"the probability {np.asarray(proba)[i, k]!r} for {expected[i, k]!r}"
            raise self._disagreement(X[i], said)
        if labels is None:
            return
        ours = np.asarray(self._labels(scores))
        differ = (np.asarray(labels) != ours).reshape(len(X), -1)  # (n, 1) or (n, n_labels)
        wrong = (differ & self._clear(scores, bound)).any(axis=1)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise self._disagreement(X[i], f"the label {np.asarray(labels)[i]!r} for {ours[i]!r}")

    def need_scores(self, X: Array, scores: Any, *, rtol: float) -> None:
        """Scores of a runtime; the same bits with rtol = 0."""
        _, expected, size = self._expected(X)
        wrong = ~(np.abs(np.asarray(scores) - expected) <= rtol * (1.0 + size))
        if wrong.any():
            i, k = np.argwhere(wrong)[0]
            said = f"the score {np.asarray(scores)[i, k]!r} for {expected[i, k]!r}"
            raise self._disagreement(X[i], said)

    def _expected(self, X: Array) -> tuple[Array, Array, Array]:
        """Probabilities; scores; and the sizes of all that is added up for a row, (n, 1)."""
        program, trees = self._contents.program, self._contents.trees
        if program is not None:
            one = program.probability(X, 1)
            both = np.stack([1.0 - one, one], axis=1)
            return both, both, np.ones((len(X), 1))
        scores = trees.scores(X, 1)
        sizes = replace(
            trees, start=abs(trees.start), values=abs(trees.values), _forest=[], _explained=[]
        ).scores(X, 1)
        size = sizes.max(axis=1, keepdims=True)
        if self._contents.link.kind == "vote shares":
            size = np.maximum(size, self._contents.link.number)
        return self._estimator._link(scores.copy(), 1), scores, size

    def _labels(self, scores: Array) -> Any:
        if self._contents.program is not None:
            return self._contents.classes[(scores[:, 1] - scores[:, 0] > 0).astype(int)]
        return self._estimator._labels(scores)

    def _clear(self, scores: Array, bound: Array) -> NDArray[np.bool_]:
        """Return whether labels are decided by more than rounding: (n, 1) or (n, n_labels)."""
        if self._contents.multi_label and not self._contents.one_answer:
            return np.asarray(np.abs(scores) > bound)
        best = np.sort(scores, axis=1)
        return np.asarray(best[:, -1:] - best[:, -2:-1] > 2 * bound)

    def _disagreement(self, row: Array, said: str) -> ModelFormatError:
        values = ", ".join(f"{value!r}" for value in row[:20].tolist())
        return ModelFormatError(
            f"The export of {self._contents.owner} does not agree with it: {self._runtime} gives "
            f"{said}, for the row [{values}{', ...' if len(row) > 20 else ''}]. Nothing was "
            "written. Please report this; meanwhile use another export, or the model file."
        )


_ODD = np.array([np.nan, np.inf, -np.inf, 0.0])
