"""The vote vector of largest mass w'_Sigma = sum_i |sum_l w_il y_il v_l| (Kegl 2014b, eq. 14)."""

import numpy as np
from numpy.typing import NDArray

EXACT_UP_TO = 10  # classes whose vote vectors are all tried
Array = NDArray[np.float64]


def best_votes(signed_weights: Array) -> Array:
    """The vote vector (n_classes) of largest mass for signed weights w_il y_il, (n, n_classes).

    Exact up to ten classes; above, votes are flipped one by one as long as the mass grows, from
    the signs of the columns' sums.
    """
    n_classes = signed_weights.shape[1]
    if n_classes <= EXACT_UP_TO:
        patterns = (np.arange(2 ** (n_classes - 1))[:, np.newaxis] >> np.arange(n_classes)) & 1
        candidates = 1.0 - 2.0 * patterns  # the last vote is +1: the mass is even in v
        masses = [float(np.abs(signed_weights @ v).sum()) for v in candidates]
        return np.asarray(candidates[int(np.argmax(masses))])
    return _flipped(signed_weights, np.where(signed_weights.sum(axis=0) > 0, 1.0, -1.0))


def _flipped(signed_weights: Array, votes: Array) -> Array:
    mass_of_row = signed_weights @ votes
    best = float(np.abs(mass_of_row).sum())
    while True:
        changed = mass_of_row[:, np.newaxis] - 2 * signed_weights * votes
        masses = np.abs(changed).sum(axis=0)
        k = int(np.argmax(masses))
        if masses[k] <= best * (1 + 1e-12):
            return votes
        best, mass_of_row = float(masses[k]), changed[:, k]
        votes[k] = -votes[k]
