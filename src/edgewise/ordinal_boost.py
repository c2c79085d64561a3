"""Ordinal boosting: one tree per round for classes that have an order.

The all-threshold loss of Rennie and Srebro (2005) with the reduction of Li and Lin (2006). Classes
0 < 1 < ... < K-1 have K - 1 thresholds; threshold k asks whether the label is above class k. With
a margin F_ik for each, P(y_i > k) = 1 / (1 + exp(-F_ik)), and with b_ik = +1 where y_i > k and -1
elsewhere,

    L = sum_i w_i sum_k log(1 + exp(-b_ik F_ik)),

which bounds the absolute class error |prediction - label| as the log loss bounds the error. In a
round, with g_ik = -dL/dF_ik and h_ik = d2L/dF_ik^2,

    {R_j}   = J-leaf tree to sum_k g_ik                (split gain (sum g)^2 / sum h)
    beta_j  = sum_{R_j, k} g_ik / sum_{R_j, k} h_ik    (the step of proportional odds)
    beta_jk = (sum_{R_j} g_ik + a_j beta_j) / (sum_{R_j} h_ik + a_j)
    F_ik   += nu beta_jk.

a_j is `pull` times the mean over k of sum_{R_j} h_ik. With a pull of 0 every threshold takes its
own step; an infinite pull gives proportional odds, the model of McCullagh (1980): F_ik = f(x_i) -
theta_k with one f. All thresholds then move by beta_j, and the theta_k by a Newton step of their
own, shortened if it would change their order.

Class k has the score S_k = sum_{j < k} F_ij / 2 - sum_{j >= k} F_ij / 2, the sum of what the
thresholds contribute to it. Scores are sums over trees, and F_k = S_{k+1} - S_k. The label is the
class of the largest score, which is the median of the probabilities where the margins of a row fall
with k. Where they do not, probabilities are those of the sorted margins (Chernozhukov,
Fernandez-Val and Galichon, 2010), which are never further from the truth.

Deviations: |beta| is clipped as in MART; the loss is smooth where Rennie and Srebro also study the
hinge; margins start at the log odds of the class frequencies unless ``init="zero"``.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._boosting import constraints, footprint
from ._boosting.base import Fit
from ._boosting.footprint import Size, TreeSize
from ._boosting.grower import NOTHING_LEFT, Growing, Tree, set_leaves
from ._boosting.sampling import Sampler
from ._boosting.trials import Clock, Found
from ._boosting.validation import Answers
from ._data.rows import Rows
from ._data.sparse import Matrix
from ._data.weights import Weights
from ._families.logistic import LogisticBooster
from ._ground import params as p
from ._ground import portable
from ._ground.errors import InvalidDataError, InvalidParameterError
from ._ground.estimator import estimator
from ._model.check import need
from ._model.model import Model, Scores

SMALL = 0.3  # of the leaves of large trees
FEWEST_ROWS = 500  # of a choice between both; held-out rows of fewer say little

Order = NDArray[np.int64]  # (n_classes): places of the classes, from the lowest to the highest


def margins_of(scores: Scores, order: Order) -> Scores:
    """F_k = S_{k+1} - S_k, (n, n_classes - 1), from scores in the order of `classes_`."""
    ordered = scores[:, order]
    return np.asarray(ordered[:, 1:] - ordered[:, :-1])


def scores_of(margins: Scores, order: Order) -> Scores:
    """S (n, n_classes) in the order of `classes_`, from F (n, n_classes - 1)."""
    sums = np.cumsum(np.pad(margins, ((0, 0), (1, 0))), axis=1)
    scores = np.empty_like(sums)
    scores[:, order] = sums - sums[:, -1:] / 2
    return scores


def threshold_losses(signed: Scores) -> Weights:
    """The all-threshold loss of rows, from b_ik F_ik."""
    return np.asarray(-portable.log_logistic(signed).sum(axis=1))


class Steps(NamedTuple):
    """How far leaves move the margins."""

    pull: float  # in shares of the mean mass of a leaf's thresholds
    l2: float
    max_delta: float

    def by_threshold(self, common: Scores, G: Scores, H: Scores) -> Scores:
        """beta_jk of a finite pull, (n_leaves, n_thresholds); `common` is beta_j, (n_leaves, 1)."""
        pull = self.pull * H.mean(axis=1, keepdims=True)
        mass = H + (self.l2 + pull)
        steps = np.divide(G + pull * common, mass, out=np.zeros_like(G), where=mass > 0)
        return np.asarray(np.clip(steps, -self.max_delta, self.max_delta))

    def of_thresholds(self, common: Scores, G: Scores, H: Scores, room: Weights) -> Weights:
        """Newton's steps of -theta_k after the common step; `room` is what neighbours may lose."""
        left, mass = (G - H * common).sum(axis=0), H.sum(axis=0)
        step = np.divide(left, mass, out=np.zeros_like(left), where=mass > 0)
        step = np.clip(step, -self.max_delta, self.max_delta)
        lost = np.maximum(step[1:] - step[:-1], 0.0)
        shares = np.divide(room, lost, out=np.full_like(lost, math.inf), where=lost > 0)
        return np.asarray(step * min(1.0, 0.5 * float(shares.min(initial=math.inf))))


class OrdinalEngine(Growing):
    """The state: scores of the training rows, and the derivatives of the loss from them."""

    def __init__(
        self,
        rows: Rows,
        start: Scores,
        order: Order,
        steps: Steps,
        sampler: Sampler | None,
        **growing: Any,
    ) -> None:
        super().__init__(rows, **growing)
        self.scores = np.tile(start, (len(rows.codes), 1))  # (n, n_classes)
        self._order = order
        self._signs = signs_of(rows, order)
        self._weights = np.ones(len(rows.codes)) if rows.weights is None else rows.weights
        self._shares = rows.shares()
        self._steps = steps
        self._sampler = sampler
        # So coarse that sums over rows are exact, in whatever order; nothing becomes zero.
        self._grid = 2.0 ** (51 - math.frexp(math.fsum(self._weights))[1])

    def tree(self, shrinkage: float) -> Tree:
        """One tree that moves all margins."""
        margins = margins_of(self.scores, self._order)
        g, h = self._derivatives(margins)
        sums = np.ascontiguousarray(g.sum(axis=1)[:, np.newaxis]), h.sum(axis=1)[:, np.newaxis]

        def grow(limits: _core.GrowLimits) -> list[Tree]:
            trees = _core.grow_derivative_trees(
                self._data, sums[0], np.ascontiguousarray(sums[1]), limits, 1.0, self.n_threads
            )
            drawn = None if limits is self._limits else self._drawn()
            self._move(trees[0], g, h, margins, drawn, shrinkage)
            return trees

        return self._grown(grow)[0]

    def _derivatives(self, margins: Scores) -> tuple[Scores, Scores]:
        """g and h, (n, n_thresholds), with the weights of the rows, on the grid of exact sums."""
        wrong = portable.exp(portable.log_logistic(-self._signs * margins))
        w = self._weights[:, np.newaxis]
        g, h = w * self._signs * wrong, w * wrong * (1.0 - wrong)
        return snapped(g, self._grid), snapped(h, self._grid)

    def _drawn(self) -> NDArray[np.uint8] | None:
        return None if self._sampler is None else self._sampler.of_round(self.n_rounds).rows

    def _move(
        self,
        tree: Tree,
        g: Scores,
        h: Scores,
        margins: Scores,
        drawn: NDArray[np.uint8] | None,
        shrinkage: float,
    ) -> None:
        """Says what the leaves of the tree, which hold beta_j, move."""
        common = np.array(tree.values)[:, np.newaxis]
        steps = np.repeat(common, g.shape[1], axis=1)
        if g.shape[1] > 1:
            rows = slice(None) if drawn is None else drawn > 0
            leaf = tree.leaf_of_row[rows]
            G, H = (leaf_sums(leaf, part[rows], len(common)) for part in (g, h))
            if math.isinf(self._steps.pull):
                room = (margins[:, :-1] - margins[:, 1:]).min(axis=0) / shrinkage
                steps = common + self._steps.of_thresholds(common, G, H, room)
            else:
                steps = self._steps.by_threshold(common, G, H)
        values = scores_of(shrinkage * steps, self._order)
        set_leaves(tree, values, np.arange(values.shape[1]))

    def add(self, items: list[Any]) -> None:
        for tree in items:
            values = np.asarray(tree.values).reshape(-1, self.scores.shape[1])
            self.scores += values[tree.leaf_of_row]
        self.n_rounds += 1

    def replay(self, model: Model, X: Matrix) -> None:
        self.scores = model.scores(X, self.n_threads)
        self.n_rounds += model.n_rounds

    def loss(self) -> float:
        """The mean loss."""
        losses = threshold_losses(self._signs * margins_of(self.scores, self._order))
        return math.fsum(self._shares * losses)

    def nothing_left(self, loss: float) -> bool:
        return loss < NOTHING_LEFT


class OrdinalRule:
    """One round: a tree for all classes."""

    stop_reason: str | None = None

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate

    def round(self, engine: OrdinalEngine, m: int) -> list[Tree]:
        return [engine.tree(self.learning_rate)]

    def story(self) -> dict[str, float]:
        return {}


@estimator
class OrdinalBoostClassifier(LogisticBooster):
    """Ordinal boosting: one tree per round for classes that have an order.

    Use it for labels such as "low", "medium", "high", where a wrong class costs more the further it
    is from the right one. `predict` returns the median of the distribution, which has the least
    expected absolute class error; for the most probable class take the largest of `predict_proba`.

    Parameters
    ----------
    order : list of labels or None
        Classes from the lowest to the highest. Labels that do not occur in y are ignored. None uses
        the order of y if it is an ordered categorical, otherwise that of the sorted labels.
    pull : float
        How strongly the steps of the thresholds of a leaf are pulled together, as a share of the
        leaf's second derivatives. 0: every threshold steps by itself. ``float("inf")``:
        proportional odds, one score per row and K - 1 ordered thresholds.
    max_leaf_nodes : int, "auto" or None
        Largest number of leaves of a tree. Trees grow best-first. "auto" is 40, or three per class
        if that is more, and fewer on few rows; where the number of rounds is found on held-out
        rows, three tenths of it are tried, too. None sets no limit.
    monotonic_cst : array-like, dict or None
        Monotone constraints, for each column or for columns by name or number: 1, the label never
        falls as the feature grows; -1, it never rises; 0, no constraint. With three classes or more
        they need ``pull=float("inf")``.
    init : {"prior", "zero"}
        Initial margins of the thresholds: the log odds of the class frequencies, or zero.
    calibration : {"auto"} or None
        "auto" multiplies the scores by the factor, at most 1, that was found together with the
        number of rounds; without such a search, and with None, they stay as they are.

    Attributes
    ----------
    order_ : ndarray of shape (n_classes,)
        Places in `classes_` of the classes from the lowest to the highest.

    References
    ----------
    J. D. M. Rennie, N. Srebro: "Loss functions for preference levels: regression with discrete
    ordered labels", IJCAI workshop on advances in preference handling, 2005.

    L. Li, H.-T. Lin: "Ordinal regression by extended binary classification", NIPS 2006.

    P. McCullagh: "Regression models for ordinal data", Journal of the Royal Statistical Society B
    42 (1980), 109-142.

    Examples
    --------
    >>> from edgewise import OrdinalBoostClassifier
    >>> X = [[x] for x in range(90)]
    >>> y = ["low"] * 30 + ["medium"] * 30 + ["high"] * 30
    >>> model = OrdinalBoostClassifier(order=["low", "medium", "high"], n_estimators=20)
    >>> model.fit(X, y).predict([[5], [45], [80]])
    array(['low', 'medium', 'high'], dtype='<U6')
    """

    _short_name = "ordinal"
    _rules: ClassVar[dict[str, p.Rule]] = LogisticBooster._rules | {
        "order": (
            lambda v: v is None or (isinstance(v, list | tuple | np.ndarray) and len(v) >= 2),
            "None or a list of two labels or more, from the lowest class to the highest",
        ),
        "pull": (
            lambda v: p.not_negative()[0](v) or (isinstance(v, float) and v == math.inf),
            "a number of at least 0, or infinity",
        ),
        "max_leaf_nodes": p.either(p.integer(2, 65535, none=True), p.one_of("auto")),
        "calibration": p.one_of("auto", None),
    }
    _fitted: ClassVar[dict[str, p.Rule]] = LogisticBooster._fitted | {
        "order_": (
            lambda v: isinstance(v, np.ndarray) and v.dtype == np.int64 and v.ndim == 1,
            "a vector of integers of 64 bits",
        )
    }
    _most_rounds = 500

    order: Any = None
    pull: float = 0.01
    max_leaf_nodes: int | Literal["auto"] | None = "auto"  # type: ignore[assignment]  # wider

    # --- fitting ----------------------------------------------------------------------------

    def _boost(self, fit: Fit) -> None:
        order = order_of(fit.classes, self.order, fit.given["y"])
        if fit.continues and not np.array_equal(order, self.order_):
            raise InvalidParameterError(
                "The 'order' parameter of OrdinalBoostClassifier must be that of the fit that "
                f"warm_start=True continues. Got {p.shown(self.order)}."
            )
        self.order_: Order = order
        self._leaves: int | None = None
        try:
            super()._boost(fit)
        finally:
            del self._leaves

    def _find_rounds(self, fit: Fit, most: int, clock: Clock) -> Found:
        """With "auto" leaves, try two sizes of trees: where classes overlap, small ones win."""
        if self.max_leaf_nodes != "auto" or fit.rows.n_given < FEWEST_ROWS:
            return super()._find_rounds(fit, most, clock)
        large = self._leaf_limit(fit.rows.n_given, len(fit.classes))
        found: dict[int, Found] = {}
        for leaves in (large, max(4, round(SMALL * large))):
            self._leaves = leaves
            found[leaves] = super()._find_rounds(fit, most, clock)
        self._leaves = max(found, key=lambda leaves: found[leaves].scores.max(initial=-math.inf))
        return found[self._leaves]

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> OrdinalRule:
        return OrdinalRule(self.learning_rate)

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        limit: Any = self.max_leaf_nodes
        if limit == "auto":
            chosen = getattr(self, "_leaves", None)
            if chosen is not None:
                return int(chosen)
            return max(8, min(max(40, 3 * n_classes), n_rows // 30))
        return super()._leaf_limit(n_rows, n_classes)

    def _start(self, rows: Rows, n_classes: int) -> Scores:
        """F_k = log of the weight above class k over the weight up to it, or 0; as scores."""
        start = super()._start(rows, n_classes)
        if self.init == "zero":
            return start
        weight = rows.class_weights(n_classes)[self.order_].tolist()
        cuts = range(1, n_classes)
        above, below = (
            [math.fsum(part) for part in parts]
            for parts in ([weight[k:] for k in cuts], [weight[:k] for k in cuts])
        )
        margins = portable.log(np.array(above)) - portable.log(np.array(below))
        return np.asarray(scores_of(margins[np.newaxis], self.order_)[0])

    def _engine(self, rows: Rows, start: Scores) -> OrdinalEngine:
        growing = self._growing(rows, len(start))
        limits = self._limits(rows, len(start))
        unit = rows.weight_unit
        steps = Steps(self.pull, limits["l2"] / unit, limits["max_delta"])
        draws = self.subsample < 1.0
        sampler = Sampler(rows.X, rows.codes, **self._drawing()) if draws else None
        return OrdinalEngine(rows, start, self.order_, steps, sampler, **growing)

    def _directions(self) -> Any:
        """Of the margins, (d, 1): 1 if they rise with a feature."""
        given = self.monotonic_cst
        if given is None:
            return None
        entries = given.values() if isinstance(given, Mapping) else given
        if any(isinstance(entry, Mapping) for entry in entries):
            raise InvalidParameterError(
                "The 'monotonic_cst' parameter of OrdinalBoostClassifier must have -1, 0 or 1 for "
                "a column, since its classes are ordered. Got a dict of classes."
            )
        table = constraints.directions(self, np.arange(2))
        if table is not None and len(self.classes_) > 2 and not math.isinf(self.pull):
            raise InvalidParameterError(
                "The 'monotonic_cst' parameter of OrdinalBoostClassifier needs pull=float('inf') "
                f"with three classes or more: all thresholds must move together. Got pull="
                f"{self.pull!r}."
            )
        return None if table is None else np.ascontiguousarray(table[:, 1:])

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        return 12 * 8 * size.n * size.K + footprint.class_trees(size, tree, 1)

    # --- answers ----------------------------------------------------------------------------

    def _own_score(self, rows: Rows, answers: Answers) -> Callable[[Scores], float]:
        """The mean loss, negated."""
        signs, shares, order = signs_of(rows, self.order_), rows.shares(), self.order_
        return lambda scores: (
            -math.fsum(shares * threshold_losses(signs * margins_of(scores, order)))
        )

    def _by_log_factor(self, scores: Scores, rows: Rows, n_threads: int) -> Scores:
        signed = signs_of(rows, self.order_) * margins_of(scores, self.order_)
        wrong = portable.exp(portable.log_logistic(-signed))
        slope, curvature = -wrong * signed, wrong * (1.0 - wrong) * signed**2
        return np.stack([threshold_losses(signed), slope.sum(axis=1), curvature.sum(axis=1)])

    def _link(self, scores: Scores, n_threads: int) -> Scores:
        """P(y = k) = P(y > k - 1) - P(y > k) of the sorted margins, without cancellation."""
        margins = np.sort(margins_of(scores, self.order_), axis=1)[:, ::-1]
        n = len(margins)
        above = np.hstack([np.zeros((n, 1)), portable.log_logistic(margins)])
        below = np.hstack([portable.log_logistic(-margins), np.zeros((n, 1))])
        gaps = np.hstack([np.full((n, 1), np.inf), margins]) - np.hstack(
            [margins, np.full((n, 1), -np.inf)]
        )
        ordered = portable.exp(above + below) * (1.0 - portable.exp(-gaps))
        proba = np.empty_like(scores)
        proba[:, self.order_] = ordered / ordered.sum(axis=1, keepdims=True)
        return proba

    def _restored(self, name: str, value: Any) -> Any:
        if name == "order_":
            places = np.arange(len(self.classes_))
            need(np.array_equal(np.sort(value), places), "'order_' must hold every class once")
        return super()._restored(name, value)


def signs_of(rows: Rows, order: Order) -> Scores:
    """b_ik: +1 where the label of row i is above class k, else -1; (n, n_classes - 1)."""
    rank = np.argsort(order)[rows.codes]
    return np.where(rank[:, np.newaxis] > np.arange(len(order) - 1), 1.0, -1.0)


def snapped(x: Scores, grid: float) -> Scores:
    """x rounded away from zero to multiples of 1 / grid."""
    return np.asarray(np.copysign(np.ceil(np.abs(x) * grid) / grid, x))


def leaf_sums(leaf: NDArray[Any], x: Scores, n_leaves: int) -> Scores:
    """Sums of the rows of every leaf, (n_leaves, n_thresholds): exact, of numbers on a grid."""
    return np.stack([np.bincount(leaf, column, n_leaves) for column in x.T], axis=1)


def order_of(classes: NDArray[Any], order: Any, y: Any) -> Order:
    """Places of the classes from the lowest to the highest."""
    labels = classes.tolist()
    listed = ordered_categories(y) if order is None else list(order)
    if listed is None:
        return np.arange(len(labels), dtype=np.int64)
    places = [labels.index(label) for label in listed if label in labels]
    repeated = [label for i, label in enumerate(listed) if label in listed[:i]]
    if repeated:
        raise InvalidParameterError(
            "The 'order' parameter of OrdinalBoostClassifier must name every class once. Got "
            f"{p.shown(repeated[0])} twice."
        )
    missed = [label for k, label in enumerate(labels) if k not in places]
    if missed:
        raise InvalidDataError(
            "The 'order' parameter of OrdinalBoostClassifier must name every class of y. It misses "
            f"{p.shown(missed[0])}. Got {p.shown(listed)}."
        )
    return np.array(places, dtype=np.int64)


def ordered_categories(y: Any) -> list[Any] | None:
    """The categories of y in their order, if y is a pandas or polars column that has one."""
    dtype = getattr(y, "dtype", None)
    ordered = getattr(dtype, "ordered", False) or type(dtype).__name__ == "Enum"
    return list(dtype.categories) if ordered and dtype is not None else None
