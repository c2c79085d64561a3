"""Votes: coefficients of base classifiers, from the weights of their hits and mistakes.

The entries of a base classifier are the units that vote: the classes of a stump, the leaves of a
tree. An entry is right on the weight mu_plus and wrong on the weight mu_minus (eqs 7 and 8 of Kegl
2014b); with coefficients c the energy (eq. 4) is

    Z = sum_e mu_plus_e exp(-c_e) + mu_minus_e exp(c_e).
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._boosting.grower import Tree
from .._ground import portable

Array = NDArray[np.float64]
Kind = Literal["binary", "ternary", "real"]

ROUNDING = 1e-9  # share of a sum of absolute values below which an edge is rounding


def risk_of(log_risk: float) -> float:
    """exp(log_risk), but at most exp(700): a warm start on other rows can begin with any risk."""
    return float(portable.exp(min(log_risk, 700.0)))


class Coefficients(NamedTuple):
    """The factors of the entries' votes."""

    of_entry: Array
    edge: float  # gamma, eq. (10): right minus wrong weight, without abstentions
    alpha: float


def _alpha(right: float, wrong: float, smoothing: float) -> float:
    """Eq. (11), finite even if nothing is wrong: 1/2 log((1 + gamma) / (1 - gamma))."""
    return 0.5 * float(portable.log((right + smoothing) / (wrong + smoothing)))


def _with_edge(of_entry: Array, right: Array, wrong: Array, alpha: float) -> Coefficients:
    edge = float((right - wrong)[of_entry != 0].sum())
    return Coefficients(of_entry, edge, alpha)


def binary(right: Array, wrong: Array, smoothing: float) -> Coefficients:
    """All entries vote, with one alpha."""
    alpha = _alpha(right.sum(), wrong.sum(), smoothing)
    return _with_edge(np.full(right.shape, alpha), right, wrong, alpha)


def binary_of_edge(edge: float, smoothing: float) -> Coefficients:
    """The same from the edge alone: (1 + gamma) / 2 is right, (1 - gamma) / 2 wrong."""
    return binary(np.array([1 + edge]) / 2, np.array([max(0.0, 1 - edge)]) / 2, smoothing)


def ternary(right: Array, wrong: Array, smoothing: float) -> Coefficients:
    """Entries may abstain; the set of those that vote minimises 2 sqrt(P N) + (1 - P - N).

    For a fixed alpha an entry lowers the energy iff mu_plus / mu_minus > exp(alpha), so the best
    set is a prefix of the entries in the order of that ratio: the minimum over all subsets is
    found among as many candidates as there are entries. (MultiBoost removes entries greedily.)
    """
    share = wrong.ravel() / np.maximum(right.ravel() + wrong.ravel(), 1e-300)
    order = np.argsort(share, kind="stable")
    P, N = right.ravel()[order].cumsum(), wrong.ravel()[order].cumsum()
    energy = 2 * np.sqrt(P * N) - P - N
    last = int(np.argmin(energy))
    alpha = _alpha(P[last], N[last], smoothing)
    of_entry = np.zeros(right.size)
    of_entry[order[: last + 1]] = alpha
    return _with_edge(of_entry.reshape(right.shape), right, wrong, alpha)


def real(right: Array, wrong: Array, smoothing: float) -> Coefficients:
    """Every entry has its own coefficient 1/2 log(mu_plus / mu_minus): real AdaBoost.MH."""
    of_entry = 0.5 * portable.log((right + smoothing) / (wrong + smoothing))
    return _with_edge(of_entry, right, wrong, 1.0)


KINDS: dict[str, Callable[[Array, Array, float], Coefficients]] = {
    "binary": binary,
    "ternary": ternary,
    "real": real,
}


def terminal_stumps(tree: Tree) -> NDArray[np.intp]:
    """The stump above each leaf, numbered from 0: leaves of one stump share its vote vector."""
    is_leaf = tree.feature < 0
    inner = np.flatnonzero(~is_leaf)
    left = tree.left[inner]
    parent = np.zeros(len(is_leaf), dtype=np.intp)
    parent[left] = parent[left + 1] = inner
    above = parent[is_leaf]  # (n_leaves)
    is_above = np.zeros(len(is_leaf), dtype=bool)
    is_above[above] = True
    stumps: NDArray[np.intp] = (is_above.cumsum() - 1)[above]
    return stumps


def signs_of(edge: Array, mass: Array) -> Array:
    """+1 for entries whose edge is positive by more than rounding, else -1 (eq. 12)."""
    return np.where(edge > ROUNDING * mass, 1.0, -1.0)


def sum_by(groups: NDArray[np.intp], values: Array) -> Array:
    """Rows of `values` added up by group: (n_groups, ...)"""
    sums = np.zeros((groups.max() + 1, *values.shape[1:]))
    np.add.at(sums, groups, values)
    return sums


class Voted(NamedTuple):
    """A base classifier's outputs h on its leaves, (n_leaves, n_classes), and its coefficients."""

    outputs: Array
    coefficients: Coefficients


def factorised(tree: Tree, n_classes: int, kind: Kind, smoothing: float) -> Voted:
    """The outputs of a Hamming tree: alpha v_l phi(x) of the last stump above a leaf."""
    edge, mass, sign = tree.sums.reshape(-1, 3, n_classes).transpose(1, 0, 2)
    stump = terminal_stumps(tree)
    right = sum_by(stump, (mass + sign * edge) / 2)
    wrong = sum_by(stump, (mass - sign * edge) / 2)
    flip = np.ones_like(right)
    if kind != "binary":  # entries with separate votes take the better sign
        flip = np.where(wrong > right, -1.0, 1.0)
        right, wrong = np.maximum(right, wrong), np.minimum(right, wrong)
    coefficients = KINDS[kind](_positive(right), _positive(wrong), smoothing)
    return Voted(sign * (flip * coefficients.of_entry)[stump], coefficients)


def per_leaf(trees: list[Tree], kind: Kind, smoothing: float) -> tuple[list[Array], Coefficients]:
    """Outputs of one tree per class, (n_leaves, 1) each: a leaf votes with its majority."""
    sums = np.concatenate([tree.sums.reshape(-1, 2) for tree in trees])
    edge, mass = sums.T
    sign = signs_of(edge, mass)
    right, wrong = _positive((mass + abs(edge)) / 2), _positive((mass - abs(edge)) / 2)
    coefficients = KINDS[kind](right, wrong, smoothing)
    ends = np.cumsum([len(tree.sums) // 2 for tree in trees])[:-1]
    outputs: list[Any] = np.split((sign * coefficients.of_entry)[:, np.newaxis], ends)
    return outputs, coefficients


def _positive(mass: Array) -> Array:
    return np.maximum(mass, 0.0)
