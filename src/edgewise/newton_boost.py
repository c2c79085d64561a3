"""Newton boosting of any loss with first and second derivatives by the scores.

Friedman (2001), with the second-order trees of Friedman, Hastie and Tibshirani (2000) in Li's
robust form (2010): in a round, with the gradient g_ik and the Hessian's diagonal h_ik of the loss,
for every class k

    {R_jk}  = J-leaf tree to g_ik                       (split gain (sum g)^2 / sum h)
    beta_jk = - sum_{R_j} g_ik / sum_{R_j} h_ik
    F_ik   += nu beta_jk.

With the log loss it is LogitBoost, whose steps have a further factor (K - 1) / K: the diagonal
ignores the interaction of the K scores. Losses: :mod:`edgewise.losses`, or your own.

Deviations: |beta| is clipped as in MART; scores start at the centred log priors, as for the log
loss, unless ``init="zero"``.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._boosting import footprint
from ._boosting.footprint import Size, TreeSize
from ._boosting.grower import NOTHING_LEFT, Growing, Tree
from ._boosting.validation import Answers
from ._data.rows import Rows
from ._data.sparse import Matrix
from ._data.targets import Labels
from ._data.weights import Weights
from ._families.logistic import LogisticBooster
from ._ground import params as p
from ._ground.errors import InvalidDataError, InvalidParameterError
from ._ground.estimator import estimator
from ._model.model import Model, Scores
from .losses import LogLoss, Loss


class LossEngine(Growing):
    """The state: scores of the training rows, and the derivatives of the loss from them."""

    def __init__(self, rows: Rows, start: Scores, loss: Any, **growing: Any) -> None:
        super().__init__(rows, **growing)
        self.targets = one_hot(rows.codes, len(start))
        self.scores = np.tile(start, (len(rows.codes), 1))  # (n, n_classes)
        self._weights = rows.weights
        self._shares = rows.shares()
        self._loss = loss

    def trees(self, shrinkage: float) -> list[Tree]:
        """One tree per class, from the same scores."""
        downhill = -self._weighted("gradient")
        curvature = self._weighted("hessian")
        if np.any(curvature < 0):
            raise InvalidParameterError(
                f"The hessian of the loss must not be negative. Got {curvature.min():g}; "
                "edgewise.losses.check_loss gives details."
            )
        return self._grown(
            lambda limits: _core.grow_derivative_trees(
                self._data, downhill, curvature, limits, shrinkage, self.n_threads
            )
        )

    def _weighted(self, name: str) -> Weights:
        """A derivative of the loss, times the weights of the rows: (n, n_classes)."""
        answer = np.asarray(getattr(self._loss, name)(self.targets, self.scores), dtype=np.float64)
        if answer.shape != self.scores.shape or not np.all(np.isfinite(answer)):
            raise InvalidDataError(
                f"The {name} of the loss must be finite numbers of shape {self.scores.shape}. Got "
                f"shape {answer.shape} with {int((~np.isfinite(answer)).sum())} that are not."
            )
        if self._weights is not None:
            answer = answer * self._weights[:, np.newaxis]
        return np.ascontiguousarray(answer)

    def add(self, items: list[Any]) -> None:
        for k, tree in enumerate(items):
            self.scores[:, k] += tree.values[tree.leaf_of_row]
        self.n_rounds += 1

    def replay(self, model: Model, X: Matrix) -> None:
        self.scores = model.scores(X, self.n_threads)
        self.n_rounds += model.n_rounds

    def loss(self) -> float:
        """The mean loss."""
        return mean_loss(self._loss, self.targets, self.scores, self._shares)

    def nothing_left(self, loss: float) -> bool:
        return loss < NOTHING_LEFT and loss >= 0.0


class NewtonRule:
    """One round: a tree for each class."""

    stop_reason: str | None = None

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate

    def round(self, engine: LossEngine, m: int) -> list[Tree]:
        return engine.trees(self.learning_rate)

    def story(self) -> dict[str, float]:
        return {}


@estimator
class NewtonBoostClassifier(LogisticBooster):
    """Newton boosting: K regression trees per round for a loss of your choice.

    Parameters
    ----------
    loss : "log_loss" or an object with the methods value, gradient and hessian
        Loss to minimise; see :mod:`edgewise.losses`, which has robust losses and a check for your
        own. Early stopping with ``scoring="loss"`` watches its mean over the
        validation rows.

    References
    ----------
    J. H. Friedman: "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29 (2001), 1189-1232.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import NewtonBoostClassifier
    >>> from edgewise.losses import GeneralizedCrossEntropy
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NewtonBoostClassifier(loss=GeneralizedCrossEntropy(), n_estimators=20).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _rules: ClassVar[dict[str, p.Rule]] = LogisticBooster._rules | {
        "loss": (
            lambda v: v == "log_loss" or (isinstance(v, Loss) and not isinstance(v, type)),
            "'log_loss' or an object with the methods value, gradient and hessian",
        )
    }

    loss: Any = "log_loss"

    @property
    def _lowered(self) -> Any:
        return LogLoss() if isinstance(self.loss, str) else self.loss

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> NewtonRule:
        return NewtonRule(self.learning_rate)

    def _engine(self, rows: Rows, start: Scores) -> LossEngine:
        growing = self._growing(rows, len(start))
        return LossEngine(rows, start, self._lowered, **growing)

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        """Without what the loss allocates inside."""
        return 9 * 8 * size.n * size.K + footprint.class_trees(size, tree, size.K)

    def _own_score(self, rows: Rows, answers: Answers) -> Callable[[Scores], float]:
        """The mean loss, negated."""
        targets = one_hot(rows.codes, len(self.classes_))
        shares = rows.shares()
        return lambda scores: -mean_loss(self._lowered, targets, scores, shares)

    def _refines(self) -> bool:
        return super()._refines() and isinstance(self._lowered, LogLoss)

    def _link(self, scores: Scores, n_threads: int) -> Scores:
        own = getattr(self._lowered, "probabilities", None)
        if own is None:
            return super()._link(scores, n_threads)
        return np.asarray(own(scores), dtype=np.float64)


def one_hot(codes: Labels, n_classes: int) -> Scores:
    """Targets (n, n_classes): one at the label of a row."""
    targets: Scores = (codes[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)
    return targets


def mean_loss(loss: Any, targets: Scores, scores: Scores, shares: Weights) -> float:
    values = np.asarray(loss.value(targets, scores), dtype=np.float64)
    return math.fsum(shares * values)
