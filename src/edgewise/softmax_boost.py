"""Soft-max boosting: gradient descent on the expected cost itself, in function space.

Geist, "Soft-max boosting" (Machine Learning, 2015), algorithm 2; a similar idea is Abe, Zadrozny,
Langford (KDD 2004). The decision rule is stochastic, g(k|x) = softmax(psi(x))_k, so that the cost

    R(psi) = sum_i w_i sum_k g(k|x_i) c_i(k)          (w_i shares of the rows, c_i(k) the costs)

is smooth, though not convex. With the centred costs D_i(k) = c_i(k) - sum_s g(s|x_i) c_i(s) its
gradient is g(k|x_i) D_i(k), and a round projects it on trees h with values +-1, one per class:

    h    = K weighted binary trees on targets sgn D_i(k), weights w_i g(k|x_i) |D_i(k)|
    R(h) = sum_ik w_i g(k|x_i) D_i(k) h(x_i, k)
    psi <- psi - step * h.

``projection="exact"`` uses these weights; ``"sampled"`` draws one label k for every row i with
probability g(k|x_i) and gives the pair the weight w_i |D_i(k)|. (The paper draws as many pairs, but
rows too; drawing labels only has the same mean and less noise.)

``step="paper"`` is R(h), the paper's choice (5.1: its factor K cancels against ||h||^2 = K).
``step="constant"`` is R(h) / (L ||h||^2) with the true R(h), also where labels are drawn, and L =
1 / (3 sqrt(3)), the smoothness constant of R for costs within [0, 1] (the paper proves 1): no round
raises R, whichever trees were drawn. (R(h) of the drawn pairs would be too optimistic, because the
trees were fitted to them.) Costs are divided by the largest difference within a row for it.

Deviations: +1 means "more expensive than average", so the step is subtracted; a class that was not
drawn does not move in that round.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._boosting import footprint
from ._boosting.base import transaction
from ._boosting.footprint import ForestSize, Size, TreeSize
from ._boosting.grower import set_leaves
from ._boosting.nothing import warn_if_nothing_learned
from ._boosting.validation import Answers
from ._data.chance import row_keys, uniforms
from ._data.rows import Rows
from ._data.sparse import Matrix
from ._data.weights import Weights
from ._families.coefficients import signs_of
from ._families.vote_grower import VoteGrower
from ._families.voting import VotingBooster
from ._ground import params as p
from ._ground.checks import check_cost
from ._ground.errors import InvalidDataError
from ._ground.estimator import estimator
from ._model.model import Scores

SMOOTHNESS = 1 / (3 * np.sqrt(3))
NO_STEP = 1e-14  # of scores: a smaller step is rounding


class SoftmaxEngine:
    """The state: scores psi of the training rows, and the stochastic rule g from them."""

    def __init__(self, rows: Rows, costs: Weights, grower: VoteGrower) -> None:
        self.unit = float(np.ptp(costs, axis=1).max()) or 1.0
        self.costs = costs / self.unit  # (n, n_classes), within [0, 1] but for a row's constant
        self.shares = rows.shares()
        self.grower = grower
        self._keys = row_keys(rows.X, costs)
        self.n_threads = grower.n_threads
        self.psi = np.zeros_like(costs)
        self.rule = np.empty_like(self.psi)
        self._scratch = np.empty_like(self.psi)  # pages of the system cost more than the arithmetic
        self._refresh()

    def _refresh(self) -> None:
        np.copyto(self.rule, self.psi)
        _core.softmax(self.rule, self.n_threads)
        costs = np.multiply(self.rule, self.costs, out=self._scratch)
        self.expected = costs.sum(axis=1)  # (n): cost of the stochastic rule

    def gradient(self) -> Weights:
        """g(k|x_i) D_i(k) of all labels, by the shares of the rows: (n, n_classes)."""
        centred = self.costs - self.expected[:, np.newaxis]  # D_i(k)
        return np.asarray(self.shares[:, np.newaxis] * self.rule * centred)

    def gradient_norm(self) -> float:
        """Square root of sum_i w_i sum_k (g(k|x_i) D_i(k))^2; times sqrt(K), it bounds the edge."""
        slopes = np.subtract(self.costs, self.expected[:, np.newaxis], out=self._scratch)
        slopes *= self.rule
        squares = np.square(slopes, out=slopes).sum(axis=1)
        return math.sqrt(math.fsum(self.shares * squares))

    def drawn_gradient(self, m: int) -> Weights:
        """D_i(k) of the labels drawn, by the shares of the rows, and 0 of the others."""
        at = np.arange(len(self.shares)), self.drawn_labels(m)
        gradient = np.zeros_like(self.psi)
        gradient[at] = self.shares * (self.costs[at] - self.expected)
        return gradient

    def drawn_labels(self, m: int) -> NDArray[np.intp]:
        """A label for each row, with probability g(k|x_i): (n)."""
        below = np.cumsum(self.rule, axis=1, out=self._scratch)
        numbers = uniforms(self._keys, self.grower.seed, m)[:, np.newaxis]
        labels = np.count_nonzero(below < numbers, axis=1)
        return np.asarray(np.minimum(labels, self.rule.shape[1] - 1))

    def true_slope(self, h: Weights) -> float:
        """R(h) / ||h||^2 of the whole gradient, for outputs h (n, n_classes), not all zero."""
        along = math.fsum((self.gradient() * h).sum(axis=1))
        return along / math.fsum(self.shares * (h**2).sum(axis=1))

    def add(self, items: list[Any]) -> None:
        moves = np.array([tree.values[tree.leaf_of_row] for tree in items])  # (n_classes, n)
        self.psi += moves.T
        self._refresh()

    def replay(self, model: Any, X: Matrix) -> None:
        self.psi = model.scores(X, self.n_threads)
        self._refresh()

    def loss(self) -> float:
        """The expected cost R."""
        return math.fsum(self.shares * self.expected) * self.unit

    def nothing_left(self, loss: float) -> bool:
        return loss <= 0.0


def _outputs(tree: Any) -> Weights:
    """h of the leaves: +1 where labels cost more than average, 0 where no pair was drawn."""
    edge, mass = tree.sums.reshape(-1, 2).T
    return np.where(mass > 0, signs_of(edge, mass), 0.0)


class SoftmaxRule:
    """One round: the gradient, projected on K trees."""

    stop_reason: str | None = None

    def __init__(self, projection: str, step: str, learning_rate: float) -> None:
        self.projection = projection
        self.step = step
        self.learning_rate = learning_rate

    def round(self, engine: SoftmaxEngine, m: int) -> list[Any]:
        norm = engine.gradient_norm()
        step, trees = self._project(engine, self.projection, m)
        in_vain = self.step == "constant" and abs(step) < NO_STEP
        if trees and in_vain and self.projection == "sampled":  # use all labels instead
            step, trees = self._project(engine, "exact", m)
        if not trees:
            self.stop_reason = "the gradient is zero"
        else:
            self._story["gradient_norm"] = norm
        return trees

    def _project(self, engine: SoftmaxEngine, projection: str, m: int) -> tuple[float, list[Any]]:
        """The step and K trees with the values -step h; no trees where nothing has a slope."""
        exact = projection == "exact"
        signed = engine.gradient() if exact else engine.drawn_gradient(m)
        trees = engine.grower.vote_trees(signed, m)
        slope = float(sum(abs(tree.sums[::2]).sum() for tree in trees))  # R(h), of what was drawn
        if slope <= 0:
            return 0.0, []
        outputs = [_outputs(tree) for tree in trees]
        if self.step == "paper":
            step = slope
        elif exact:  # ||h||^2 = K
            step = slope / (len(trees) * SMOOTHNESS)
        else:
            of_rows = [h[tree.leaf_of_row] for h, tree in zip(outputs, trees, strict=True)]
            step = engine.true_slope(np.stack(of_rows, axis=1)) / SMOOTHNESS
        for k, (tree, h) in enumerate(zip(trees, outputs, strict=True)):
            set_leaves(tree, -self.learning_rate * step * h[:, np.newaxis], [k])
        self._story = {"edge": slope, "step": step}
        return step, list(trees)

    def story(self) -> dict[str, float]:
        return self._story


@estimator
class SoftmaxBoostClassifier(VotingBooster):
    """Soft-max boosting: minimises the expected cost of a stochastic decision rule.

    `y` is a vector of labels, or an indicator matrix of the labels that are right for a row;
    predicting any of them costs nothing. The prediction is always one label per row; for an
    indicator matrix as y it has the form of an indicator row. `predict_proba` is the stochastic
    rule, not an estimate of class frequencies.

    Parameters
    ----------
    cost : array-like of shape (n_classes, n_classes) or None
        ``cost[t, k]`` is the cost of predicting k where t is right, classes sorted. None: every
        mistake costs 1.
    projection : {"sampled", "exact"}
        Labels a round learns from: one label drawn per row, or all labels.
    step : {"paper", "constant"}
        Step size: that of the paper, or one that never raises the cost.

    References
    ----------
    M. Geist: "Soft-max boosting", Machine Learning 100 (2015), 305-332.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import SoftmaxBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _short_name = "softmax"
    _multi_label = True
    _rules: ClassVar[dict[str, p.Rule]] = VotingBooster._rules | {
        "cost": p.matrix_or_none(),
        "projection": p.one_of("sampled", "exact"),
        "step": p.one_of("paper", "constant"),
    }

    cost: ArrayLike | None = None
    projection: Literal["sampled", "exact"] = "sampled"
    step: Literal["paper", "constant"] = "paper"
    n_estimators: int = 500
    max_leaf_nodes: int | None = 12
    scoring: Any = "accuracy"

    def fit(  # type: ignore[override]  # noqa: PLR0917 - rows are in memory, so y is needed
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
        costs: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to rows X with labels y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows. NaN and null are missing values.
        y : array-like of shape (n_rows,) or (n_rows, n_labels)
            Labels, or an indicator matrix of the labels that are right.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. Rows of weight zero count as absent.
        X_val : like X, default=None
            Validation rows for early stopping. If given, no rows of X are held out.
        y_val : like y, default=None
            Labels of `X_val`.
        sample_weight_val : array-like, default=None
            Weights of `X_val`.
        costs : array-like of shape (n_rows, n_classes), default=None
            Cost of each prediction for each row. Replaces the parameter `cost`.

        Returns
        -------
        self
            The fitted estimator.
        """
        with transaction(self):
            self._fit((X, y, sample_weight), (X_val, y_val, sample_weight_val), costs)
            warn_if_nothing_learned(self, stacklevel=2)
        return self

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        return 9 * 8 * size.n * size.K + footprint.class_trees(size, tree, size.K)

    def _forest_size(self, size: Size) -> ForestSize:
        return ForestSize(self._n_rounds(), size.K, 1)

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> SoftmaxRule:
        return SoftmaxRule(self.projection, self.step, self.learning_rate)

    def _engine(self, rows: Rows, start: Scores) -> SoftmaxEngine:
        costs = self._costs(rows, len(start))
        return SoftmaxEngine(rows, costs, self._grower(rows, len(start)))

    def _own_score(self, rows: Rows, answers: Answers) -> Callable[[Scores], float]:
        """The expected cost R, negated."""
        costs, shares = self._costs(rows, len(self.classes_)), rows.shares()
        return lambda scores: -math.fsum(shares * (answers.proba(scores) * costs).sum(axis=1))

    def _costs(self, rows: Rows, n_classes: int) -> Weights:
        """c_i(k), (n, n_classes)."""
        if rows.costs is not None:
            if rows.costs.shape[1] != n_classes:
                raise InvalidDataError(
                    f"costs must have one column for each of the {n_classes} classes. Got "
                    f"{rows.costs.shape[1]} columns."
                )
            return rows.costs
        right = rows.signs(n_classes) > 0
        if self.cost is None:
            return np.where(right, 0.0, 1.0)
        cost = check_cost(self.cost, n_classes)
        if rows.relevant is None:
            by_row: Weights = cost[rows.codes]
            return by_row
        # A prediction is compared with the cheapest of the correct labels.
        dear = np.where(right[:, :, np.newaxis], cost, np.inf).min(axis=1)
        return np.where(np.isinf(dear), 0.0, dear)

    def _relevant(self, scores: Scores) -> NDArray[np.bool_]:
        return np.asarray(scores.argmax(axis=1)[:, np.newaxis] == np.arange(scores.shape[1]))
