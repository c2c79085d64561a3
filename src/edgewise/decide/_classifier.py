"""Any classifier, and decisions fitted on its out-of-fold probabilities."""

import math
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._auto.folds import group_folds
from .._auto.held_out import group_numbers
from .._data import targets
from .._data.cross_fit import Examples, examples, held_out_probabilities
from .._data.weights import scaled
from .._ground import params as p
from .._ground.checks import check_proba
from .._ground.errors import InvalidDataError, InvalidParameterError
from ._conformal import ConformalSets
from ._costs import REJECTED, CostEstimate, cost_interval, decide_by_cost, net_costs, paid
from ._offsets import Offsets, decide_by_offsets, fit_offsets
from ._priors import adjust_priors, check_priors, estimate_priors

Array = NDArray[np.float64]


class DecisionClassifier(
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn is untyped
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Decisions by cost, metric, sets or priors from the probabilities of any classifier.

    Parameters
    ----------
    estimator : classifier
        Classifier with `predict_proba`.
    cost : array-like of shape (n_classes, n_classes) or None, default=None
        Cost of predicting class j (column) if class k is correct (row), classes sorted.
    value : array-like of shape (n_classes,) or None, default=None
        Value of a correct prediction for each class; needs `cost`.
    reject_cost : float or None, default=None
        Cost of not deciding; needs `cost`. Rows that are not decided get `reject_label`.
    reject_label : label, default='auto'
        Label of rows that are not decided. "auto" is "reject" among text labels, else -1.
    metric : str, tuple, callable or None, default=None
        Metric that thresholds are fitted for: "macro_f1", "balanced_accuracy", "accuracy",
        ("recall", class, least), or a function (y_true, y_pred) -> float, greater being better.
    coverage : float or None, default=None
        Probability that a set of `predict_sets` contains the true class.
    sets : {"lac", "aps", "raps"}, default='lac'
        Kind of prediction sets; see `ConformalSets`.
    class_conditional : bool, default=False
        Whether the coverage holds within every class.
    priors : array-like of shape (n_classes,) or None, default=None
        Class frequencies where the model is used. None: those of training. `adapt` estimates them.
    cv : int, splitter or iterable, default=5
        Folds of the out-of-fold probabilities. Not used if the fitted estimator has them, as
        `oof_proba_` (n_rows, n_classes).
    random_state : int, default=0
        Seed of the randomised sets.
    n_jobs : int or None, default=None
        Number of fits that run at once, as in joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    estimator_ : classifier
        The classifier, fitted to all rows.
    oof_proba_ : ndarray of shape (n_rows, n_classes)
        Out-of-fold probabilities, if decisions need them; NaN for rows that were not held out.
    offsets_ : Offsets
        Thresholds and their cross-fitted gain, with `metric`.
    expected_cost_ : CostEstimate
        Mean cost of the out-of-fold decisions, with `cost`.
    sets_ : ConformalSets
        The prediction sets, with `coverage`.
    class_prior_ : ndarray of shape (n_classes,)
        Class frequencies of training.
    priors_ : ndarray of shape (n_classes,) or None
        Class frequencies that probabilities are adjusted to.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> from edgewise.decide import DecisionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> cost = [[0, 1, 1], [1, 0, 1], [1, 9, 0]]
    >>> model = DecisionClassifier(MARTClassifier(n_estimators=10), cost=cost).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _rules: ClassVar[dict[str, p.Rule]] = {
        "estimator": p.classifier(),
        "cost": p.matrix_or_none(),
        "reject_cost": p.either(p.not_negative(), p.none()),
        "coverage": p.real(0.0, 1.0, high_open=True, none=True),
        "sets": p.one_of("lac", "aps", "raps"),
        "class_conditional": p.boolean(),
        "cv": p.either(
            p.integer(2),
            (
                lambda v: (
                    not isinstance(v, str) and (hasattr(v, "split") or hasattr(v, "__iter__"))
                ),
                "a splitter or an iterable of splits",
            ),
        ),
        "random_state": p.seed(),
        "n_jobs": p.n_jobs(),
    }

    def __init__(  # noqa: PLR0913 - scikit-learn's contract
        self,
        estimator: Any,
        *,
        cost: ArrayLike | None = None,
        value: ArrayLike | None = None,
        reject_cost: float | None = None,
        reject_label: Any = "auto",
        metric: Any = None,
        coverage: float | None = None,
        sets: Literal["lac", "aps", "raps"] = "lac",
        class_conditional: bool = False,
        priors: ArrayLike | None = None,
        cv: Any = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.value = value
        self.reject_cost = reject_cost
        self.reject_label = reject_label
        self.metric = metric
        self.coverage = coverage
        self.sets = sets
        self.class_conditional = class_conditional
        self.priors = priors
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    # --- fitting ----------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the classifier to rows X with labels y, and decisions to out-of-fold probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows, in a form that the classifier accepts.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights for the classifier, the metric and the expected cost. Prediction sets count
            every row of positive weight once.
        groups : array-like of shape (n_rows,), default=None
            Group of every row. Rows of a group are held out together: pass groups if their rows
            are alike, such as those of one patient. Splitters of scikit-learn get them, and so
            does a classifier whose `fit` accepts them.

        Returns
        -------
        self
            The fitted estimator.
        """
        p.check(type(self).__name__, self.get_params(deep=False), self._rules)
        self._need_one_rule()
        data = examples(X, y, sample_weight)
        data = data._replace(groups=group_numbers(groups, len(data.y)))
        classes = targets.classes_of(data.y[data.present()])
        targets.need_two_classes(classes, type(self).__name__)
        if self.cost is not None:
            net_costs(self.cost, self.value, len(data.y), len(classes))
        priors = None
        if self.priors is not None:
            priors = check_priors(self.priors, len(classes), "priors")
        if sample_weight is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise InvalidParameterError(
                "With sample_weight, the 'estimator' must accept it. Got "
                f"{self.estimator!r}, whose fit does not."
            )
        needed = any(asked is not None for asked in (self.cost, self.metric, self.coverage))
        cv = self._folds(data, classes) if needed else None
        fitted, proba = held_out_probabilities(
            self.estimator, data, classes, cv, n_jobs=self.n_jobs
        )
        self._forget()
        self.classes_, self.estimator_, self.priors_ = classes, fitted, priors
        self.class_prior_ = _frequencies(data, classes)
        self._reject_label = self._label_of_rejected(classes)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        if proba is not None:
            self._fit_decisions(data, proba)
        return self

    def _folds(self, data: Examples, classes: NDArray[Any]) -> Any:
        """`cv`, or splits that keep groups whole if `cv` is a number."""
        if data.groups is None or not isinstance(self.cv, Integral):
            return self.cv
        present = data.present()
        codes = targets.encode(classes, data.y[present], "y")
        names, groups = np.unique(data.groups[present], return_inverse=True)
        fold = group_folds(codes, groups, min(int(self.cv), len(names)), 0)
        return [(present[fold != f], present[fold == f]) for f in np.unique(fold)]

    def _forget(self) -> None:
        """Delete the attributes of an earlier fit."""
        for name in ("oof_proba_", "offsets_", "expected_cost_", "sets_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def _need_one_rule(self) -> None:
        if self.cost is not None and self.metric is not None:
            raise InvalidParameterError(
                "DecisionClassifier decides by 'cost' or by 'metric', not by both. Got both."
            )
        if self.cost is None and (self.value is not None or self.reject_cost is not None):
            raise InvalidParameterError(
                "The 'value' and 'reject_cost' parameters of DecisionClassifier need 'cost'. Got "
                "cost=None."
            )

    def _label_of_rejected(self, classes: NDArray[Any]) -> Any:
        if self.reject_cost is None:
            return None
        auto = isinstance(self.reject_label, str) and self.reject_label == "auto"
        label = ("reject" if classes.dtype.kind in "UO" else -1) if auto else self.reject_label
        if np.ndim(label) != 0:
            raise InvalidParameterError(
                "The 'reject_label' parameter of DecisionClassifier must be one value. Got "
                f"{label!r}."
            )
        if label in classes.tolist():
            raise InvalidParameterError(
                "The 'reject_label' parameter of DecisionClassifier must be none of the classes. "
                f"Got {label!r}."
            )
        return label

    def _fit_decisions(self, data: Examples, proba: Array) -> None:
        self.oof_proba_ = proba
        held = np.flatnonzero(~np.isnan(proba[:, 0]))
        chances, rows = proba[held], data.take(held)
        codes = targets.encode(self.classes_, rows.y, "y").astype(np.intp)
        if self.priors_ is not None:
            chances = adjust_priors(chances, self.class_prior_, self.priors_)
        if self.metric is not None:
            self.offsets_: Offsets = fit_offsets(
                chances, codes, self.metric, classes=self.classes_, sample_weight=rows.weights
            )
        if self.cost is not None:
            said = self._by_cost(chances)
            net = net_costs(self.cost, self.value, *chances.shape)
            costs = paid(codes, said, net, self.reject_cost)
            weights = np.ones(len(codes)) if rows.weights is None else rows.weights
            if self.priors_ is not None:  # rows count as often as in the new frequencies
                weights = weights * (self.priors_ / self.class_prior_)[codes]
            self.expected_cost_: CostEstimate = cost_interval(costs, sample_weight=weights)
        if self.coverage is not None:
            self.sets_: ConformalSets = ConformalSets(
                self.coverage,
                method=self.sets,
                class_conditional=self.class_conditional,
                seed=self.random_state,
            ).fit(chances, codes)

    def adapt(self, X: Any) -> Self:
        """Estimate the class frequencies of unlabelled rows and adjust probabilities to them.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Unlabelled rows. Thresholds and sets stay as they were fitted.

        Returns
        -------
        self
            The estimator.
        """
        check_is_fitted(self)
        self.priors_ = estimate_priors(self._raw(X), self.class_prior_)
        return self

    # --- prediction -------------------------------------------------------------------------

    def _raw(self, X: Any) -> Array:
        check_is_fitted(self)
        return check_proba(self.estimator_.predict_proba(X))

    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities, adjusted to `priors_` if these are set.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        chances = self._raw(X)
        if self.priors_ is None:
            return chances
        return adjust_priors(chances, self.class_prior_, self.priors_)

    def predict(self, X: Any, *, costs: ArrayLike | None = None) -> NDArray[Any]:
        """Predict labels: of least cost, by the fitted thresholds, or the most probable.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.
        costs : array-like of shape (n_rows, n_classes, n_classes), default=None
            A cost matrix for each row, in place of `cost`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        chances = self.predict_proba(X)
        if costs is not None and np.ndim(costs) != 3:
            raise InvalidParameterError(
                "costs must have a matrix for each row, (n_rows, n_classes, n_classes). Got shape "
                f"{np.shape(costs)}."
            )
        if costs is not None or self.cost is not None:
            return self._labels(self._by_cost(chances, costs))
        if self.metric is not None:
            return self._labels(decide_by_offsets(chances, self.offsets_.offsets))
        return self._labels(chances.argmax(axis=1))

    def _by_cost(self, chances: Array, costs: ArrayLike | None = None) -> NDArray[np.intp]:
        cost = self.cost if costs is None else costs
        assert cost is not None  # noqa: S101 - callers have looked
        return decide_by_cost(chances, cost, value=self.value, reject_cost=self.reject_cost)

    def _labels(self, said: NDArray[np.intp]) -> NDArray[Any]:
        if self.reject_cost is None:
            labels: NDArray[Any] = self.classes_[said]
            return labels
        known = np.append(self.classes_.astype(object), self._reject_label)
        kept = known[said]  # the place -1 is the last
        if self.classes_.dtype.kind == "O":
            return kept
        return np.array(
            kept.tolist(), dtype=np.result_type(self.classes_, np.array(known[REJECTED]))
        )

    def predict_sets(self, X: Any) -> NDArray[np.bool_]:
        """Compute the prediction set of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of bool of shape (n_rows, n_classes)
            Whether each class is in the set.
        """
        check_is_fitted(self)
        if self.coverage is None:
            raise InvalidDataError(
                "predict_sets needs thresholds: give DecisionClassifier a 'coverage' and fit it."
            )
        return self.sets_.sets(self.predict_proba(X))

    # --- scikit-learn's contract ------------------------------------------------------------

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing: weights are used here and by the classifier."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags


def _frequencies(data: Examples, classes: NDArray[Any]) -> Array:
    present = data.take(data.present())
    codes = targets.encode(classes, present.y, "y")
    if present.weights is None:
        return np.asarray(np.bincount(codes, minlength=len(classes)) / len(codes))
    weights, _ = scaled(present.weights)
    counts = np.array([math.fsum(weights[codes == k]) for k in range(len(classes))])
    return np.asarray(counts / math.fsum(counts))
