"""The weights of stages: greedy selection with replacement (Caruana and others, ICML 2004).

Selection starts from the stage with the lowest out-of-fold loss and adds, as often as it pays, the
stage that lowers the loss of the mean most. Scores are averaged, so the mean is a sum of trees.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .._model.model import Scores

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
