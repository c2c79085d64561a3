"""Out-of-fold predictions: for every row, those of the members that held it out."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.rows import Rows
from .._model.model import Scores
from .members import Member

Array = NDArray[np.float64]


class OutOfFold(NamedTuple):
    """The mean of the members that held a row out, and the losses of each alone."""

    scores: Scores  # (n, n_classes); zero where there are no members
    n_members: Array  # (n)
    log_loss_alone: Array  # (n): mean over members
    error_alone: Array  # (n): share of members whose answer is wrong


def out_of_fold(members: Sequence[Member], weights: Sequence[float], rows: Rows) -> OutOfFold:
    n, n_classes = len(rows.codes), members[0].model.n_classes
    total, weight = np.zeros((n, n_classes)), np.zeros(n)
    count, log_loss, error = np.zeros(n), np.zeros(n), np.zeros(n)
    for member, w in zip(members, weights, strict=True):
        at = member.held_out
        total[at] += w * member.scores
        weight[at] += w
        count[at] += 1
        log_loss[at] += log_losses(member.scores, rows.codes[at])
        error[at] += wrong(member.scores, rows.codes[at])
    some = np.maximum(count, 1)
    scores = total / np.where(weight > 0, weight, 1.0)[:, np.newaxis]
    return OutOfFold(scores, count, log_loss / some, error / some)


def log_losses(scores: Scores, codes: NDArray[np.int32]) -> Array:
    return _core.log_losses(np.ascontiguousarray(scores), np.ascontiguousarray(codes), 1)


def wrong(scores: Scores, codes: NDArray[np.int32]) -> Array:
    return np.asarray(scores.argmax(axis=1) != codes, dtype=np.float64)


def mean_log_loss(scores: Scores, rows: Rows) -> float:
    """Exactly rounded: the order of the rows does not matter."""
    losses = log_losses(scores, rows.codes)
    if rows.weights is None:
        return math.fsum(losses) / len(losses)
    return math.fsum(losses * rows.weights) / math.fsum(rows.weights)
