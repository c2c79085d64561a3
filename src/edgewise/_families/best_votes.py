"""Votes of largest mass: the v in {-1, +1}^K with the largest sum_i |sum_l a_il v_l|.

A = [w_il y_il] holds the signed weights of n rows and K classes, and the sum is the vote mass of
Kégl (2014, eq. 14): the share of the weight that the votes leave to the base classifier. Its
maximum is the norm of A from l_infinity to l_1, which is NP-hard to compute, so:

- few classes: all 2^(K-1) votes are tried (v and -v have the same mass);
- many: a lower and an upper bound. Signs become unit vectors, the relaxation of Grothendieck; its
  dual gives the upper bound, its vectors, cut by random planes, the votes to start from; flips of
  single votes improve them.

If the votes found have less mass than the theory guarantees (`promised`), which has never happened,
further votes are drawn from a distribution with this mean mass.

Nothing here calls BLAS, whose rounding may depend on the number of threads.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Method = Literal["auto", "exact", "bracket"]

AUTO_CLASSES = 20  # classes up to which all votes are tried by default
MOST_CLASSES = 24  # classes up to which all votes can be tried: 2^23 masses are 64 MB
MOST_DRAWS = 10_000  # draws of votes to reach the promised mass
_LOW = 8  # classes in the inner table of the enumeration
_BLOCK = 2**15  # numbers in that table: it stays in the cache


@dataclass(frozen=True, eq=False)
class BestVotes:
    """Votes, their mass, and an upper bound of the mass of any votes."""

    votes: Array  # (K): -1 or +1; the first is +1
    mass: float
    upper: float  # equal to `mass` if all votes were tried

    @property
    def exact(self) -> bool:
        """Return whether no votes have more mass, up to rounding."""
        return self.upper <= self.mass * (1 + 1e-12)


def best_votes(
    signed: Array, *, method: Method = "auto", n_starts: int = 32, seed: int = 0
) -> BestVotes:
    """The best votes for the signed weights A, (n, K)."""
    n_classes = signed.shape[1]
    if method == "exact" or (method == "auto" and n_classes <= AUTO_CLASSES):
        votes = pattern(int(all_masses(signed).argmax()), n_classes)
        mass = mass_of(signed, votes)
        return BestVotes(votes, mass, mass)
    rng = np.random.default_rng(seed)
    return _as_promised(signed, _bracket(signed, n_starts, rng), rng)


def promised_share(signed: Array) -> float:
    """The share of the weight that some votes keep: C_K for one label per row, else e_K."""
    n_classes = signed.shape[1]
    n_for, n_against = (signed > 0).sum(axis=1), (signed < 0).sum(axis=1)
    fewer, more = np.minimum(n_for, n_against), np.maximum(n_for, n_against)
    one_label = (fewer <= 1).all() and (more < n_classes).all()  # or all but one: the same mass
    return sharp_share(n_classes) if one_label else elementary_share(n_classes)


def sharp_share(n_classes: int) -> float:
    """C_K = K / (3K - 4) for even and (K + 1) / (3K - 1) for odd K: docs/lab_convergence.md."""
    K = n_classes
    if K <= 2:
        return 1.0
    return K / (3 * K - 4) if K % 2 == 0 else (K + 1) / (3 * K - 1)


def elementary_share(n_classes: int) -> float:
    """e_K = C(K-1, floor((K-1)/2)) / 2^(K-1), for any labels."""
    return math.comb(n_classes - 1, (n_classes - 1) // 2) / (1 << (n_classes - 1))


def _as_promised(signed: Array, found: BestVotes, rng: np.random.Generator) -> BestVotes:
    """Votes of at least the promised mass: draw and improve votes until some have it.

    Such draws have the promised mass on average, so each draw may succeed.
    """
    total = float(np.abs(signed).sum())
    least = promised_share(signed) * total * (1 - 1e-12)
    n_classes = signed.shape[1]
    for _ in range(MOST_DRAWS):
        if found.mass >= least:
            return found
        split = np.where(rng.permutation(n_classes) % 2, 1.0, -1.0)
        votes = _ascend(signed, split if rng.random() < 0.5 else rng.choice([-1.0, 1.0], n_classes))
        votes *= votes[0]
        mass = mass_of(signed, votes)
        found = max(found, BestVotes(votes, mass, max(found.upper, mass)), key=lambda b: b.mass)
    return found


def mass_of(signed: Array, votes: Array) -> float:
    """sum_i |sum_l a_il v_l|"""
    return float(np.abs(_times(signed, votes)).sum())


# --- enumeration ------------------------------------------------------------------------------


def pattern(code: int, n_classes: int) -> Array:
    """Votes number `code` of `all_masses`: +1 for the first class, then -1 where a bit is set."""
    bits = (code >> np.arange(n_classes - 1)) & 1
    return np.concatenate([[1.0], np.where(bits, -1.0, 1.0)])


def all_masses(signed: Array) -> Array:
    """The masses of all 2^(K-1) votes with +1 for the first class."""
    columns = np.ascontiguousarray(signed.T)  # (K, n)
    first, low, high = columns[0], columns[1 : 1 + _LOW], columns[1 + _LOW :]
    masses = np.zeros((2 ** len(high), 2 ** len(low)))
    step = _BLOCK >> len(low)
    for start in range(0, len(first), step):
        rows = slice(start, start + step)
        inner = _signed_sums(low[:, rows])
        outer = _signed_sums(high[:, rows]) + first[rows]
        sums = np.empty_like(inner)
        for h, base in enumerate(outer):
            np.add(inner, base, out=sums)
            np.abs(sums, out=sums)
            masses[h] += sums.sum(axis=1)
    return masses.ravel()


def _signed_sums(columns: Array) -> Array:
    """All sums of m columns with signs: (m, n) becomes (2^m, n).

    Bit l of a sum's number says that column l is taken off.
    """
    sums = np.zeros((1, columns.shape[1]))
    for column in columns:
        sums = np.concatenate([sums + column, sums - column])
    return sums


# --- bounds from both sides -------------------------------------------------------------------


def _bracket(signed: Array, n_starts: int, rng: np.random.Generator) -> BestVotes:
    votes = np.ones(signed.shape[1])  # classes without weight keep this vote
    classes = np.flatnonzero(signed.any(axis=0))
    A = signed[signed.any(axis=1)][:, classes]
    if len(classes):
        vectors, upper = _relaxation(A, rng)
        starts = _starts(vectors, n_starts, rng)
        found = [_ascend(A, start) for start in starts]
        votes[classes] = max(found, key=lambda v: mass_of(A, v))
    else:
        upper = 0.0
    votes *= votes[0]
    mass = mass_of(signed, votes)
    return BestVotes(votes, mass, max(mass, min(upper, float(np.abs(A).sum()))))


def _relaxation(A: Array, rng: np.random.Generator, n_steps: int = 200) -> tuple[Array, float]:
    """Unit vectors u_l, (K, r), that nearly maximise sum_i |sum_l a_il u_l|, and an upper bound.

    The vectors are improved in turns: those of the rows given those of the classes, and back. For
    any d, e > 0 no signs s, v give s'Av more than |D^-1/2 A E^-1/2| sqrt(sum d sum e), with the
    spectral norm; the lengths of the sums, d and e, make this the value of the relaxation in the
    limit.
    """
    n_classes = A.shape[1]
    size = np.abs(A).max(axis=1, keepdims=True)  # (n, 1)
    vectors = _unit(rng.normal(size=(n_classes, 1 + math.ceil(math.sqrt(2 * n_classes)))), 0.0)[0]
    upper = math.inf
    for step in range(1, n_steps + 1):
        of_rows, d = _unit(_times(A, vectors), 1e-6 * size)
        vectors, e = _unit(_times(A.T, of_rows), 1e-6 * size.max())
        if step % 10 == 0:
            upper = min(upper, _dual_bound(A, d, e))
            if upper <= d.sum() * (1 + 1e-6):
                break
    return vectors, upper


def _unit(rows: Array, least: Array | float) -> tuple[Array, Array]:
    """Rows scaled to length 1, and their lengths, which are at least `least`."""
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    lengths = np.maximum(lengths, least)
    return rows / lengths, lengths


def _dual_bound(A: Array, d: Array, e: Array) -> float:
    inner = _times((A / d).T, A) / np.sqrt(e * e.T)  # (K, K)
    return math.sqrt(np.linalg.eigvalsh(inner)[-1] * d.sum() * e.sum())


def _starts(vectors: Array, n_starts: int, rng: np.random.Generator) -> Iterator[Array]:
    """Starts: equal votes, votes cut by random planes, and random votes with as many +1 as -1.

    Of one-hot labels, either equal votes or evenly split ones on average have the mass C_K.
    """
    n_classes, n_dimensions = vectors.shape
    yield np.ones(n_classes)
    for s in range(n_starts):
        if s % 2:
            yield np.where(rng.permutation(n_classes) % 2, 1.0, -1.0)
        else:
            plane = rng.normal(size=(n_dimensions, 1))
            yield np.where(_times(vectors, plane)[:, 0] >= 0, 1.0, -1.0)


def _ascend(A: Array, votes: Array) -> Array:
    """Flips the vote that gains most until none gains."""
    sums = _times(A, votes)  # (n)
    mass = np.abs(sums).sum()
    while True:
        steps = 2 * A * votes  # (n, K): the change of the sums by a flip, halved
        flipped = np.abs(sums[:, None] - steps).sum(axis=0)
        best = int(flipped.argmax())
        if flipped[best] <= mass * (1 + 1e-12):
            return votes
        sums, mass = sums - steps[:, best], flipped[best]
        votes = np.where(np.arange(len(votes)) == best, -votes, votes)


def _times(matrix: Array, other: Array) -> Array:
    """The matrix product, without BLAS."""
    product: Array = np.einsum("ij,j...->i...", matrix, other)
    return product
