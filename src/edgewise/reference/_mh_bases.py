"""The base learners of AdaBoost.MH: each turns signed weights into K outputs of -1 or +1.

Products: Kégl and Busa-Fekete, "Boosting products of base classifiers" (ICML 2009). One tree per
class: Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions"
(1999), and Geist, "Soft-max boosting" (2015), Alg. 3. The others are in `_hamming_tree`.
"""

from itertools import cycle
from typing import Literal, NamedTuple, Protocol

import numpy as np

from . import _gini_tree, _hamming_tree
from ._draws import key_of_part
from ._hamming_tree import HammingTree, LeafVotes
from ._tree import TIE, Array, Table, Tree

Base = Literal["stump", "hamming_tree", "product", "one_vs_all"]


class BaseOptions(NamedTuple):
    max_leaf_nodes: int
    max_depth: int | None
    min_samples_leaf: int
    leaf_votes: LeafVotes  # of Hamming trees
    n_factors: int  # of products


class BaseClassifier(Protocol):
    @property
    def votes(self) -> Array | None: ...  # v (K,) of h = v phi; None where there is no such form

    def predict(self, X: Array, /) -> Array: ...  # (n, d) -> (n, K)


class Product(NamedTuple):
    """prod_j v_j phi_j(x): factorised too, with the votes prod_j v_j."""

    stumps: list[HammingTree]

    @property
    def votes(self) -> Array:
        return np.asarray(np.prod([stump.votes for stump in self.stumps], axis=0))

    def predict(self, X: Array) -> Array:
        return np.asarray(np.prod([stump.predict(X) for stump in self.stumps], axis=0))


class OneVsAll(NamedTuple):
    trees: list[Tree]  # tree l tells -1 (its class 0) from +1 (its class 1) in column l

    @property
    def votes(self) -> None:
        return None

    def predict(self, X: Array) -> Array:
        return np.stack([2.0 * _gini_tree.classes(tree, X) - 1.0 for tree in self.trees], axis=1)


def features(stumps: list[HammingTree]) -> frozenset[int]:
    splits = (stump.tree.nodes[0].split for stump in stumps)
    return frozenset(split.feature for split in splits if split)


def product(table: Table, S: Array, options: BaseOptions, key: int) -> Product:
    """Alternating optimisation: each stump in turn on the labels times the other stumps.

    It ends with the first stump that does not raise the edge; in the first sweep that stump is
    left out, later it stays what it was.
    """
    stumps: list[HammingTree] = []
    outputs: list[Array] = []
    edge = 0.0
    for j in cycle(range(options.n_factors)):
        others = np.prod([np.ones_like(S), *outputs[:j], *outputs[j + 1 :]], axis=0)
        beside = features(stumps[:j] + stumps[j + 1 :])
        least = options.min_samples_leaf
        stump = _hamming_tree.grow(
            table, S * others, 2, min_samples_leaf=least, beside=beside, key=key
        )
        output = stump.predict(table.X)  # (n, K)
        edge_before, edge = edge, float((S * others * output).sum())
        if stumps and edge <= TIE * edge_before:
            break
        stumps[j : j + 1], outputs[j : j + 1] = [stump], [output]
    return Product(stumps)


def one_vs_all(table: Table, S: Array, options: BaseOptions, key: int) -> OneVsAll:
    sides = np.stack([np.maximum(-S, 0.0), np.maximum(S, 0.0)], axis=2)  # (n, K, 2): -1, +1
    return OneVsAll(
        [
            _gini_tree.grow(table, sides[:, label], *options[:3], key_of_part(key, label))
            for label in range(S.shape[1])
        ]
    )


def fit_base(
    base: Base, table: Table, S: Array, options: BaseOptions, key: int = 0
) -> BaseClassifier:
    """The base classifier of the name `base` for the signed weights S = w_il y_il (n, K)."""
    if base == "product":
        return product(table, S, options, key)
    if base == "one_vs_all":
        return one_vs_all(table, S, options, key)
    leaves = 2 if base == "stump" else options.max_leaf_nodes
    return _hamming_tree.grow(table, S, leaves, *options[1:4], key=key)
