"""The convergence of factorised AdaBoost.MH, measured.

B. Kégl, "A (missing) boosting-type convergence result for AdaBoost.MH with factorized multi-class
classifiers" (COLT 2014), asks how much weight votes leave to the base classifier. Here are the
quantities of that paper for any weighting W, (n, K), of labels Y, (n, K), of -1 and +1: weights
count by their ratios, they are divided by their sum first. A base classifier is
h(x) = alpha v phi(x): votes v, (K,), times a binary classifier with the values phi, (n,), times the
coefficient alpha.

The question has been answered: the best votes keep a third of the weight at least (Zou, Zhou, Xu
and Liu, NeurIPS 2024; Zou and Xu, arXiv 2608.01091). The constants, the round bounds that follow,
the worst weightings and a certificate for fitted models are here too. docs/lab_convergence.md has
the theory and the proofs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._families.best_votes import MOST_CLASSES, BestVotes, Method
from ..._families.best_votes import best_votes as votes_of_largest_mass
from ..._ground import params as p
from ..._ground.errors import InvalidDataError
from ._bounds import elementary_bound, mass_bound, rounds_bound, sharp_constant
from ._certificate import Certificate, certificate
from ._search import WorstWeighting, worst_weighting
from ._weighting import (
    Array,
    check_vector,
    check_weighting,
    initial_weights,
    label_matrix,
    one_hot,
    sign_patterns,
)

__all__ = [
    "BestVotes",
    "Certificate",
    "PseudoProblem",
    "WorstWeighting",
    "best_alpha",
    "best_votes",
    "certificate",
    "edges",
    "elementary_bound",
    "energy",
    "initial_weights",
    "label_matrix",
    "mass_bound",
    "one_hot",
    "pseudo_problem",
    "rounds_bound",
    "sharp_constant",
    "sign_patterns",
    "vote_mass",
    "worst_weighting",
]


class PseudoProblem(NamedTuple):
    """The binary problem that votes leave to the base classifier."""

    labels: Array  # (n): y'_i = sign(w_i+ - w_i-), +1 where the two are equal
    weights: Array  # (n): w'_i = |w_i+ - w_i-|; their sum is the vote mass


def edges(W: ArrayLike, Y: ArrayLike, v: ArrayLike, phi: ArrayLike) -> Array:
    """Classwise edges, gamma_l = sum_i w_il v_l phi_i y_il (eq. 9), (K,).

    Their sum is the edge of v phi (eq. 10).
    """
    weights, signs, outputs = _outputs(W, Y, v, phi)
    return np.asarray((weights * outputs * signs).sum(axis=0))


def energy(
    W: ArrayLike, Y: ArrayLike, v: ArrayLike, phi: ArrayLike, alpha: float | None = None
) -> float:
    """Z = sum_il w_il exp(-alpha v_l phi_i y_il) (eq. 4), the factor by which the risk changes.

    Without alpha, that of the best one, for votes and outputs of -1, 0 or +1: then
    Z = 2 sqrt(e+ e-) + e0 with the weights of right labels, wrong ones and those abstained from,
    which is sqrt(1 - gamma^2) if none are abstained from.
    """
    if alpha is None:
        right, wrong = _right_and_wrong(W, Y, v, phi)
        return float(2 * np.sqrt(right * wrong) + max(0.0, 1 - right - wrong))
    p.check("energy", {"alpha": alpha}, {"alpha": p.real(-np.inf)})
    weights, signs, outputs = _outputs(W, Y, v, phi)
    return float((weights * np.exp(-alpha * outputs * signs)).sum())


def best_alpha(W: ArrayLike, Y: ArrayLike, v: ArrayLike, phi: ArrayLike) -> float:
    """The coefficient of least energy, 1/2 log(e+ / e-), for votes and outputs of -1, 0 or +1.

    Without abstentions that is 1/2 log((1 + gamma) / (1 - gamma)) (eq. 11). It is infinite if all
    labels are right or all are wrong, and zero if all are abstained from.
    """
    right, wrong = _right_and_wrong(W, Y, v, phi)
    if right == wrong:
        return 0.0
    with np.errstate(divide="ignore"):
        return float(0.5 * (np.log(right) - np.log(wrong)))


def pseudo_problem(W: ArrayLike, Y: ArrayLike, v: ArrayLike) -> PseudoProblem:
    """The labels y' and weights w' of the binary problem that is left once the votes are fixed.

    A binary classifier has the same edge there as v phi has in the multi-class problem.
    """
    sums = _sums(W, Y, v)
    return PseudoProblem(np.where(sums >= 0, 1.0, -1.0), np.abs(sums))


def vote_mass(W: ArrayLike, Y: ArrayLike, v: ArrayLike) -> float:
    """w'_Sigma = sum_i |w_i+ - w_i-| (eq. 14): the sum of the pseudo-weights."""
    return float(np.abs(_sums(W, Y, v)).sum())


def best_votes(
    W: ArrayLike,
    Y: ArrayLike,
    *,
    method: Method = "auto",
    n_starts: int = 32,
    random_state: int = 0,
) -> BestVotes:
    """The votes of -1 and +1 with the largest mass, `.votes`, their `.mass`, an `.upper` bound.

    method="exact" tries all votes, for up to 24 classes; "bracket" climbs from `n_starts` random
    votes and bounds the largest mass from above; "auto" is exact for up to 20 classes. Votes that
    differ in all signs have the same mass: those with +1 for the first class are returned.
    """
    rules = {
        "method": p.one_of("auto", "exact", "bracket"),
        "n_starts": p.integer(1),
        "random_state": p.seed(),
    }
    given = {"method": method, "n_starts": n_starts, "random_state": random_state}
    p.check("best_votes", given, rules)
    weights, signs = check_weighting(W, Y)
    if method == "exact" and signs.shape[1] > MOST_CLASSES:
        raise InvalidDataError(
            f"method='exact' tries 2^(K-1) votes and takes K={MOST_CLASSES} classes at "
            f"most. Got {signs.shape[1]}: use method='bracket'."
        )
    signed = weights * signs
    return votes_of_largest_mass(signed, method=method, n_starts=n_starts, seed=random_state)


def _sums(W: ArrayLike, Y: ArrayLike, v: ArrayLike) -> Array:
    """w_i+ - w_i- = sum_l w_il v_l y_il, (n,)."""
    weights, signs = check_weighting(W, Y)
    votes = check_vector(v, signs.shape[1], "v", "class")
    return np.asarray((weights * signs * votes).sum(axis=1))


def _outputs(
    W: ArrayLike, Y: ArrayLike, v: ArrayLike, phi: ArrayLike
) -> tuple[Array, Array, Array]:
    """W, Y and v_l phi_i, (n, K) each."""
    weights, signs = check_weighting(W, Y)
    votes = check_vector(v, signs.shape[1], "v", "class")
    values = check_vector(phi, signs.shape[0], "phi", "row")
    return weights, signs, np.outer(values, votes)


def _right_and_wrong(
    W: ArrayLike, Y: ArrayLike, v: ArrayLike, phi: ArrayLike
) -> tuple[float, float]:
    """The weight of the labels that v phi gets right, and of those it gets wrong."""
    weights, signs, outputs = _outputs(W, Y, v, phi)
    if not np.isin(outputs, (-1, 0, 1)).all():
        other = outputs[~np.isin(outputs, (-1, 0, 1))][0]
        raise InvalidDataError(
            f"v phi must be -1, 0 or +1 where the best alpha is wanted. Got {other}: give alpha."
        )
    agreement = outputs * signs
    return float(weights[agreement > 0].sum()), float(weights[agreement < 0].sum())
