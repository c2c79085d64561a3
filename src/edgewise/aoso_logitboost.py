"""AOSO-LogitBoost: adaptive one-vs-one (Sun, Reid, Zhou: ICML 2012, arXiv 1110.3907; MLJ 2014).

One vector tree a round. At every node, with

    G_k = sum (r_ik - p_ik),   H_k = sum p_ik (1 - p_ik),   H_rk = sum p_ir p_ik,

a pair of classes is chosen,

    r = argmax_k G_k,   s = argmax_k (G_r - G_k)^2 / (H_r + H_k + 2 H_rk),

splits are searched along e_r - e_s with Newton's gain, and each child chooses its own pair. A leaf
moves its pair by Newton's step, gamma (e_r - e_s) with gamma = (G_r - G_s) / (H_r + H_s + 2 H_rs)
(``leaf="pair"``). The dense Hessian of the soft-max loss is thus met exactly in one direction,
where K trees with a diagonal Hessian meet it approximately in all.

Ours: ``leaf="vector"``, the default with more than 64 classes, moves all classes of a leaf by
(K-1)/K G_k / H_k, centred to sum zero: fewer rounds are needed where data is plentiful. Deviations:
|gamma| is clipped at 5 as in the authors' program, F is not capped; where no class stands out
(first tree from the priors) the pair is the two least certain classes.
"""

from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from ._boosting import footprint
from ._boosting.footprint import ForestSize, Size, TreeSize
from ._boosting.grower import Engine, Layout, Tree
from ._families.logistic import LogisticBooster
from ._ground import params as p
from ._ground.estimator import estimator

LeafKind = Literal["auto", "pair", "vector"]

# Above so many classes leaves move all of them, unless asked for pairs; above so many, rows have
# lists of the classes that matter. docs/many_classes.md says what was measured.
VECTOR_CLASSES = 64
LISTED_CLASSES = 256

MOST_SUMS = 2**21  # of leaves and classes, where trees have more than 256 leaves


class AOSORule:
    """One round: one tree."""

    stop_reason: str | None = None

    def __init__(self, leaf: Literal["pair", "vector"], learning_rate: float) -> None:
        self.leaf: Literal["pair", "vector"] = leaf
        self.learning_rate = learning_rate

    def round(self, engine: Engine, m: int) -> list[Tree]:
        return [engine.pair_tree(self.leaf, self.learning_rate)]

    def story(self) -> dict[str, float]:
        return {}


@estimator
class AOSOLogitBoostClassifier(LogisticBooster):
    """AOSO-LogitBoost: one tree per round, a pair of classes chosen at every node.

    The strongest single booster of this library on most tables.

    Parameters
    ----------
    leaf : {"auto", "pair", "vector"}
        Classes that a leaf moves: its pair of classes, as in the paper, or all classes, which is an
        addition of this library. "auto" is "vector" with more than 64 classes and else "pair".
    max_leaf_nodes : int, "auto" or None
        Largest number of leaves of a tree. "auto" grows with the number of classes and of rows.
        None sets no limit.

    References
    ----------
    P. Sun, M. D. Reid, J. Zhou: "AOSO-LogitBoost: adaptive one-vs-one LogitBoost for multi-class
    problems", ICML 2012. https://arxiv.org/abs/1110.3907

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import AOSOLogitBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AOSOLogitBoostClassifier(n_estimators=50).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _short_name = "aoso"
    _state_elsewhere = "posterior"
    _most_rounds = 500
    _class_trees = False
    _rules: ClassVar[dict[str, p.Rule]] = LogisticBooster._rules | {
        "leaf": p.one_of("auto", "pair", "vector"),
        "max_leaf_nodes": p.either(p.integer(2, 65535, none=True), p.one_of("auto")),
    }

    leaf: LeafKind = "auto"
    max_leaf_nodes: int | Literal["auto"] | None = "auto"  # type: ignore[assignment]  # wider

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> AOSORule:
        return AOSORule(self._leaf_kind(n_classes), self.learning_rate)

    def _leaf_kind(self, n_classes: int) -> Literal["pair", "vector"]:
        if self.leaf != "auto":
            return self.leaf
        return "vector" if n_classes > VECTOR_CLASSES else "pair"

    def _layout(self, n_classes: int) -> Layout:
        many = n_classes > LISTED_CLASSES and self.monotonic_cst is None
        return "lists" if many else "by_row"

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        limit: Any = self.max_leaf_nodes
        if limit == "auto":
            return auto_leaves(n_rows, n_classes)
        return super()._leaf_limit(n_rows, n_classes)

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        if self._layout(size.K) == "lists":
            return footprint.lists(size, tree, all_classes=self._leaf_kind(size.K) == "vector")
        return footprint.posterior(size) + footprint.pair_tree(size, tree)

    def _forest_size(self, size: Size) -> ForestSize:
        moved = footprint.MOVED if self._layout(size.K) == "lists" else size.K
        return ForestSize(self._n_rounds(), 1, moved if self._leaf_kind(size.K) == "vector" else 2)


def auto_leaves(n_rows: int, n_classes: int) -> int:
    """Three leaves for every class, so that classes part in few rounds, within what their sums of
    all classes may take; with many rows, as many as have a thousand rows each. No leaf should be
    left with less than fifty."""
    of_classes = min(3 * n_classes, max(256, min(1024, MOST_SUMS // n_classes)))
    of_rows = min(n_rows // 1000, 256)
    return max(8, min(max(of_classes, of_rows), n_rows // 50))
