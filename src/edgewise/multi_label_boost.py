"""Multi-label boosting: the logistic loss of every label, one tree per round for all labels.

SketchBoost of Iosipoi and Vakhrushev (2022) with their cross-entropy of independent labels. With
signs y_il = +-1 of rows i and labels l, and P(label l | x_i) = 1 / (1 + exp(-F_il)),

    L = sum_i w_i sum_l log(1 + exp(-y_il F_il)),

and with g_il = -dL/dF_il, h_il = d2L/dF_il^2 a round is

    S       = random signs (n_labels, sketch)                    (as many of either)
    {R_j}   = J-leaf tree to G = g S: split gain sum_k (sum_i G_ik)^2 / sum_il h_il
    beta_jl = sum_{R_j} g_il / (sum_{R_j} h_il + l2)             for the labels that gain most
    F_il   += nu beta_jl.

In the mean over the signs the gain is `sketch` times sum_l (sum_i g_il)^2 / sum_il h_il, that of a
tree which looks at all labels. A leaf moves few labels: the `leaf_labels` whose gain b_jl = beta_jl
sum g_il is largest. Chance gives b a mean of one row's weight w, so steps shrink by the factor
max(0, 1 - pull w / b) (James and Stein).

A rule that is chosen on held-out rows turns probabilities into labels; see `label_rules`.

Deviations: the paper divides the gain by the number of rows, grows trees level by level, and moves
all labels in its leaves.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._boosting import footprint
from ._boosting.base import SHARE_AT_A_TIME, Fit
from ._boosting.footprint import ForestSize, Size, TreeSize
from ._boosting.grower import NOTHING_LEFT, Growing, Tree
from ._boosting.sampling import Sampler, seed_of
from ._boosting.threads import n_threads
from ._boosting.trials import Found, Trial
from ._boosting.validation import Answers
from ._data.parts import held_out_parts
from ._data.rows import Rows
from ._data.sparse import Matrix
from ._data.targets import Relevant
from ._data.weights import Weights
from ._families.label_rules import KINDS, METRICS, Kind, LabelRule, chosen_rule, halves
from ._families.logistic import LogisticBooster, auto_leaf_size
from ._ground import params as p
from ._ground import portable
from ._ground.estimator import estimator
from ._model.check import need
from ._model.model import Model, Scores

LEAST_SHARE = 2.0**-40  # of a label
THOROUGH = 64  # directions of a search that says that nothing is left to learn


class LabelEngine(Growing):
    """The state: scores of all rows and labels, and what trees are searched on."""

    def __init__(
        self,
        rows: Rows,
        start: Scores,
        *,
        sketch: int,
        seed: int,
        steps: dict[str, Any],
        sampler: Sampler | None,
        **growing: Any,
    ) -> None:
        super().__init__(rows, **growing)
        self.state = _core.LabelScores(rows.signs(len(start)), rows.weights, start)
        self._sketch = sketch
        self._seed = seed
        self._steps = steps
        self._sampler = sampler

    def tree(self, shrinkage: float) -> Tree | None:
        """One tree that moves all labels. If it has no step, one on all that there is, searched in
        more directions; None if that has no step either."""

        def grow(limits: _core.GrowLimits, sketch: int = self._sketch) -> list[Tree]:
            directions = self._directions(self.n_rounds, sketch)
            tree = self.state.grow(self._data, directions, limits, self.n_threads)
            drawn = None if limits is self._limits else self._drawn()
            self.state.set_steps(
                tree, shrinkage=shrinkage, drawn=drawn, n_threads=self.n_threads, **self._steps
            )
            return [tree]

        tree = self._grown(grow)[0]
        if not np.any(tree.values):
            tree = grow(self._limits, max(self._sketch, THOROUGH))[0]
        return tree if np.any(tree.values) else None

    def _directions(self, m: int, sketch: int) -> Scores:
        """The random signs of round m, (n_labels, at most `sketch`), half of each column positive:
        if all were, nothing would be left of labels that exclude each other. Each label by itself
        if there are no more of them than that."""
        n_labels = self.state.n_labels
        if n_labels <= sketch:
            return np.eye(n_labels)
        ranks = np.tile(np.arange(n_labels)[:, np.newaxis], sketch)
        ranks = np.random.default_rng([self._seed, m]).permuted(ranks, axis=0)
        return np.where(2 * ranks < n_labels, 1.0, -1.0)

    def _drawn(self) -> NDArray[np.uint8] | None:
        return None if self._sampler is None else self._sampler.of_round(self.n_rounds).rows

    def add(self, items: list[Any]) -> None:
        self.state.add(items, self.n_threads)
        self.n_rounds += 1

    def replay(self, model: Model, X: Matrix) -> None:
        self.state.set_scores(model.scores(X, self.n_threads), self.n_threads)
        self.n_rounds += model.n_rounds

    def loss(self) -> float:
        """The mean loss of a label."""
        return self.state.loss

    def nothing_left(self, loss: float) -> bool:
        return loss < NOTHING_LEFT


class LabelRound:
    """One round: a tree for all labels."""

    stop_reason: str | None = None

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate

    def round(self, engine: LabelEngine, m: int) -> list[Tree]:
        tree = engine.tree(self.learning_rate)
        return [] if tree is None else [tree]

    def story(self) -> dict[str, float]:
        return {}


@estimator
class MultiLabelBoostClassifier(LogisticBooster):
    """Multi-label boosting: the logistic loss of every label, one tree per round for all.

    `y` is an indicator matrix, dense or sparse, or a data frame of indicators, whose rows may have
    several labels or none. With a vector of labels the classes exclude each other and are boosted
    one against the rest.

    Parameters
    ----------
    n_estimators : int or "auto"
        Number of boosting rounds. "auto" finds it on held-out rows, at most 500, and then learns
        from all rows. With more than 20 000 rows it is the largest number.
    decision : {"auto", "half", "micro_f1", "macro_f1", "hamming"}
        How `predict` turns probabilities into labels. "half" takes every label above one half.
        With a metric, it uses the rule that is best on held-out rows: one threshold for all
        labels, a threshold for every label, or as many labels per row as the probabilities sum to.
        "auto" is "micro_f1" if rows are held out for the number of rounds anyway or `X_val` is
        given, otherwise "half". Only for an indicator matrix as y.
    sketch : int
        Random directions in the space of the labels on which the splits of a tree are searched, if
        there are more labels than that.
    leaf_labels : int or None
        Labels that a leaf moves at most: those that gain most. None sets no limit.
    pull : float
        How strongly the steps of leaves are pulled to zero: the gain that chance gives a step, in
        rows.
    max_leaf_nodes : int, "auto" or None
        Largest number of leaves of a tree. Trees grow best-first. "auto" is 40, and fewer on few
        rows. None sets no limit.
    min_samples_leaf : int or "auto"
        Smallest number of rows in a leaf. "auto" is a fiftieth of the rows, at most 5.
    init : {"prior", "zero"}
        Initial scores of the labels: the log odds of their frequencies, or zero.
    calibration : {"auto"} or None
        "auto" multiplies the scores by the factor, at most 1, that was found together with the
        number of rounds; without such a search, and with None, they stay as they are.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels: the names of the columns of an indicator matrix that has names, else their numbers;
        of a vector y the distinct labels, sorted.
    decision_rule_ : str
        The rule of `predict`: "half", "common threshold", "label thresholds" or "row count".
    thresholds_ : ndarray of shape (n_classes,)
        The probabilities above which `predict` takes labels, unless the rule is "row count".
    count_factor_ : float
        The factor of the rule "row count".

    References
    ----------
    L. Iosipoi, A. Vakhrushev: "SketchBoost: fast gradient boosted decision tree for multioutput
    problems", NeurIPS 2022. https://arxiv.org/abs/2211.12858

    Z. C. Lipton, C. Elkan, B. Naryanaswamy: "Optimal thresholding of classifiers to maximize F1
    measure", ECML 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from edgewise import MultiLabelBoostClassifier
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> model = MultiLabelBoostClassifier(n_estimators=20).fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    """

    _short_name = "multi-label"
    _multi_label = True
    _rules: ClassVar[dict[str, p.Rule]] = {
        name: rule for name, rule in LogisticBooster._rules.items() if name != "monotonic_cst"
    } | {
        "decision": p.one_of("auto", "half", *METRICS),
        "sketch": p.integer(1, 1000),
        "leaf_labels": p.integer(1, none=True),
        "pull": p.not_negative(),
        "max_leaf_nodes": p.either(p.integer(2, 65535, none=True), p.one_of("auto")),
        "calibration": p.one_of("auto", None),
    }
    _fitted: ClassVar[dict[str, p.Rule]] = LogisticBooster._fitted | {
        "decision_rule_": p.one_of(*KINDS),
        "thresholds_": (
            lambda v: isinstance(v, np.ndarray) and v.dtype == np.float64 and v.ndim == 1,
            "a vector of floats of 64 bits",
        ),
        "count_factor_": p.real(0.0),
    }
    _most_rounds = 500
    _leeway = 1e-3  # steps shrink to nothing: a loss stays flat for ever

    def __init__(
        self,
        *,
        decision: Literal["auto", "half", "micro_f1", "macro_f1", "hamming"] = "auto",
        sketch: int = 6,
        leaf_labels: int | None = 64,
        pull: float = 1.0,
        n_estimators: int | Literal["auto"] = "auto",
        learning_rate: float = 0.1,
        max_leaf_nodes: int | Literal["auto"] | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int | Literal["auto"] = "auto",
        l2_regularization: float = 0.0,
        min_gain: float = 0.0,
        max_delta: float | None = None,
        subsample: float = 1.0,
        max_features: int | float | None = None,
        splitter: Literal["best", "random"] = "best",
        interaction_cst: Any = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        init: str = "prior",
        class_weight: Any = None,
        calibration: str | None = "auto",
        early_stopping: bool | str = "auto",
        validation_fraction: float | Literal["auto"] = "auto",
        n_iter_no_change: int = 50,
        scoring: Any = "loss",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.decision = decision
        self.sketch = sketch
        self.leaf_labels = leaf_labels
        self.pull = pull
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes: Any = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.min_gain = min_gain
        self.max_delta = max_delta
        self.subsample = subsample
        self.max_features = max_features
        self.splitter = splitter
        self.interaction_cst = interaction_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.init = init
        self.class_weight = class_weight
        self.calibration = calibration
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # --- fitting ----------------------------------------------------------------------------

    def _boost(self, fit: Fit) -> None:
        self.classes_ = fit.classes
        self._take(halves(len(fit.classes)))
        asked = self.decision not in ("auto", "half") and self.multi_label_
        if asked and not fit.parts and fit.validation is None:
            self._learn_from_trials(*self._trials_of_all_rounds(fit))
        super()._boost(fit)
        if fit.validation is not None and self._learns_from_trials():
            scores = self.model_.scores(fit.validation.X, n_threads(self.n_jobs, 2**30))
            self._choose([(fit.validation, scores)])

    def _trials_of_all_rounds(self, fit: Fit) -> tuple[list[Trial], Found]:
        """Trials of as many rounds as the fit has, where nothing else needs held-out rows."""
        n_rounds = self._n_rounds()
        share = self._share(SHARE_AT_A_TIME)
        parts = held_out_parts(fit.rows, share, self.random_state)
        trials = [Trial(self, rows, held, fit.classes, n_rounds) for rows, held in parts]
        for trial in trials:
            while trial.advance():
                pass
        return trials, Found(n_rounds, np.empty(0), "all rounds done")

    def _learns_from_trials(self) -> bool:
        return self.multi_label_ and self.decision != "half"

    def _learn_from_trials(self, trials: Sequence[Trial], found: Found) -> None:
        held = [(t.held, found.factor * t.scores_after(found.n_rounds)) for t in trials]
        self._choose(held)

    def _choose(self, held: list[tuple[Rows, Scores]]) -> None:
        """Chooses the rule of `predict` on held-out rows."""
        metric: Any = "micro_f1" if self.decision == "auto" else self.decision
        if not held:
            return
        proba = np.concatenate([self._link(scores, 1) for _, scores in held])
        relevant = np.concatenate([rows.relevant for rows, _ in held])
        weights = None
        if any(rows.weights is not None for rows, _ in held):
            weights = np.concatenate([rows.weights for rows, _ in held])
        self._take(chosen_rule(metric, proba, relevant, weights))

    def _take(self, rule: LabelRule) -> None:
        self.decision_rule_: Kind = rule.kind
        self.thresholds_: Weights = rule.thresholds
        self.count_factor_: float = rule.factor

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> LabelRound:
        return LabelRound(self.learning_rate)

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        limit: Any = self.max_leaf_nodes
        if limit == "auto":
            return max(8, min(40, n_rows // 30))
        return super()._leaf_limit(n_rows, n_classes)

    def _least_rows(self, n_rows: int, class_rows: NDArray[np.int64]) -> int:
        if self.min_samples_leaf == "auto":
            return auto_leaf_size(n_rows, 0)
        return super()._least_rows(n_rows, class_rows)

    def _directions(self) -> None:
        """No direction of labels is constrained."""

    def _start(self, rows: Rows, n_classes: int) -> Scores:
        """F_l = log odds of the share of the rows that have label l, or 0."""
        if self.init == "zero":
            return np.zeros(n_classes)
        share = label_shares(rows, n_classes)
        return np.asarray(portable.log(share) - portable.log(1.0 - share))

    def _engine(self, rows: Rows, start: Scores) -> LabelEngine:
        growing = self._growing(rows, len(start))
        limits = self._limits(rows, len(start))
        unit = rows.weight_unit
        steps = {
            "l2": limits["l2"] / unit,
            "max_delta": limits["max_delta"],
            "noise": self.pull * rows.row_weight,
            "width": self.leaf_labels or len(start),
        }
        sampler = None
        if self.subsample < 1.0:
            sampler = Sampler(rows.X, rows.codes, **self._drawing())
        return LabelEngine(
            rows,
            start,
            sketch=self.sketch,
            seed=0 if self.random_state is None else seed_of(self.random_state),
            steps=steps,
            sampler=sampler,
            **growing,
        )

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        """Scores, residuals and signs of all rows and labels, with room for the scores of held-out
        rows; sums of leaves; trees of sketches."""
        directions = min(self.sketch, size.K)
        sums = (size.threads + 1) * tree.leaves * 16 * size.K
        of_rows = size.n * (size.K * (8 + 4 + 1 + 8) + 8 * (directions + 2))
        searched = size._replace(K=directions + 1)
        return of_rows + sums + footprint.lane_tree(searched, tree, footprint.lanes(searched))

    def _forest_size(self, size: Size) -> ForestSize:
        return ForestSize(self._n_rounds(), 1, min(self.leaf_labels or size.K, size.K))

    # --- answers ----------------------------------------------------------------------------

    def _own_score(self, rows: Rows, answers: Answers) -> Callable[[Scores], float]:
        """The mean loss of a label, negated."""
        signs, shares = rows.signs(len(self.classes_)), rows.shares()
        threads = n_threads(self.n_jobs, signs.size)
        return lambda scores: -math.fsum(shares * losses_of(scores, signs, threads)[0])

    def _by_log_factor(self, scores: Scores, rows: Rows, n_threads: int) -> Scores:
        return losses_of(scores, rows.signs(scores.shape[1]), n_threads)

    def _link(self, scores: Scores, n_threads: int) -> Scores:
        """P_l = 1 / (1 + exp(-F_l)), divided by the sum where one label is right."""
        proba = np.asarray(portable.exp(portable.log_logistic(scores)))
        return proba if self.multi_label_ else proba / proba.sum(axis=1, keepdims=True)

    def _relevant(self, scores: Scores) -> Relevant:
        if self.decision_rule_ == "half":
            return super()._relevant(scores)
        rule = LabelRule(self.decision_rule_, self.thresholds_, self.count_factor_)
        return rule.labels(self._link(scores, 1))

    def _restored(self, name: str, value: Any) -> Any:
        if name == "thresholds_":
            fine = len(value) == len(self.classes_) and ((value > 0) & (value < 1)).all()
            need(fine, "'thresholds_' must hold a probability for every label")
        return super()._restored(name, value)


def losses_of(scores: Scores, signs: NDArray[np.int8], n_threads: int) -> Scores:
    """Losses of rows, each the mean of its labels, their slope and their curvature by the logarithm
    of a factor of the scores, (3, n)."""
    losses = _core.label_losses(np.ascontiguousarray(scores), signs, 1.0, n_threads)
    return np.asarray(losses).reshape(3, -1)


def label_shares(rows: Rows, n_labels: int) -> Weights:
    """The shares of the rows, by weight, that have the labels; half a row at least has a label and
    has it not, and no share is so near to 0 or 1 that its odds are not finite. Sums are exact: the
    order of the rows does not matter."""
    has = rows.signs(n_labels) > 0
    if rows.weights is None:
        present, total = np.count_nonzero(has, axis=0).astype(np.float64), float(len(has))
    else:
        present = np.array([math.fsum(rows.weights[column]) for column in has.T])
        total = math.fsum(rows.weights)
    least = max(min(rows.row_weight / 2, total / 4), total * LEAST_SHARE)
    return np.asarray(np.clip(present, least, total - least) / total)
