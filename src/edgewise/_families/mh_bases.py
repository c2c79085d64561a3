"""The base learners of AdaBoost.MH: BASE(X, Y, W) of Kegl (2014b), Appendix B.

Each gets the engine, with the signed weights w_il y_il, and returns a base classifier h with its
votes and its energy.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .. import _core
from .._boosting.grower import Tree, set_leaves
from .._data.sparse import Matrix, for_others
from .._ground.errors import InvalidParameterError
from .._ground.sums import ordered_sum
from .._model.ensemble import Constant, Member
from .._model.model import Scores
from .best_votes import Method, best_votes
from .coefficients import (
    Coefficients,
    Kind,
    binary_of_edge,
    factorised,
    per_leaf,
    risk_of,
    signs_of,
)
from .vote_grower import VoteGrower

# Added to the right and to the wrong weight (weights sum to one), it keeps alpha finite if nothing
# # is wrong. MultiBoost uses 0.01 / n. A constant does not depend on the number of rows, so weights
# # can represent repeated rows.
SMOOTHING = 1e-6

RAISES = 1 + 1e-7  # a smaller increase of an edge is rounding


class MHEngine:
    """The state of AdaBoost.MH: weights over rows and labels, and the grower of trees on them."""

    def __init__(self, X: Matrix, weights: _core.LabelWeights, grower: VoteGrower) -> None:
        self.X = X
        self.weights = weights
        self.grower = grower
        self.n_threads = grower.n_threads
        self.smoothing = SMOOTHING

    @property
    def signed_weights(self) -> Scores:
        """w_il y_il, (n, n_classes), sizes summing to one."""
        return self.weights.signed_weights

    @property
    def n_classes(self) -> int:
        return int(self.signed_weights.shape[1])

    def add(self, items: list[Any]) -> None:
        if isinstance(items[0], Tree):
            self.weights.add(items, self.n_threads)
        for member in items:
            if isinstance(member, Member):
                self.weights.add_outputs(member.outputs(self.X), self.n_threads)

    def replay(self, model: Any, X: Matrix) -> None:
        self.weights.add_outputs(model.scores(X, self.n_threads), self.n_threads)

    def loss(self) -> float:
        """The exponential risk (3). It may underflow; its logarithm does not."""
        return risk_of(self.weights.log_risk)

    def nothing_left(self, loss: float) -> bool:
        return False  # margins continue to grow after the risk has underflowed


class Base(NamedTuple):
    """A base classifier: its items for the model, its coefficients, and its votes (of the root)."""

    items: list[Any]
    coefficients: Coefficients
    votes: NDArray[np.float64] | None  # (n_classes); None if it is not factorised


class BaseLearner(Protocol):
    def learn(self, engine: MHEngine, m: int | None) -> Base: ...


class HammingTree:
    """Stumps and Hamming trees: `max_leaf_nodes` is the grower's."""

    def __init__(self, votes: Kind, learning_rate: float) -> None:
        self.votes = votes
        self.learning_rate = learning_rate

    def learn(self, engine: MHEngine, m: int | None) -> Base:
        K = engine.n_classes
        tree = engine.grower.hamming_tree(engine.signed_weights, m)
        outputs, coefficients = factorised(tree, K, self.votes, engine.smoothing)
        set_leaves(tree, self.learning_rate * outputs, np.arange(K))
        return Base([tree], coefficients, root_votes(tree, K))


def root_votes(tree: Tree, n_classes: int) -> NDArray[np.float64]:
    """The vote vector (12) of the stump at the root: v_l = sign(R_l - L_l)."""
    edge, mass, _ = tree.sums.reshape(-1, 3, n_classes).transpose(1, 0, 2)
    feature, left = tree.feature, tree.left
    side = np.zeros(len(feature))
    if len(side) == 1:  # the constant classifier
        return signs_of(edge[0], mass[0])
    side[left[0]], side[left[0] + 1] = -1, 1
    for node in np.flatnonzero(feature >= 0)[1:]:  # parents come before children
        side[left[node]] = side[left[node] + 1] = side[node]
    return signs_of(ordered_sum(side[feature < 0], edge), mass.sum(axis=0))


class OneVsAll:
    """K trees, one for every column of Y and W, with one alpha (Schapire and Singer; Geist)."""

    def __init__(self, votes: Kind, learning_rate: float) -> None:
        self.votes = votes
        self.learning_rate = learning_rate

    def learn(self, engine: MHEngine, m: int | None) -> Base:
        trees = engine.grower.vote_trees(engine.signed_weights, m)
        outputs, coefficients = per_leaf(trees, self.votes, engine.smoothing)
        for k, (tree, output) in enumerate(zip(trees, outputs, strict=True)):
            set_leaves(tree, self.learning_rate * output, [k])
        return Base(list(trees), coefficients, None)


class Product:
    """Products of stumps h = alpha prod_j v_j phi_j(x) (Kegl and Busa-Fekete 2009).

    Alternating optimisation: each factor in turn is trained on labels multiplied by the votes of
    the other factors, y_il prod_{j' != j} v_j'l phi_j'(x_i), as long as the edge grows. The first
    factor that does not raise the edge ends the optimisation: a new factor is left out, an existing
    one stays unchanged.
    """

    def __init__(self, n_factors: int, learning_rate: float) -> None:
        self.n_factors = n_factors
        self.learning_rate = learning_rate

    def learn(self, engine: MHEngine, m: int | None) -> Base:
        K = engine.n_classes
        stumps, edge = self._stumps(engine, m)
        tree = _core.product_tree(stumps, K)
        coefficients = binary_of_edge(edge, engine.smoothing)
        scale = self.learning_rate * coefficients.alpha
        set_leaves(tree, scale * tree.values.reshape(-1, K), np.arange(K))
        votes = np.prod([root_votes(stump, K) for stump in stumps], axis=0)
        return Base([tree], coefficients, votes)

    def _stumps(self, engine: MHEngine, m: int | None) -> tuple[list[Tree], float]:
        """The factors and their edge."""
        K = engine.n_classes
        stumps: list[Tree] = []
        edge, j = 0.0, 0
        while True:
            signed = engine.signed_weights
            others = stumps[:j] + stumps[j + 1 :]
            for other in others:
                signed = signed * votes_on_rows(other, K)
            beside = {int(f) for other in others for f in other.feature[:1] if f >= 0}
            stump = engine.grower.stump(signed, m, beside)
            if stumps and edge_of(stump, K) <= RAISES * edge:
                return stumps, edge
            stumps[j : j + 1], edge = [stump], edge_of(stump, K)
            j = (j + 1) % self.n_factors


def edge_of(stump: Tree, n_classes: int) -> float:
    """sum over leaves and classes of the edge with the stump's votes."""
    sums = stump.sums.reshape(-1, 3, n_classes)
    return float((sums[:, 0] * sums[:, 2]).sum())


def votes_on_rows(stump: Tree, n_classes: int) -> NDArray[np.float64]:
    """v_l phi(x_i) of the training rows, (n, n_classes)."""
    votes: NDArray[np.float64] = stump.sums.reshape(-1, 3, n_classes)[stump.leaf_of_row, 2]
    return votes


class AnyClassifier:
    """phi from any binary classifier that takes weights: alternating optimisation of v and phi.

    For given votes v, phi is trained on pseudo-labels sign(sum_l w_il v_l y_il) with weights
    |sum_l w_il v_l y_il|; for given phi the best votes are (12). The edge grows until nothing
    changes (Gao and Koller 2011). The first v has the largest mass (14), so an edge delta of the
    weak learner on the pseudo-problem gives the round an edge of at least C_K delta.
    """

    SWEEPS = 10
    ENUMERATED = 10  # classes whose vote vectors are all tried

    def __init__(self, classifier: Any, learning_rate: float) -> None:
        self.classifier = classifier
        self.learning_rate = learning_rate

    def learn(self, engine: MHEngine, m: int | None) -> Base:
        signed = engine.signed_weights
        method: Method = "exact" if engine.n_classes <= self.ENUMERATED else "bracket"
        votes = best_votes(signed, method=method, n_starts=8).votes
        best: tuple[float, Any, NDArray[np.float64]] | None = None
        for _ in range(self.SWEEPS):
            phi = self._binary(engine, (signed * votes).sum(axis=1), m)
            answers = np.where(phi.predict(for_others(engine.X)) > 0, 1.0, -1.0)[:, np.newaxis]
            edges = (answers * signed).sum(axis=0)  # (n_classes)
            edge = float(np.abs(edges).sum())
            if best is not None and edge <= best[0]:
                break
            votes = np.where(edges > 0, 1.0, -1.0)
            best = edge, phi, votes
        assert best is not None
        edge, phi, votes = best
        coefficients = binary_of_edge(edge, engine.smoothing)
        table = self.learning_rate * coefficients.alpha * np.outer([-1.0, 1.0], votes)
        return Base([Member(phi, np.array([-1, 1]), table)], coefficients, votes)

    def _binary(self, engine: MHEngine, pseudo: NDArray[np.float64], m: int | None) -> Any:
        """phi trained on the pseudo-labels and -weights of eq. (14)."""
        counts = pseudo != 0
        labels = np.where(pseudo > 0, 1, -1)
        present = np.unique(labels[counts])
        if len(present) < 2:
            return Constant(present[0] if len(present) else 1)
        classifier = clone(self.classifier)
        seed_unseeded(classifier, engine.grower.rng(m))
        weights = np.abs(pseudo[counts])
        weights *= len(weights) / weights.sum()
        return classifier.fit(for_others(engine.X[counts]), labels[counts], sample_weight=weights)


def seed_unseeded(classifier: Any, rng: np.random.Generator) -> None:
    """Give a number to every random_state that is None, in the classifier and its parts."""
    for name, value in sorted(classifier.get_params().items(), key=lambda item: item[0]):
        if value is None and name.split("__")[-1] == "random_state":
            classifier.set_params(**{name: int(rng.integers(2**31 - 1))})


# Parameters of edgewise's own trees, with their only allowed values for other classifiers.
OF_OUR_OWN = {"min_gain": 0, "interaction_cst": None, "max_features": None, "splitter": "best"}


def check_base(classifier: Any, estimator: Any) -> None:
    """Check the requirements and limits of a classifier of another library."""
    owner, is_categorical = type(estimator).__name__, estimator.is_categorical_
    if not has_fit_parameter(classifier, "sample_weight"):
        raise InvalidParameterError(
            f"The 'base' parameter of {owner} must be one of its own base learners by name or a "
            "classifier whose fit takes sample_weight. Got "
            f"{type(classifier).__name__}, whose fit does not."
        )
    if is_categorical is not None:
        raise InvalidParameterError(
            f"{owner} can have no categorical columns if 'base' is not one of its own base "
            f"learners by name: {type(classifier).__name__} does not support them. Got "
            f"categorical columns {np.flatnonzero(is_categorical).tolist()}."
        )
    for name, nothing in OF_OUR_OWN.items():
        given = getattr(estimator, name)
        if given is not nothing and given != nothing:
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} must be {nothing!r} if 'base' is not one of "
                f"its own base learners by name: {type(classifier).__name__} does not support it. "
                f"Got {given!r}."
            )
