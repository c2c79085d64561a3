"""AdaBoost as an iterated map, and its relatives that approach the maximum margin.

M is the margin matrix (m, n): +1 where classifier j is right on example i, -1 where it is wrong.

Rudin, Daubechies, Schapire, "The dynamics of AdaBoost", JMLR 5 (2004): the reduced iterated map.
Breiman, "Prediction games and arcing algorithms", Neural Computation 11 (1999): arc-gv.
Rudin, Schapire, Daubechies, "Analysis of boosting algorithms using the smooth margin function",
Annals of Statistics 35 (2007), Algorithm 2: approximate coordinate ascent boosting.
Raetsch, Warmuth, "Efficient margin maximizing with boosting", JMLR 6 (2005): AdaBoost*.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Choose = Callable[[Array], int]  # edges (n,) -> column


class Walk(NamedTuple):
    """The record of a walk: row t of `weights` is d_t, which determines choice, edge and vote t."""

    weights: Array  # (n_steps, m)
    choices: Array  # (n_steps,)
    edges: Array  # (n_steps,)
    alphas: Array  # (n_steps,)
    votes: Array  # (n,): lambda after the last step


def best(edges: Array, tolerance: float = 1e-13) -> int:
    """The column of the largest edge; of equal ones (up to rounding) the lowest."""
    return int(np.argmax(edges >= edges.max() - tolerance))


def adaboost_map(M: Array, d: Array, n_steps: int, choose: Choose = best) -> Walk:
    """d_{t+1,i} = d_{t,i} / (1 + M_{i,j_t} r_t); the votes follow from the edges."""
    weights, choices, edges = [], [], []
    for _ in range(n_steps):
        j = choose(d @ M)
        r = d @ M[:, j]
        weights.append(d)
        choices.append(j)
        edges.append(r)
        d = d / (1 + M[:, j] * r)
        d = d / d.sum()  # the map would enlarge a sum that is not 1
    return _walk(M, weights, choices, edges, np.arctanh(edges))


def coordinate_walk(
    M: Array, d: Array, n_steps: int, target: Callable[[Array, Array, Array, Array], float]
) -> Walk:
    """alpha_t = artanh(r_t) - artanh(g_t), g_t by `target`; d_t is d exp(-M lambda), normalised."""
    votes = np.zeros(M.shape[1])
    weights, choices, edges, alphas = [], [], [], []
    for _ in range(n_steps):
        scores = M @ votes  # (m,)
        now = d * np.exp(-(scores - scores[d > 0].min()))
        now = now / now.sum()
        j = best(now @ M)
        edges.append(now @ M[:, j])
        g = target(scores, votes, d, np.array(edges))
        alphas.append(max(0.0, np.arctanh(edges[-1]) - np.arctanh(g)))
        weights.append(now)
        choices.append(j)
        votes[j] += alphas[-1]
    return _walk(M, weights, choices, edges, np.array(alphas))


def arc_gv(scores: Array, votes: Array, d: Array, edges: Array) -> float:
    """The smallest margin so far; AdaBoost's step until it is positive."""
    return max(0.0, float(scores[d > 0].min() / votes.sum())) if votes.any() else 0.0


def ascent(scores: Array, votes: Array, d: Array, edges: Array) -> float:
    """The smooth margin G; AdaBoost's step until it is positive."""
    if not votes.any():
        return 0.0
    least, counts = scores[d > 0].min(), d / d[d > 0].min()
    total = (counts[d > 0] * np.exp(-(scores[d > 0] - least))).sum()
    return max(0.0, float((least - np.log(total)) / votes.sum()))


def adaboost_star(nu: float) -> Callable[[Array, Array, Array, Array], float]:
    """The least edge so far, less nu."""
    return lambda scores, votes, d, edges: float(edges.min() - nu)


def _walk(M: Array, weights: Any, choices: Any, edges: Any, alphas: Array) -> Walk:
    votes = np.bincount(np.array(choices, dtype=int), weights=alphas, minlength=M.shape[1])
    path = np.reshape(weights, (len(choices), len(M)))
    return Walk(path, np.array(choices), np.array(edges), alphas, votes)
