"""Random cuts for the reference: of every feature one cut, drawn by a hash.

Geurts, Ernst and Wehenkel, "Extremely randomized trees" (2006); but cuts are drawn evenly over the
values in their order. A tree has a key, a node the key of its parent and its side; the cut of
feature j in a node is a hash of the node's key and j: SplitMix64 (Steele, Lea and Flood 2014).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
BITS = 2**64 - 1


def mixed(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & BITS
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS
    return x ^ (x >> 31)


def key_of_part(key: int, part: int) -> int:
    """The key of one of several trees, or of a child: 0 is the left one. No key: no key."""
    return mixed(key ^ mixed(part ^ BITS)) | 1 if key else 0


def drawn_cuts(key: int, j: int, allowed: Array, values: Array, any_missing: bool) -> Array:
    """Of the cuts allowed (2, cuts + 1), missing values on the right and on the left, one each.

    `values` are the bins of the node's rows that are not missing. The last cut, which parts all of
    them from the missing ones, stands where the highest of them is.
    """
    chosen = np.zeros_like(allowed)
    for side in range(1 + any_missing):
        places = [int(c) for c in np.flatnonzero(allowed[side, :-1])]
        if allowed[side, -1]:
            places.append(int(values.max()))
        if places:
            n = places[-1] - places[0] + 1
            cut = places[0] + ((mixed(key ^ mixed(4 * j + side)) >> 32) * n >> 32)
            parts_missing = allowed[side, -1] and cut == places[-1]
            chosen[side, -1 if parts_missing else cut] = True
    return chosen & allowed
