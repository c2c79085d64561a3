"""The best weighted vote of given classifiers, by the minimum of their truth table's risk.

For every class k, the votes "k" and "not k" of the classifiers for rows they were not fitted to
form a truth table (a single one for two classes). The minimiser beta_k of its risk weighs the votes
for new rows:

    score_k(x) = sum_j beta_kj h_kj(x),    h_kj(x) = +1 if classifier j says k, else -1

The largest score wins. The loss's link makes probabilities of scores, which are normalised over the
classes. Once the tables are counted, nothing depends on the number of rows.

J. M. Brossier and O. Lafitte, "Supervised learning using truth tables", SIAM AN22 (2022); see
docs/truth_table_classifier.md.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, MetaEstimatorMixin, is_classifier
from sklearn.utils import Bunch, Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ._data import targets
from ._data.cross_fit import Answers, Codes, Examples, answers, cross_fit, examples, prefit_answers
from ._ground import params as p
from ._ground.documented import documented
from ._ground.errors import InvalidParameterError
from ._ground.sums import ordered_product
from ._ground.wording import hinting
from ._model.saved import Saved
from .lab.truth_table import Loss, Minimum, TruthTable, loss_of

Reals = NDArray[np.float64]

_MOST_CLASSIFIERS = 60
_ALL_CELLS = 10  # classifiers up to which kappa is about all cells; above, about occupied ones


@documented
@hinting
class TruthTableClassifier(
    Saved,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn is untyped
    MetaEstimatorMixin,  # type: ignore[misc]
    _BaseComposition,  # type: ignore[misc]
):
    """The best weighted vote of given classifiers.

    Parameters
    ----------
    estimators : list of (str, classifier)
        Classifiers by name, at most 60. A classifier set to "drop" is left out.
    loss : {"exponential", "logistic"}, callable or Loss
        Convex loss whose risk is minimised.
    cv : int, splitter, iterable or "prefit"
        Source of predictions for rows a classifier was not fitted to. An integer is a number of
        folds, drawn from the content of the rows, so that neither their order nor a random state
        matters. "prefit": the classifiers are already fitted and predict all rows passed to `fit`,
        which should not be the rows they were fitted to.
    pseudo_count : float
        Weight added to both cells of every occupied pair of a table whose risk has no minimum, as
        where a classifier makes no error.
    n_jobs : int or None
        Number of fits that run at once, as in joblib.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    estimators_ : list of classifiers
        The classifiers, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    n_features_in_ : int
        Number of features.
    tables_ : list of TruthTable
        One table per class; for two classes, one for the second.
    minima_ : list of Minimum
        Minimum of the risk of each table.
    beta_ : ndarray of shape (n_tables, n_classifiers)
        Coefficients of the vote.
    smoothed_ : ndarray of bool
        Whether `pseudo_count` was needed, for each table.
    is_unique_ : ndarray of bool
        Whether the minimiser is unique, for each table.
    kappa_ : ndarray of shape (n_tables, 2)
        Certified lower and upper bound of the stability margin, computed on access; NaN where the
        minimiser is not unique.

    References
    ----------
    J. M. Brossier, O. Lafitte: "Supervised learning using truth tables", SIAM AN22, 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from edgewise import MARTClassifier, TruthTableClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> named = [
    ...     ("mart", MARTClassifier(n_estimators=20)),
    ...     ("bayes", GaussianNB()),
    ...     ("logistic", LogisticRegression(max_iter=1000)),
    ... ]
    >>> TruthTableClassifier(named).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _rules: ClassVar[dict[str, p.Rule]] = {
        "cv": p.either(
            p.one_of("prefit"),
            p.integer(2),
            (
                lambda v: (
                    not isinstance(v, str) and (hasattr(v, "split") or hasattr(v, "__iter__"))
                ),
                "a splitter or an iterable of splits",
            ),
        ),
        "pseudo_count": p.real(0.0),
        "n_jobs": p.n_jobs(),
    }

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        loss: Any = "exponential",
        cv: Any = 5,
        pseudo_count: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.loss = loss
        self.cv = cv
        self.pseudo_count = pseudo_count
        self.n_jobs = n_jobs

    # --- fitting ----------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifiers to rows X with labels y, and the vote to their predictions.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows, in any form the classifiers accept.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, passed to the classifiers and used in the tables. Rows of weight
            zero count as absent.

        Returns
        -------
        self
            The fitted estimator.
        """
        p.check(type(self).__name__, self.get_params(deep=False), self._rules)
        named, loss = self._checked_estimators(), loss_of(self.loss)
        data = examples(X, y, sample_weight)
        classes = targets.classes_of(data.y[data.present()])
        targets.need_two_classes(classes, type(self).__name__)
        fitted, said = self._fit_and_answer(named, data, classes)
        tables = _tables(said, len(classes))
        smoothed = np.array([not table.existence.exists for table in tables])
        used = [
            t.smoothed(self.pseudo_count) if s else t for t, s in zip(tables, smoothed, strict=True)
        ]
        minima = [table.minimise(loss) for table in used]
        self._keep(named, fitted, classes)
        self.loss_: Loss = loss
        self.tables_: list[TruthTable] = tables
        self.smoothed_ = smoothed
        self.minima_: list[Minimum] = minima
        self.is_unique_ = np.array([minimum.unique for minimum in minima])
        self.beta_: Reals = np.array([minimum.beta for minimum in minima])
        self._used_tables = used
        self._kappa: Reals | None = None
        return self

    def _why_not_saved(self) -> str | None:
        return "its classifiers may be any library's"

    def _checked_estimators(self) -> dict[str, Any]:
        """The classifiers that take part, by name."""
        owner = type(self).__name__
        given = self.estimators
        if not isinstance(given, list | tuple) or not all(map(_is_named, given)):
            raise InvalidParameterError(
                f"The 'estimators' parameter of {owner} must be a list of pairs (name, classifier)."
                f" Got {given!r} instead."
            )
        self._validate_names([name for name, _ in given])
        taking_part = {name: e for name, e in given if not _dropped(e)}
        if not 1 <= len(taking_part) <= _MOST_CLASSIFIERS:
            raise InvalidParameterError(
                f"The 'estimators' parameter of {owner} must hold 1 to {_MOST_CLASSIFIERS} "
                f"classifiers that are not dropped. Got {len(taking_part)}."
            )
        for name, estimator in taking_part.items():
            if not is_classifier(estimator):
                raise InvalidParameterError(
                    f"The 'estimators' of {owner} must be classifiers. Got {name!r}: {estimator!r}."
                )
        return taking_part

    def _fit_and_answer(
        self, named: dict[str, Any], data: Examples, classes: NDArray[Any]
    ) -> tuple[list[Any], Answers]:
        """Return the fitted classifiers, and predictions for rows of models not fitted to them."""
        if isinstance(self.cv, str):
            for estimator in named.values():
                check_is_fitted(estimator)
            return list(named.values()), prefit_answers(named, data, classes, self.n_jobs)
        weighted = self._weighted(named, data.weights)
        return cross_fit(named, data, classes, self.cv, weighted=weighted, n_jobs=self.n_jobs)

    def _weighted(self, named: dict[str, Any], weights: Reals | None) -> dict[str, bool]:
        """Return the classifiers that get weights: all, or those that metadata routing names."""
        if weights is None:
            return dict.fromkeys(named, False)
        if sklearn.get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weights)
            return {name: "sample_weight" in routed[name]["fit"] for name in named}
        for name, estimator in named.items():
            if not has_fit_parameter(estimator, "sample_weight"):
                raise InvalidParameterError(
                    "With sample_weight, all 'estimators' must accept it (metadata routing makes "
                    f"exceptions possible). Got {name!r}: {estimator!r}, whose fit does not."
                )
        return dict.fromkeys(named, True)

    def _keep(self, named: dict[str, Any], fitted: list[Any], classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self.estimators_ = fitted
        by_name = dict(zip(named, fitted, strict=True))
        self.named_estimators_ = Bunch(
            **{name: by_name.get(name, "drop") for name, _ in self.estimators}
        )
        names = next((e.feature_names_in_ for e in fitted if hasattr(e, "feature_names_in_")), None)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    @property
    def n_features_in_(self) -> int:
        """Columns that the classifiers were fitted to."""
        check_is_fitted(self)
        return int(self.estimators_[0].n_features_in_)

    @property
    def kappa_(self) -> Reals:
        """Bounds of the stability margin of each table: how much the frequency of a cell may change
        before the vote changes on some answers of the classifiers.

        For up to 10 classifiers of all 2^M cells, above of the occupied ones, if they are not too
        many.
        """
        check_is_fitted(self)
        if self._kappa is None:
            self._kappa = np.array([self._stability(table) for table in self._used_tables])
        return self._kappa

    def _stability(self, table: TruthTable) -> tuple[float, float]:
        if not table.existence.unique:
            return np.nan, np.nan
        try:
            found = table.stability(
                self.loss_, cells="all" if table.n_classifiers <= _ALL_CELLS else "occupied"
            )
        except InvalidParameterError:  # too many cells
            return np.nan, np.nan
        return found.lower, found.upper

    # --- prediction -------------------------------------------------------------------------

    def _scores(self, X: Any) -> Reals:
        """(n_rows, n_tables)"""
        check_is_fitted(self)
        (X,) = indexable(X)
        said = np.column_stack([answers(e, X, self.classes_) for e in self.estimators_])
        votes = [
            ordered_product(_signs(said, k).astype(np.float64), beta[:, np.newaxis])
            for k, beta in zip(self._asked(), self.beta_, strict=True)
        ]
        return np.hstack(votes)

    def _asked(self) -> Sequence[int]:
        return _asked_classes(len(self.classes_))

    def decision_function(self, X: Any) -> Reals:
        """Compute the scores of rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Scores; for two classes that of the second.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Reals:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        scores = self._scores(X)
        chances = self.loss_.link(scores)
        if chances.shape[1] == 1:
            return np.hstack([1.0 - chances, chances])
        total = chances.sum(axis=1, keepdims=True)
        even = np.full_like(chances, 1.0 / chances.shape[1])
        proba: Reals = np.divide(chances, total, out=even, where=total > 0)
        return proba

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest score.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels; for two classes the second if its score is positive.
        """
        scores = self._scores(X)
        codes = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    # --- scikit-learn's contract ------------------------------------------------------------

    @property
    def named_estimators(self) -> Bunch:
        """The classifiers by name, as given."""
        return Bunch(**dict(self.estimators))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the classifiers.

        Returns
        -------
        dict
            Values by name.
        """
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, whole classifiers by name, or their parameters as ``name__parameter``.

        Parameters
        ----------
        params : dict
            Values by name.

        Returns
        -------
        self
            The estimator.
        """
        self._set_params("estimators", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing: weights are used here, and by the classifiers that request them."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, estimator in self.estimators:
            if not _dropped(estimator):
                mapping = MethodMapping().add(caller="fit", callee="fit")
                router.add(**{name: estimator}, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimators, list | tuple) and all(map(_is_named, self.estimators)):
            inner = [get_tags(e).input_tags for _, e in self.estimators if not _dropped(e)]
            tags.input_tags.allow_nan = all(t.allow_nan for t in inner)
            tags.input_tags.sparse = all(t.sparse for t in inner)
        return tags


def _is_named(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str)


def _dropped(estimator: Any) -> bool:
    return isinstance(estimator, str) and estimator == "drop"


# --- tables --------------------------------------------------------------------------------------


def _asked_classes(n_classes: int) -> Sequence[int]:
    """Classes that have a table: of two one is enough."""
    return [1] if n_classes == 2 else range(n_classes)


def _signs(codes: Codes, k: int) -> NDArray[np.int8]:
    """Return +1 where the prediction is class k, else -1."""
    return np.where(codes == k, 1, -1).astype(np.int8)


def _tables(given: Answers, n_classes: int) -> list[TruthTable]:
    return [
        TruthTable.from_predictions(_signs(given.truth, k), _signs(given.said, k), given.weights)
        for k in _asked_classes(n_classes)
    ]
