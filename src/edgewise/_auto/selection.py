"""The weights of stages: greedy selection with replacement (Caruana and others, ICML 2004).

Selection starts from the stage with the lowest out-of-fold loss and adds, as often as it pays, the
stage that lowers the loss of the mean most. Scores are averaged, so the mean is a sum of trees.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .._data.rows import Rows
from .._model.model import Scores
from .members import Member
from .out_of_fold import mean_log_loss, out_of_fold

STEPS = 20


def greedy_weights(stages: Sequence[Scores], loss: Callable[[Scores], float]) -> NDArray[np.intp]:
    """How often each stage is chosen, from its out-of-fold scores (n, n_classes)."""
    weights = np.zeros(len(stages), dtype=np.intp)
    total = np.zeros_like(stages[0])
    best = np.inf
    for step in range(1, STEPS + 1):
        losses = [loss((total + scores) / step) for scores in stages]
        chosen = int(np.argmin(losses))
        if not losses[chosen] < best:
            break
        best = losses[chosen]
        weights[chosen] += 1
        total += stages[chosen]
    return weights


def lowers_loss(tried: Sequence[Member], done: Sequence[Member], rows: Rows) -> bool:
    """Return whether greedy selection adds the members on trial to the fitted ones, by the loss of
    rows that both held out."""
    before, tried_on = (out_of_fold(m, [1.0] * len(m), rows) for m in (done, tried))
    both = (before.n_members > 0) & (tried_on.n_members > 0)
    if not both.any():
        return False
    judged = rows.take(both)
    weights = greedy_weights(
        [before.scores[both], tried_on.scores[both]], lambda scores: mean_log_loss(scores, judged)
    )
    return bool(weights[1] > 0)
