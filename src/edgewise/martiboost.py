"""MartiBoost: martingale boosting for two classes, which tolerates label noise.

Long and Servedio, "Martingale boosting" (COLT 2005), in the form of Geist (2015), section 5.5.1. A
branching program: layer t has nodes 0..t; a row begins at the only node of layer 0, and a node's
weak learner sends it to node i + 1 of the next layer if it predicts 1, and to node i if it predicts
0. After L layers the prediction is 1 for rows that went right more often than left. On average the
rows of class 1 go right with a probability above one half at every node, which bounds the error. No
row gains weight because it was predicted wrongly, so noise does less harm.

The weak learner of a node has to be better than chance on both classes. A plain tree is made so by
giving both classes half of the weight, and by flipping its more frequent prediction at random, so
often that both predictions are equally likely (with probability 1 - 1 / (2 p) if its frequency is
p > 1/2).

``routing="random"`` sends every training row along one random path (the paper). ``"expected"``
follows all paths: a row is in every node with the probability of reaching it. Prediction always
uses the expectation, so it needs no random numbers.

Deviations: a walk ends at a node that only rows of one class reach, and predicts this class; a node
that no row reaches predicts the majority of the steps that lead to it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._boosting import footprint
from ._boosting.base import TRAINING, transaction
from ._boosting.footprint import ForestSize, Measured, Size, TreeSize
from ._boosting.nothing import has_splits, warn_of_nothing
from ._boosting.progress import Progress
from ._boosting.sampling import seed_of
from ._boosting.threads import n_threads
from ._data import features, targets
from ._data.chance import distinct, row_keys, uniforms
from ._data.groups import for_core, grouped
from ._data.input import checked
from ._data.rows import Rows
from ._data.sparse import Matrix
from ._data.weights import Weights
from ._ground import params as p
from ._ground.errors import InvalidDataError
from ._ground.estimator import estimator
from ._ground.sklearn import BaseEstimator, ClassifierMixin
from ._model.check import check_types, need
from ._model.model import Model, ModelBuilder
from ._model.saved import Saved

_OWN_TYPES: dict[str, np.dtype[Any]] = {"frozen": np.dtype("u1"), "right": np.dtype("f8")}


@dataclass(frozen=True)
class BranchingProgram:
    """Trees of all nodes, layer after layer, and the probabilities to go right."""

    trees: Model
    frozen: NDArray[np.uint8]  # (n_nodes): where the way of a row ends
    right: Weights  # (2 n_nodes): where the tree says 0, where it says 1; frozen: of class 1
    n_layers: int

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name; two programs are the same if these are."""
        return self.trees.arrays() | {"frozen": self.frozen, "right": self.right}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_features: int) -> "BranchingProgram":
        """The program of arrays that may come from anywhere."""
        own = {name: array for name, array in arrays.items() if name in _OWN_TYPES}
        check_types(own, _OWN_TYPES)
        rest = {name: array for name, array in arrays.items() if name not in own}
        trees = Model.from_arrays(rest, n_features)
        program = cls(trees, own["frozen"], own["right"], trees.n_rounds)
        program.check()
        return program

    def check(self) -> None:
        """Raises ModelFormatError unless the core can use it."""
        check_types({"frozen": self.frozen, "right": self.right}, _OWN_TYPES)
        need(isinstance(self.trees, Model) and isinstance(self.n_layers, int), "it has no trees")
        layer = np.arange(self.trees.n_rounds + 1)
        need(self.n_layers == self.trees.n_rounds, "a layer must be a round")
        need(
            np.array_equal(self.trees.round_start, layer * (layer + 1) // 2),
            "layer t must have t + 1 trees",
        )
        n_trees = self.trees.n_trees
        need(len(self.trees.start) == 1 and (self.trees.width == 1).all(), "trees must say 0 or 1")
        need(len(self.frozen) == n_trees and (self.frozen <= 1).all(), "'frozen' must hold 0 or 1")
        need(
            len(self.right) == 2 * n_trees and ((self.right >= 0) & (self.right <= 1)).all(),
            "'right' must hold two probabilities for every tree",
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.check()

    def probability(self, X: Matrix, n_threads: int) -> Weights:
        """Of class 1, (n)."""
        out = np.zeros(len(X))
        self.trees.forest.branch(X, self.frozen, self.right, self.n_layers, out, n_threads)
        return out


class Walk:
    """The state: the training rows on their walk through the layers."""

    def __init__(self, rows: Rows, routing: str, seed: int) -> None:
        self.shares = rows.shares()
        self.mass = np.ones((1, len(rows.X)))  # (nodes of the layer, n): a row's share at a node
        self._seed = seed
        self._keys = None
        if routing == "random":  # equal rows are interchangeable only if their weights are equal
            self._keys = distinct(row_keys(rows.X, rows.codes, self.shares))

    def step(self, right: Weights, frozen: NDArray[np.bool_], says: NDArray[np.bool_]) -> None:
        """Through a layer: right (n_nodes, 2), frozen (n_nodes), says (n_nodes, n)."""
        n_nodes = len(right)
        goes_right = np.where(says, right[:, 1:], right[:, :1])
        if self._keys is not None:
            goes_right = uniforms(self._keys, self._seed, n_nodes) < goes_right
        self.mass[frozen] = 0.0
        after = np.zeros((n_nodes + 1, self.mass.shape[1]))
        np.multiply(self.mass, goes_right, out=after[1:])
        after[:-1] += self.mass - after[1:]
        self.mass = after


@estimator
class MartiBoostClassifier(Saved, Measured, ClassifierMixin, BaseEstimator):
    """MartiBoost: a branching program of weak learners, for two classes with noisy labels.

    Parameters
    ----------
    n_layers : int
        Number of layers L. The program has L (L + 1) / 2 weak learners.
    routing : {"expected", "random"}
        Paths of the training rows: all paths with their probabilities, or one path drawn at random,
        which costs less and adds noise.
    max_leaf_nodes : int or None
        Largest number of leaves of a weak learner's tree. 2 makes it a stump.
    max_depth : int or None
        Largest depth of a tree. None sets no limit.
    min_samples_leaf : int
        Smallest number of rows in a leaf.
    max_bins : int
        Largest number of bins of a feature, not counting the bin of missing values.
    categorical_features : "from_dtype", list of column numbers, names or bools, or None
        Columns whose values are categories; a split divides them into two sets. "from_dtype"
        selects the columns of a data frame that hold strings or have a categorical type. Values
        that do not occur in training are treated as missing.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied into `sample_weight`. Every node balances the classes in
        any case.
    random_state : int, RandomState or None
        Seed of the paths that are drawn.
    n_jobs : int or None
        Number of threads. The model is the same, bit for bit, for any number.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two class labels, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had string names.
    is_categorical_ : ndarray of bool or None
        Which features are categorical.
    categories_ : dict of int to ndarray
        Values of each column that holds strings or categories. The model stores a value as its
        position in this array.
    dates_ : dict of int to DateColumn
        Columns of dates and times: their kind, and the parts of dates that are further columns of
        the model.
    notations_ : dict of int to str
        Decimal separators of the columns that the command line read as numbers from text such as
        "$1,234". Prediction reads such text in these columns; `fit` does not.
    model_ : BranchingProgram
        The program as plain NumPy arrays.
    history_ : dict of ndarray
        One entry per layer: "frozen", the share of the weight of the rows whose path has ended.

    References
    ----------
    P. M. Long, R. A. Servedio: "Martingale boosting", COLT 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from edgewise import MartiBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> MartiBoostClassifier(n_layers=10).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _short_name = "martiboost"
    _rules: ClassVar[dict[str, p.Rule]] = {
        "n_layers": p.integer(1, 5000),
        "routing": p.one_of("expected", "random"),
        "max_leaf_nodes": p.integer(2, 65535, none=True),
        "max_depth": p.integer(1, none=True),
        "min_samples_leaf": p.integer(1),
        "max_bins": p.integer(2, 255),
        "categorical_features": p.columns(),
        "class_weight": p.class_weight(),
        "random_state": p.random_state(),
        "n_jobs": p.n_jobs(),
        "verbose": p.integer(0),
    }

    n_layers: int = 50
    routing: Literal["expected", "random"] = "expected"
    max_leaf_nodes: int | None = 2
    max_depth: int | None = None
    min_samples_leaf: int = 1
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the program to rows X with labels y of two classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Training rows. NaN and null are missing values.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. Rows of weight zero count as absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        with transaction(self):
            self._fit(X, y, sample_weight)
            if not has_splits(self.model_.trees):
                warn_of_nothing(self, "no tree has a split", stacklevel=2)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        p.check(type(self).__name__, self.get_params(deep=False), self._rules)
        labelled = checked(
            self, (X, y, sample_weight), self.class_weight, names=TRAINING, reset=True, learn=True
        ).without_weightless()
        classes = targets.classes_of(labelled.y)
        targets.need_two_classes(classes, type(self).__name__)
        if len(classes) > 2:
            raise InvalidDataError(
                "Only binary classification is supported by MartiBoostClassifier: y must hold two "
                f"classes. Got {len(classes)}: {', '.join(map(str, classes[:5]))}, ..."
            )
        rows = labelled.encoded(classes, "y").without_negligible()
        self.classes_ = classes
        self.model_, frozen = self._grow(rows)
        self.history_ = {"frozen": frozen}

    def _grow(self, rows: Rows) -> tuple[BranchingProgram, Weights]:
        """The program, and the share of the weight that has come to an end after every layer."""
        threads = n_threads(self.n_jobs, rows.X.size * self.n_layers)
        categorical = features.columns_of(self.is_categorical_)
        groups = for_core(grouped(rows, categorical, 2).groups)
        data = _core.BinnedData(rows.X, None, self.max_bins, threads, categorical, groups)
        limits = _core.GrowLimits(
            self.max_leaf_nodes or 0, self.max_depth or 0, self.min_samples_leaf
        )
        signs = np.where(rows.codes == 1, np.int8(1), np.int8(-1))
        walk = Walk(rows, self.routing, seed_of(self.random_state))
        builder = ModelBuilder(np.zeros(1), rows.X.shape[1])
        nodes: list[_core.BranchNode] = []
        ended = []
        progress = Progress(self.n_layers, type(self).__name__, shown=self.verbose > 0)
        for t in range(self.n_layers):
            says = np.zeros(walk.mass.shape, dtype=np.uint8)
            weights = walk.mass * walk.shares
            layer = _core.grow_layer(data, signs, weights, majority(t), limits, says, threads)
            builder.append([node.tree for node in layer])
            nodes += layer
            right = np.array([node.right for node in layer])
            walk.step(right, np.array([node.frozen for node in layer]), says.view(bool))
            ended.append(1.0 - math.fsum(walk.mass.sum(axis=0) * walk.shares))
            progress.update(t + 1, f"ended {ended[-1]:.3f}")
        progress.close()
        program = BranchingProgram(
            builder.model(),
            np.array([node.frozen for node in nodes], dtype=np.uint8),
            np.array([node.right for node in nodes]).ravel(),
            self.n_layers,
        )
        return program, np.array(ended)

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        walk = 8 * size.n * 4 * (self.n_layers + 1)
        return walk + footprint.class_trees(size, tree, 1)

    def _forest_size(self, size: Size) -> ForestSize:
        return ForestSize(self.n_layers, self.n_layers / 2 + 1, 1)

    @staticmethod
    def _model_from(
        arrays: Mapping[str, NDArray[Any]], n_features: int, n_classes: int
    ) -> tuple[Any, int]:
        need(n_classes == 2, f"there must be two classes, not {n_classes}")
        program = BranchingProgram.from_arrays(arrays, n_features)
        return program, program.n_layers

    def predict_proba(self, X: ArrayLike) -> Weights:
        """Compute the probability that the random walk of a row ends in each class.

        It is the randomness of the program, not an estimate of class frequencies.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            Probabilities.
        """
        check_is_fitted(self)
        matrix = features.matrix(self, X, reset=False)
        threads = n_threads(self.n_jobs, len(matrix) * len(self.model_.frozen))
        one = self.model_.probability(matrix, threads)
        return np.stack([1.0 - one, one], axis=1)

    def decision_function(self, X: ArrayLike) -> Weights:
        """Compute the probability of the second class minus that of the first.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
        """
        proba = self.predict_proba(X)
        return np.asarray(proba[:, 1] - proba[:, 0])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class in which the random walk of a row ends more often.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        second = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[second.astype(int)]
        return labels

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def majority(t: int) -> list[float]:
    """For the nodes of layer t, whether rows there went right more often than left; 1/2 if both."""
    return [float(np.heaviside(2 * i - t, 0.5)) for i in range(t + 1)]
