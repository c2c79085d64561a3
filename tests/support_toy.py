"""The noisy toy problem that defeats convex boosters: 21 bits, two classes.

Long and Servedio, "Random classification noise defeats all convex potential boosters" (2010), with
the sizes of Geist, "Soft-max boosting" (2015), section 5.5.2. A quarter of the rows have a large
margin, a quarter are "pullers", half are "penalizers". The majority of the bits is the label of
every row, but a booster of stumps that believes noisy labels does not find that out.
"""

import numpy as np

BITS, FIRST = 21, 11  # of which the pullers have only the first right
RIGHT_FIRST, RIGHT_LAST = 5, 6  # bits that a penalizer has right, among the first and the last


def noisy_bits(rng, n, noise=0.0):
    """X (n, 21) of zeros and ones, and labels y (n,), each turned over with probability `noise`."""
    y = rng.integers(2, size=n)
    right = np.ones((n, BITS), dtype=bool)  # where the bit is the label
    right[n // 4 : n // 2, FIRST:] = False
    penalizers = right[n // 2 :]
    penalizers[:, :FIRST] = _some(rng, len(penalizers), FIRST, RIGHT_FIRST)
    penalizers[:, FIRST:] = _some(rng, len(penalizers), BITS - FIRST, RIGHT_LAST)
    X = np.where(right, y[:, None], 1 - y[:, None]).astype(float)
    return X, np.where(rng.random(n) < noise, 1 - y, y)


def _some(rng, n, width, chosen):
    """A random subset of `chosen` columns in each of n rows, (n, width)."""
    return rng.permuted(np.tile(np.arange(width) < chosen, (n, 1)), axis=1)
