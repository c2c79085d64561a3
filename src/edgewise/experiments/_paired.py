"""Two classifiers on the same test rows: the rows that each predicts wrongly, McNemar's exact test.

Two error counts on one test set are not two samples: most rows are right or wrong for both
classifiers, and only the rows on which they differ show which is better. Outcomes therefore store
the wrong rows.
"""

import base64
import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from ._types import Record


class Discordant(NamedTuple):
    """Test rows that only one of two classifiers predicts wrongly."""

    only_first: int
    only_second: int


def pack(wrong: NDArray[np.bool_]) -> str:
    """Return the wrong rows as text: compressed bits."""
    return base64.b64encode(zlib.compress(np.packbits(wrong).tobytes(), 9)).decode("ascii")


def unpack(text: str, rows: int) -> NDArray[np.bool_]:
    """The rows that `pack` was given."""
    packed = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    return np.unpackbits(packed, count=rows).astype(bool)


def discordant(first: Record, second: Record) -> Discordant | None:
    """Return where two records differ; None unless both have rows of the same test set."""
    same_rows = first.data_hash == second.data_hash
    if not same_rows or "wrong" not in first.outcome or "wrong" not in second.outcome:
        return None
    a, b = (unpack(r.outcome["wrong"], r.outcome["test_rows"]) for r in (first, second))
    return Discordant(int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a)))


def one_sided(found: Discordant) -> float:
    """P-value of the hypothesis that the second classifier is not better than the first."""
    n = sum(found)
    return float(binom.sf(found.only_first - 1, n, 0.5)) if n else 1.0


def two_sided(found: Discordant) -> float:
    """P-value of a difference at least as large, in either direction."""
    return min(1.0, 2 * min(one_sided(found), one_sided(Discordant(*found[::-1]))))
