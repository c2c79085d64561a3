"""AdaBoost.MH with factorised base classifiers, for one label per row or several.

Schapire and Singer (1999); Kegl, "The return of AdaBoost.MH: multi-class Hamming trees" (ICLR 2014)
and "Open problem: a (missing) boosting-type convergence result" (COLT 2014), whose equations are
cited. With signs y_il = +-1 and weights w_il over rows i and labels l, summing to one, round t is

    (alpha, v, phi) = BASE(X, Y, W)                          a base classifier h = alpha v phi(x)
    gamma  = sum_il w_il v_l phi(x_i) y_il                   its edge (10)
    alpha  = 1/2 log((1 + gamma) / (1 - gamma))              (11): Z = sqrt(1 - gamma^2)
    w_il  <- w_il exp(-h_l(x_i) y_il) / Z.

The exponential risk is the product of the Z and bounds the Hamming loss. Weights are kept as
logarithms, so no number of rounds overflows.

Probabilities are the exponential loss's own link: its minimiser is f_l = 1/2 log(w+ P_l / (w- (1 -
P_l))) with the initial weights w+ of a present and w- of an absent label, hence P_l = 1 / (1 +
(w+ / w-) exp(-2 f_l)). For labels that exclude each other they are divided by their sum.

Deviations: the correct and the wrong weight are smoothed by 1e-6, so that an edge of one has a
finite alpha (and ends the fit); rows of negligible weight take no part in the search for splits;
ternary votes are optimal, not greedy (see ``_families.coefficients``).
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._boosting import footprint
from ._boosting.footprint import ForestSize, Size, TreeSize
from ._boosting.loop import Builder
from ._boosting.validation import Answers
from ._data.rows import Rows
from ._data.weights import Weights
from ._families.coefficients import Kind, risk_of
from ._families.mh_bases import (
    AnyClassifier,
    BaseLearner,
    HammingTree,
    MHEngine,
    OneVsAll,
    Product,
    check_base,
)
from ._families.voting import VotingBooster, at_most
from ._ground import params as p
from ._ground import portable
from ._ground.errors import InvalidParameterError
from ._ground.estimator import estimator
from ._model.ensemble import EnsembleBuilder
from ._model.model import Scores

OWN_BASES = ("stump", "hamming_tree", "product", "one_vs_all")
NO_EDGE = 1e-10  # of weights that sum to one: a smaller edge is rounding


class MHRule:
    """One round: a base classifier, and its story. `edge` is that of the last round, if any.

    An edge of 1 ends the fit unless rounds draw features or cuts (`draws`), since the next round
    sees others. A round that draws nothing useful learns from everything, so that an unlucky draw
    does not end boosting.
    """

    stop_reason: str | None = None

    def __init__(self, base: BaseLearner, edge: float, *, draws: bool) -> None:
        self.base = base
        self.draws = draws
        self._note(edge)

    def _note(self, edge: float) -> None:
        if edge >= 1 - 1e-12 and not self.draws:
            self.stop_reason = "a base classifier has an edge of 1"

    def round(self, engine: MHEngine, m: int) -> list[Any]:
        items, (_, edge, alpha), votes = self.base.learn(engine, m)
        if edge <= NO_EDGE and self.draws:
            items, (_, edge, alpha), votes = self.base.learn(engine, None)
        if edge <= NO_EDGE:
            self.stop_reason = "no base classifier has an edge"
            return []
        self._note(edge)
        mass = 1.0 if votes is None else engine.weights.vote_mass(votes, engine.n_threads)
        self._engine, self._log_risk = engine, engine.weights.log_risk
        self._story = {"edge": edge, "alpha": alpha, "vote_mass": mass}
        return items

    def story(self) -> dict[str, float]:
        """Z is how much of the risk the round has left; the product of all is the risk itself."""
        weights = self._engine.weights
        return self._story | {
            "z": risk_of(weights.log_risk - self._log_risk),
            "bound": risk_of(weights.log_risk),
            "hamming_loss": weights.hamming_loss(self._engine.n_threads),
        }


def initial_weights(signs: NDArray[np.int8], shares: Weights, kind: str) -> tuple[Weights, Weights]:
    """Weights of the present and of the absent labels of every row; they sum to the row's share.

    "balanced" is eq. (2): half for the present, half for the absent labels. A row that lacks one
    kind gives all to the other.
    """
    n_present = (signs > 0).sum(axis=1)
    n_absent = signs.shape[1] - n_present
    if kind == "uniform":
        each = shares / signs.shape[1]
        return each, each.copy()
    half = np.where((n_present > 0) & (n_absent > 0), 0.5, 1.0) * shares
    return half / np.maximum(n_present, 1), half / np.maximum(n_absent, 1)


@estimator
class AdaBoostMHClassifier(VotingBooster):
    """AdaBoost.MH: factorised base classifiers, for many classes or for several labels per row.

    `y` is a vector of labels, or an indicator matrix (dense or sparse) where rows may have several.

    Parameters
    ----------
    base : {"hamming_tree", "stump", "product", "one_vs_all"} or a classifier
        Base learner: Hamming trees, whose nodes are factorised stumps; single factorised stumps;
        products of `max_depth` stumps (three by default); one tree per class and round; or any
        scikit-learn classifier whose `fit` takes `sample_weight`.
    votes : {"binary", "ternary", "real"}
        Votes of a base classifier: for or against every label, with abstention, or with a
        coefficient per label. Products and classifiers of other libraries vote binary.
    initial_weights : {"balanced", "uniform"}
        Initial weights of the labels of a row: half for the labels it has and half for the others
        (Kégl), or the same for all (Schapire and Singer; Geist).
    max_leaf_nodes : int, "auto" or None
        Largest number of leaves of a tree. "auto" is three per class and at least eight; for
        "one_vs_all" twelve, and fewer on few rows. None sets no limit.

    References
    ----------
    R. E. Schapire, Y. Singer: "Improved boosting algorithms using confidence-rated predictions",
    Machine Learning 37 (1999), 297-336.

    B. Kégl: "The return of AdaBoost.MH: multi-class Hamming trees", ICLR 2014.
    https://arxiv.org/abs/1312.6086

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from edgewise import AdaBoostMHClassifier
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> model = AdaBoostMHClassifier(n_estimators=20).fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    """

    _short_name = "adaboost-mh"
    _state_elsewhere = "label weights"
    _multi_label = True
    _rules: ClassVar[dict[str, p.Rule]] = VotingBooster._rules | {
        "base": p.either(p.one_of(*OWN_BASES), p.classifier()),
        "votes": p.one_of("binary", "ternary", "real"),
        "initial_weights": p.one_of("balanced", "uniform"),
        "max_leaf_nodes": p.either(p.integer(2, 65535, none=True), p.one_of("auto")),
    }
    _fitted: ClassVar[dict[str, p.Rule]] = VotingBooster._fitted | {"_log_odds": p.number()}

    base: Any = "hamming_tree"
    votes: Kind = "binary"
    initial_weights: Literal["balanced", "uniform"] = "balanced"
    n_estimators: int = 500
    max_leaf_nodes: int | Literal["auto"] | None = "auto"

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> MHRule:
        edges = history.get("edge", np.empty(0))
        draws = isinstance(self.base, str) and self._draws()
        edge = float(edges[-1]) if len(edges) else 0.0
        return MHRule(self._base_learner(), edge, draws=draws)

    def _base_learner(self) -> BaseLearner:
        rate = self.learning_rate
        if self.base in ("stump", "hamming_tree"):
            return HammingTree(self.votes, rate)
        if self.base == "one_vs_all":
            return OneVsAll(self.votes, rate)
        if self.base == "product":
            return Product(min(self.max_depth or 3, 12), rate)
        return AnyClassifier(self.base, rate)

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        if self.base == "stump":
            return 2
        if self.max_leaf_nodes == "auto":
            return at_most(12, n_rows, 3) if self.base == "one_vs_all" else max(8, 3 * n_classes)
        return super()._leaf_limit(n_rows, n_classes)

    def _engine(self, rows: Rows, start: Scores) -> MHEngine:
        if not isinstance(self.base, str):
            check_base(self.base, self)
        signs = rows.signs(len(start))
        shares = rows.shares()
        present, absent = initial_weights(signs, shares, self.initial_weights)
        self._log_odds = log_odds_of_weights(signs, present, absent, shares)
        grower = self._grower(rows, len(start))
        weights = _core.LabelWeights(signs, present, absent, grower.n_threads)
        return MHEngine(rows.X, weights, grower)

    def _builder(self, start: Scores, rows: Rows, n_threads: int) -> Builder:
        if isinstance(self.base, str):
            return super()._builder(start, rows, n_threads)
        return EnsembleBuilder(start, rows.X.shape[1])

    def _need_state_elsewhere(self) -> None:
        if self.base not in ("hamming_tree", "stump"):
            raise InvalidParameterError(
                "The 'base' parameter of AdaBoostMHClassifier must be 'hamming_tree' or 'stump' on "
                f"rows that are not in memory. Got {self.base!r}."
            )

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        weights = 80 * size.n + size.n * size.K * (4 + 3 * 8)
        if self.base == "one_vs_all":
            return weights + footprint.class_trees(size, tree, size.K)
        return weights + footprint.lane_tree(size, tree, own=footprint.lanes(size))

    def _forest_size(self, size: Size) -> ForestSize:
        of_round = (size.K, 1) if self.base == "one_vs_all" else (1, size.K)
        return ForestSize(self._n_rounds(), *of_round)

    def _own_score(self, rows: Rows, answers: Answers) -> Callable[[Scores], float]:
        signs, shares = rows.signs(len(self.classes_)), rows.shares()
        return lambda scores: -smooth_hamming_loss(scores, signs, shares)

    def _link(self, scores: Scores, n_threads: int) -> Scores:
        """P_l = 1 / (1 + (w+ / w-) exp(-2 f_l)), divided by the sum where one label is right."""
        log_p = portable.log_logistic(2.0 * scores - self._log_odds)
        if self.multi_label_:
            return np.asarray(portable.exp(log_p))
        _core.softmax(log_p, n_threads)
        return log_p


def smooth_hamming_loss(scores: Scores, signs: NDArray[np.int8], shares: Weights) -> float:
    """The mean of 1 / (1 + exp(2 y_il f_l(x_i) / s)), s being the root mean square of all f.

    Scores grow from round to round, so that the exponential and the log loss of new rows soon rise
    though fewer and fewer labels are wrong. The Hamming loss of few rows is coarse: its first
    lowest value is mere chance. This one counts wrong labels softly, whatever the scores' size.
    """
    size = math.sqrt(math.fsum(shares * (scores**2).mean(axis=1))) or 1.0
    wrong = 1.0 / (1.0 + portable.exp(2.0 / size * signs * scores))
    return math.fsum(shares * wrong.mean(axis=1))


def log_odds_of_weights(
    signs: NDArray[np.int8], present: Weights, absent: Weights, shares: Weights
) -> float:
    """log(w+ / w-), of the mean initial weights of a present and of an absent label.

    A row counts by its share. Sums are exactly rounded: the order of the rows does not matter.
    """
    n_present = (signs > 0).sum(axis=1)  # (n)
    n_absent = signs.shape[1] - n_present
    if not (n_present.any() and n_absent.any()):
        return 0.0
    plus = math.fsum(present * n_present) / math.fsum(shares * n_present)
    minus = math.fsum(absent * n_absent) / math.fsum(shares * n_absent)
    return float(portable.log(plus / minus))
