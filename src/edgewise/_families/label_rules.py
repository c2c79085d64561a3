"""From probabilities of labels to the labels of a row: rules, chosen by a metric on held-out rows.

- "half": every label above one half.
- "common threshold": every label above one threshold. With correct probabilities the best threshold
  for micro-F1 is half of the best micro-F1 (Lipton, Elkan and Naryanaswamy 2014).
- "label thresholds": every label above its own threshold.
- "row count": as many of a row's most probable labels as its probabilities sum to, times a factor.

Thresholds are tried on a grid, so counts for each label and cell of the grid suffice. Rules are
compared on rows that were not used to choose their numbers.
"""

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from .._data.targets import Relevant
from .._data.weights import Weights
from .._model.model import Scores

Metric = Literal["micro_f1", "macro_f1", "hamming"]
Kind = Literal["half", "common threshold", "label thresholds", "row count"]
KINDS: tuple[Kind, ...] = get_args(Kind)
METRICS: tuple[Metric, ...] = get_args(Metric)

# Thresholds; the grid is finer for small ones, which rare labels need.
GRID = np.concatenate([np.arange(1, 20) / 400, np.arange(5, 100) / 100])
FACTORS = np.arange(5, 21) / 10
SWEEPS = 20  # of the search for thresholds that maximise micro-F1
CHUNKS = 3  # parts of the rows: rules are compared on one, after they were fitted to the others
FEWEST = 10  # rows needed to choose a rule


class Counts(NamedTuple):
    """Weights of rows for each label, (..., n_labels).

    They are those of correct predictions, of predictions and of true labels.
    """

    right: Weights
    said: Weights
    true: Weights


class LabelRule(NamedTuple):
    """A rule with its numbers."""

    kind: Kind
    thresholds: Weights  # (n_labels)
    factor: float = 1.0

    def labels(self, proba: Scores) -> Relevant:
        """The labels of rows of probabilities (n, n_labels)."""
        if self.kind != "row count":
            return np.asarray(proba > self.thresholds)
        return np.asarray(ranks(proba) < counts_of_rows(proba, self.factor)[:, np.newaxis])


def halves(n_labels: int) -> LabelRule:
    return LabelRule("half", np.full(n_labels, 0.5))


def ranks(proba: Scores) -> NDArray[np.intp]:
    """Ranks of the labels of a row: 0 for the most probable, the lower one among equals."""
    order = np.argsort(-proba, axis=1, kind="stable")
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(proba.shape[1])[np.newaxis], axis=1)
    return places


def counts_of_rows(proba: Scores, factor: float) -> NDArray[np.int64]:
    """Predicted numbers of labels: the sum of the probabilities times a factor, rounded."""
    return np.asarray(np.floor(factor * proba.sum(axis=1) + 0.5), dtype=np.int64)


def score_of(metric: Metric, counts: Counts) -> Weights:
    """The metric (higher is better) from counts (..., n_labels).

    A label that is neither true nor predicted has an F1 of one.
    """
    if metric == "hamming":
        return np.asarray((2 * counts.right - counts.said - counts.true).sum(axis=-1))
    right, size = 2 * counts.right, counts.said + counts.true
    if metric == "micro_f1":
        right, size = right.sum(axis=-1, keepdims=True), size.sum(axis=-1, keepdims=True)
    f1 = np.divide(right, size, out=np.ones_like(right), where=size > 0)
    return np.asarray(f1.mean(axis=-1))


def chosen_rule(
    metric: Metric, proba: Scores, relevant: Relevant, weights: Weights | None
) -> LabelRule:
    """The best rule for probabilities (n, n_labels) of rows that the model did not learn from."""
    n, n_labels = proba.shape
    if n < FEWEST:
        return halves(n_labels)
    w = np.ones(n) if weights is None else weights
    chunk = np.arange(n) % CHUNKS
    scores = []
    for kind in KINDS:
        parts = []
        for c in range(CHUNKS):
            learn, judge = chunk != c, chunk == c
            rule = fitted(kind, metric, proba[learn], relevant[learn], w[learn])
            parts.append(counts_of(rule.labels(proba[judge]), relevant[judge], w[judge]))
        whole = Counts(*(sum(part[1:], part[0]) for part in zip(*parts, strict=True)))
        scores.append(float(score_of(metric, whole)))
    best = max(range(len(KINDS)), key=lambda k: (scores[k], -k))  # the simplest among equals
    return fitted(KINDS[best], metric, proba, relevant, w)


def counts_of(said: Relevant, relevant: Relevant, w: Weights) -> Counts:
    parts = (said & relevant, said, relevant)
    return Counts(*(np.where(part, w[:, np.newaxis], 0.0).sum(axis=0) for part in parts))


def fitted(kind: Kind, metric: Metric, proba: Scores, relevant: Relevant, w: Weights) -> LabelRule:
    """The rule of a kind whose numbers have the best metric on these rows."""
    n_labels = proba.shape[1]
    if kind == "half":
        return halves(n_labels)
    if kind == "row count":
        return halves(n_labels)._replace(kind=kind, factor=best_factor(metric, proba, relevant, w))
    table = counts_by_threshold(proba, relevant, w)
    if kind == "common threshold":
        best = int(np.argmax(score_of(metric, table)))
        return LabelRule(kind, np.full(n_labels, GRID[best]))
    return LabelRule(kind, GRID[best_of_labels(metric, table)])


def counts_by_threshold(proba: Scores, relevant: Relevant, w: Weights) -> Counts:
    """Counts for every threshold of the grid, (len(GRID), n_labels)."""
    n, n_labels = proba.shape
    width = len(GRID) + 1
    cell = np.searchsorted(GRID, proba.ravel())  # thresholds that a probability is above
    place = np.tile(np.arange(n_labels) * width, n) + cell
    each = np.repeat(w, n_labels)
    said, right = (
        np.bincount(at, of, n_labels * width).astype(np.float64).reshape(n_labels, width)
        for at, of in ((place, each), (place[relevant.ravel()], each[relevant.ravel()]))
    )
    above = [np.cumsum(x[:, ::-1], axis=1)[:, ::-1][:, 1:].T for x in (right, said)]
    true = np.broadcast_to(right.sum(axis=1), above[0].shape)
    return Counts(above[0], above[1], true)


def best_of_labels(metric: Metric, table: Counts) -> NDArray[np.intp]:
    """Grid indices of the best threshold of each label.

    Macro-F1 and the Hamming loss are sums over labels. Micro-F1 2 R / S has its maximum F if the
    sum over labels of 2 R_l - F S_l is zero (Dinkelbach 1967).
    """
    size = table.said + table.true
    if metric == "macro_f1":
        f1 = np.divide(2 * table.right, size, out=np.ones_like(size), where=size > 0)
        return np.asarray(nearest_half(f1))
    if metric == "hamming":
        return nearest_half(2 * table.right - table.said)
    level, at = 0.0, np.zeros(size.shape[1], dtype=np.intp)
    labels = np.arange(size.shape[1])
    for _ in range(SWEEPS):
        at = nearest_half(2 * table.right - level * size)
        new = 2 * table.right[at, labels].sum() / max(size[at, labels].sum(), 1e-300)
        if not new > level:
            break
        level = new
    return at


def nearest_half(gain: Weights) -> NDArray[np.intp]:
    """For every label the index of the largest gain (len(GRID), n_labels).

    Among equals it is the threshold nearest to one half, since labels that are never predicted
    leave all thresholds equal.
    """
    order = np.argsort(np.abs(GRID - 0.5), kind="stable")
    return np.asarray(order[np.argmax(gain[order], axis=0)])


def best_factor(metric: Metric, proba: Scores, relevant: Relevant, w: Weights) -> float:
    """The factor of the rule "row count"."""
    place = ranks(proba)
    scores = [
        float(score_of(metric, counts_of(place < n[:, np.newaxis], relevant, w)))
        for n in (counts_of_rows(proba, factor) for factor in FACTORS)
    ]
    return float(FACTORS[int(np.argmax(scores))])
