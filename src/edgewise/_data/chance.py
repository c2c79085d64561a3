"""Random numbers that belong to rows, not to their order.

A row's number depends on its values, its label and the seed, so a fit with random draws does not
depend on the order of the rows. Equal rows have the same number, so a row of weight two is
equivalent to the row twice. If equal rows should be treated differently, `distinct` numbers them
(if their weights are equal, too, it does not matter which is which).
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]


def row_keys(*parts: Any) -> Keys:
    """A 64-bit number for each row of arrays (n, ...) that hold numbers, or of sparse rows.

    It is a hash of a sum over the numbers that are not zero, so that sparse rows need no others.
    """
    keys = np.zeros(len(parts[0]), dtype=np.uint64)
    first = 0
    for part in parts:
        if hasattr(part, "key_sums"):
            keys += part.key_sums(first)
            first += part.shape[1]
            continue
        columns = part.reshape(len(keys), math.prod(part.shape[1:])).T
        for j, column in enumerate(columns, start=first):
            keys += entry_keys(column, np.uint64(j))
        first += len(columns)
    return mixed(keys)


def entry_keys(numbers: NDArray[Any], columns: Any) -> Keys:
    """Return the contributions of some columns to the rows' keys; zeros contribute nothing."""
    of_number = bits(numbers)
    of_column = mixed(np.atleast_1d(columns).astype(np.uint64))
    return np.where(of_number == 0, np.uint64(0), mixed(of_number ^ of_column))


def bits(numbers: NDArray[Any]) -> Keys:
    """Numbers as 64 bits; -0.0 counts as 0.0, and all NaN are the same."""
    values = numbers.astype(np.float64) + 0.0
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)


def distinct(keys: Keys) -> Keys:
    """Keys without duplicates: equal rows are numbered."""
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    first = np.searchsorted(sorted_keys, sorted_keys)  # where the run of equal keys begins
    numbered = np.empty_like(keys)
    numbered[order] = mixed(sorted_keys ^ mixed((np.arange(len(keys)) - first).astype(np.uint64)))
    return numbered


def uniforms(keys: Keys, seed: int, m: int) -> NDArray[np.float64]:
    """A number from [0, 1) for each row in round m."""
    mantissa = mixed(keys ^ round_key(seed, m)) >> np.uint64(11)
    numbers: NDArray[np.float64] = mantissa.astype(np.float64) * 2.0**-53
    return numbers


def round_key(seed: int, m: int) -> Keys:
    """A number for round m, (1)."""
    return mixed(np.array([seed], dtype=np.uint64) ^ mixed(np.array([m], dtype=np.uint64)))


def mixed(x: Keys) -> Keys:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014), after one step of its counter."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
