"""SAMME: stagewise additive modelling with the multi-class exponential loss.

Zhu, Zou, Rosset, Hastie (2009), in the form of Geist (2015), algorithm 4. With weights w_i of the
rows, summing to one, round t is

    h      = a classifier of K classes trained on the weights
    eps    = sum_i w_i 1[h(x_i) != y_i]
    alpha  = log((1 - eps) / eps) + log(K - 1)
    w_i   <- w_i exp(alpha 1[h(x_i) != y_i]), normalised
    psi_k += alpha 1[h = k],

and the prediction is argmax_k psi_k(x). With K = 2 it is AdaBoost. A round without errors ends the
fit with alpha = 1, one no better than chance (eps >= 1 - 1/K) ends it without being kept, as in
scikit-learn's AdaBoostClassifier. But where every tree sees other features or cuts (`max_features`,
`splitter="random"`), an error-free tree does not stop boosting: alpha is that of half a wrong row.

Probabilities: the link of the loss is P_k = softmax(psi)_k, which after many rounds is 0 or 1 for
every row. Here P is the soft-max of `sharpness_` times the vote shares psi_k / sum_t alpha_t. The
sharpness is the one of largest likelihood on rows held out from a short fit of its own (or on the
validation rows, where there are any), pulled a little towards ten. The model itself is fitted to
all rows.
"""

import math
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.ensemble._base import _set_random_states
from sklearn.utils import check_random_state

from . import _core
from ._boosting import footprint
from ._boosting.base import Fit
from ._boosting.footprint import ForestSize, Size, TreeSize
from ._boosting.grower import Tree, set_leaves
from ._boosting.loop import Builder, boost
from ._boosting.sampling import seed_of
from ._data.chance import row_keys, uniforms
from ._data.features import columns_of
from ._data.groups import grouped
from ._data.rows import Rows
from ._data.sparse import Matrix, for_others
from ._data.weights import Weights
from ._families.coefficients import ROUNDING, risk_of
from ._families.mh_bases import check_base
from ._families.vote_grower import VoteGrower
from ._families.voting import VotingBooster, at_most
from ._ground import params as p
from ._ground import portable
from ._ground.estimator import estimator
from ._model.ensemble import EnsembleBuilder, EnsembleModel, Member
from ._model.model import Scores

FAULTLESS = "a base classifier makes no errors"
START_SHARPNESS = 10.0  # where there is nothing to find it with
PULL = 0.01  # towards it, in units of log loss per unit of its logarithm squared
HELD_OUT = 0.2  # share of the rows that the sharpness is found on
SHORT = 50  # rounds of the fit that it is found with


class SAMMEEngine:
    """The state with trees of our own: psi of the true label of every row, and weights from it."""

    rounding = 1e-14  # of weights that sum to one
    log = staticmethod(portable.log)

    def __init__(self, rows: Rows, n_classes: int, grower: VoteGrower) -> None:
        self.X, self.codes = rows.X, rows.codes
        self.n_classes = n_classes
        self.grower = grower
        self.n_threads = grower.n_threads
        self.alpha_sum = 0.0
        alone = np.ones((len(rows.X), 1), dtype=np.int8)  # one "label" per row: being right
        shares = rows.shares()
        self._weights = _core.LabelWeights(alone, shares, shares, self.n_threads)

    @property
    def weights(self) -> Weights:
        """w_i, summing to one."""
        return np.ascontiguousarray(self._weights.signed_weights[:, 0])

    def learn(self, m: int | None) -> tuple[Any, float]:
        """Return a tree whose leaves predict their heaviest class, and its error."""
        tree = self.grower.gini_tree(self.codes, self.weights, self.n_classes, m)
        sums = tree.sums.reshape(-1, self.n_classes)
        right = np.take_along_axis(sums, self._answers(tree), axis=1)
        return tree, float(sums.sum() - right.sum())

    def _answers(self, tree: Tree) -> NDArray[np.intp]:
        """The heaviest class of every leaf, (n_leaves, 1); the lowest where rounding decides."""
        sums = tree.sums.reshape(-1, self.n_classes)
        heaviest = sums >= (1 - ROUNDING) * sums.max(axis=1, keepdims=True)
        return np.asarray(heaviest.argmax(axis=1)[:, np.newaxis])

    def scaled(self, tree: Tree, alpha: float) -> Tree:
        answers = self._answers(tree)
        set_leaves(tree, np.full(answers.shape, alpha), answers)
        return tree

    def add(self, items: list[Any]) -> None:
        for tree in items:
            right = tree.classes[tree.leaf_of_row] == self.codes
            self._move(np.where(right, tree.values[tree.leaf_of_row], 0.0), tree.values[0])

    def _move(self, of_true_label: Weights, alpha: float) -> None:
        self._weights.add_outputs(of_true_label[:, np.newaxis], self.n_threads)
        self.alpha_sum += alpha

    def replay(self, model: Any, X: Matrix) -> None:
        scores = model.scores(X, self.n_threads)
        alphas = model.values[model.value_start[:-1]]  # every leaf of a tree has its alpha
        self._move(scores[np.arange(len(X)), self.codes], float(sum(alphas)))

    def loss(self) -> float:
        """The multi-class exponential loss: mean of exp(mean_k psi_k - psi_y)."""
        return risk_of(self._weights.log_risk + self.alpha_sum / self.n_classes)

    def nothing_left(self, loss: float) -> bool:
        return False


class MemberEngine:
    """The state with classifiers of another library; the arithmetic is scikit-learn's own.

    AdaBoostClassifier with the same classifier and random_state sees the same weights, bit for bit.
    """

    rounding = 0.0
    log = staticmethod(np.log)

    def __init__(self, rows: Rows, n_classes: int, base: Any, random_state: Any) -> None:
        self.X, self.codes = for_others(rows.X), rows.codes
        self.n_classes = n_classes
        self.n_threads = 1
        self._base = base
        self._random = check_random_state(random_state)
        weights = np.ones(len(rows.X)) if rows.weights is None else rows.weights
        self._raw = self._shares = weights / weights.sum()
        self._of_true_label = np.zeros(len(rows.X))
        self.alpha_sum = 0.0

    @property
    def weights(self) -> Weights:
        return np.asarray(np.clip(self._raw, np.finfo(float).eps, None))

    def learn(self, m: int | None) -> tuple[Any, float]:
        classifier = clone(self._base)
        _set_random_states(classifier, self._random)
        classifier.fit(self.X, self.codes, sample_weight=self.weights)
        wrong = classifier.predict(self.X) != self.codes
        return classifier, float(np.average(wrong, weights=self.weights))

    def scaled(self, classifier: Any, alpha: float) -> Member:
        labels = np.arange(self.n_classes)
        return Member(classifier, labels, alpha * np.eye(self.n_classes))

    def add(self, items: list[Any]) -> None:
        for member in items:
            alpha = float(member.table[0, 0])
            right = member.classifier.predict(self.X) == self.codes
            self._raw = np.exp(np.log(self.weights) + alpha * ~right)  # as scikit-learn
            self._raw /= np.sum(self._raw)
            self._of_true_label += alpha * right
            self.alpha_sum += alpha

    def replay(self, model: EnsembleModel, X: Matrix) -> None:
        for member in model.members:
            _set_random_states(clone(self._base), self._random)  # draws as that round did
            self.add([member])

    def loss(self) -> float:
        """As with trees of our own."""
        excess = self.alpha_sum / self.n_classes - self._of_true_label
        return float(np.average(portable.exp(excess), weights=self._shares))

    def nothing_left(self, loss: float) -> bool:
        return False


class SAMMERule:
    """One round: a classifier and its alpha."""

    stop_reason: str | None = None

    def __init__(self, learning_rate: float, *, faultless: bool, draws: bool) -> None:
        self.learning_rate = learning_rate
        self.draws = draws  # other features or cuts in every round
        if faultless and not draws:  # the last round of an earlier fit
            self.stop_reason = FAULTLESS

    def round(self, engine: SAMMEEngine | MemberEngine, m: int) -> list[Any]:
        classifier, error = engine.learn(m)
        if self.draws and self._is_chance(error, engine):  # which must not end boosting
            classifier, error = engine.learn(None)
        self._story = {"error": error, "alpha": 1.0}
        if error <= engine.rounding:
            self._story["error"] = 0.0
            if not self.draws:
                self.stop_reason = FAULTLESS
                return [engine.scaled(classifier, 1.0)]
            error = 0.5 / len(engine.codes)
        if self._is_chance(error, engine):
            self.stop_reason = "the base classifier is no better than chance"
            return []
        log = engine.log
        alpha = self.learning_rate * (log((1 - error) / error) + log(engine.n_classes - 1))
        self._story["alpha"] = float(alpha)
        return [engine.scaled(classifier, float(alpha))]

    @staticmethod
    def _is_chance(error: float, engine: SAMMEEngine | MemberEngine) -> bool:
        return error >= 1 - 1 / engine.n_classes - engine.rounding

    def story(self) -> dict[str, float]:
        return self._story


@estimator
class SAMMEClassifier(VotingBooster):
    """SAMME: AdaBoost for K classes, with one K-class classifier per round.

    Parameters
    ----------
    base : "tree" or a classifier
        Base learner: Gini trees of this library, or any scikit-learn classifier whose `fit` takes
        `sample_weight`.
    max_leaf_nodes : int, "auto" or None
        Largest number of leaves of a tree. "auto" is twelve per class but one, and fewer on few
        rows. None sets no limit.

    Attributes
    ----------
    sharpness_ : float
        Factor of the vote shares in the soft-max that gives the probabilities.

    References
    ----------
    J. Zhu, H. Zou, S. Rosset, T. Hastie: "Multi-class AdaBoost", Statistics and Its Interface 2
    (2009), 349-360.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import SAMMEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SAMMEClassifier(n_estimators=20).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _short_name = "samme"
    _rules: ClassVar[dict[str, p.Rule]] = VotingBooster._rules | {
        "base": p.either(p.one_of("tree"), p.classifier()),
        "max_leaf_nodes": p.either(p.integer(2, 65535, none=True), p.one_of("auto")),
    }
    _fitted: ClassVar[dict[str, p.Rule]] = VotingBooster._fitted | {"sharpness_": p.real(0.0)}

    base: Any = "tree"
    n_estimators: int = 200
    max_leaf_nodes: int | Literal["auto"] | None = "auto"
    scoring: Any = "accuracy"

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> SAMMERule:
        errors = history.get("error", np.empty(0))
        draws = isinstance(self.base, str) and self._draws()
        return SAMMERule(self.learning_rate, faultless=0.0 in errors[-1:], draws=draws)

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        if self.max_leaf_nodes == "auto":
            return at_most(12 * (n_classes - 1), n_rows, n_classes)
        return super()._leaf_limit(n_rows, n_classes)

    def _engine(self, rows: Rows, start: Scores) -> SAMMEEngine | MemberEngine:
        if isinstance(self.base, str):
            return SAMMEEngine(rows, len(start), self._grower(rows, len(start)))
        check_base(self.base, self)
        return MemberEngine(rows, len(start), self.base, self.random_state)

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        short_fit = size.copy_of_x + size.n * (64 + 16 * size.K)
        return 96 * size.n + short_fit + footprint.lane_tree(size, tree, own=1)

    def _forest_size(self, size: Size) -> ForestSize:
        return ForestSize(self._n_rounds(), 1, 1)

    def _builder(self, start: Scores, rows: Rows, n_threads: int) -> Builder:
        if isinstance(self.base, str):
            return super()._builder(start, rows, n_threads)
        return EnsembleBuilder(start, rows.X.shape[1])

    # --- probabilities ------------------------------------------------------------------------

    def _boost(self, fit: Fit) -> None:
        self.sharpness_ = START_SHARPNESS
        super()._boost(fit)
        if fit.validation is not None:
            scores = self.model_.scores(fit.validation.X, 1)
            self.sharpness_ = sharpness(scores, fit.validation)
        else:
            self.sharpness_ = self._sharpness_of_a_short_fit(fit.rows, fit.classes)

    def _sharpness_of_a_short_fit(self, rows: Rows, classes: NDArray[Any]) -> float:
        """The sharpness does not depend much on the number of rounds."""
        held = uniforms(row_keys(rows.X), seed_of(self.random_state), 0) < HELD_OUT
        part, held_out = rows.take(~held), rows.take(held)
        if len(held_out.X) == 0 or len(np.unique(part.codes)) < len(classes):
            return START_SHARPNESS
        part = grouped(part, columns_of(self.is_categorical_), len(classes))
        engine = self._engine(part, np.zeros(len(classes)))
        builder = self._builder(np.zeros(len(classes)), part, engine.n_threads)
        rounds = range(min(SHORT, self.n_iter_))
        boost(self._round_rule(len(classes), {}), engine, builder, rounds)
        if 2 * builder.n_rounds < len(rounds):  # it ended before it was like the model
            return START_SHARPNESS
        return sharpness(builder.model().scores(held_out.X, engine.n_threads), held_out)

    def _link(self, scores: Scores, n_threads: int) -> Scores:
        logits = self.sharpness_ * vote_shares(scores)
        _core.softmax(logits, n_threads)
        return logits


def vote_shares(scores: Scores) -> Scores:
    """psi_k / sum_t alpha_t: every round gives its alpha to one class."""
    total = scores.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(scores, total, out=np.zeros_like(scores), where=total > 0))


def sharpness(scores: Scores, rows: Rows) -> float:
    """The factor of the vote shares whose soft-max has the largest likelihood, from 1 to 100.

    A weak pull towards START_SHARPNESS keeps few rows, all of them right, from making it infinite.
    Sums are exactly rounded: the order of the rows does not matter.
    """
    shares = vote_shares(scores)
    at = np.arange(len(shares)), rows.codes
    weights = rows.shares()

    def loss(log_factor: float) -> float:
        log_p = portable.log_softmax(portable.exp(log_factor) * shares)
        pull = PULL * (log_factor - portable.log(START_SHARPNESS)) ** 2
        return float(pull) - math.fsum(weights * log_p[at])

    return float(
        portable.exp(minimize_scalar(loss, bounds=(0, portable.log(100)), method="bounded").x)
    )
