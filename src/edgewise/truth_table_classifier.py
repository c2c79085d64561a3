"""The best weighted vote of given classifiers, by the minimum of their truth table's risk.

For every class k the classifiers' answers "k" and "not k" to rows they were not fitted to make one
truth table (one table in all where there are two classes). The minimiser beta_k of its risk weighs
the answers to new rows:

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
from ._ground.errors import InvalidParameterError
from ._model.saved import Saved
from .lab.truth_table import Loss, Minimum, TruthTable, loss_of

Reals = NDArray[np.float64]

_MOST_CLASSIFIERS = 60
_ALL_CELLS = 10  # classifiers up to which kappa is about all cells; above, about occupied ones


class TruthTableClassifier(
    Saved,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn is untyped
    MetaEstimatorMixin,  # type: ignore[misc]
    _BaseComposition,  # type: ignore[misc]
):
    """The best weighted vote of given classifiers.

    Parameters
    ----------
    estimators : list of (name, classifier)
        At most 60. A classifier set to "drop" is left out.
    loss : {"exponential", "logistic"}, callable or Loss
        The convex loss phi whose risk is minimised.
    cv : int, splitter, iterable or "prefit"
        How the classifiers come to answer for rows they were not fitted to. An integer: that many
        folds, drawn by what the rows hold, so that neither their order nor a random state matters.
        "prefit": the classifiers are fitted already and answer for all rows given to `fit`, which
        should be other rows than those they have learned from.
    pseudo_count : float
        A table whose risk has no minimum, as where a classifier makes no error, gets so much more
        weight in both cells of every occupied pair.
    n_jobs : int or None
        Fits that run at once, as joblib counts.

    Attributes
    ----------
    classes_ : the class labels, sorted.
    estimators_, named_estimators_ : the classifiers, fitted to all rows.
    tables_ : one TruthTable for each class; of two classes, for the second.
    minima_ : their minima.
    beta_ : coefficients, (n_tables, n_classifiers).
    smoothed_ : for each table whether `pseudo_count` was needed.
    is_unique_ : for each table whether its minimiser is the only one.
    kappa_ : (n_tables, 2), computed when asked for: a certified lower and an upper bound of the
        stability margin; NaN where the minimiser is not unique.
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
        """Fits the classifiers to rows X with labels y, and the vote to their answers.

        Weights go to the classifiers and into the tables. Rows of weight zero are as good as
        absent.
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
        """The classifiers, fitted, and answers for rows that they, or others like them, had not
        been fitted to."""
        if isinstance(self.cv, str):
            for estimator in named.values():
                check_is_fitted(estimator)
            return list(named.values()), prefit_answers(named, data, classes, self.n_jobs)
        weighted = self._weighted(named, data.weights)
        return cross_fit(named, data, classes, self.cv, weighted=weighted, n_jobs=self.n_jobs)

    def _weighted(self, named: dict[str, Any], weights: Reals | None) -> dict[str, bool]:
        """Which classifiers are given the weights: all, or those that metadata routing names."""
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
        votes = [_signs(said, k) @ beta for k, beta in zip(self._asked(), self.beta_, strict=True)]
        return np.column_stack(votes)

    def _asked(self) -> Sequence[int]:
        return _asked_classes(len(self.classes_))

    def decision_function(self, X: Any) -> Reals:
        """Scores, (n_rows, n_classes); for two classes that of the second, (n_rows,)."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> Reals:
        """Class probabilities, (n_rows, n_classes)."""
        scores = self._scores(X)
        chances = self.loss_.link(scores)
        if chances.shape[1] == 1:
            return np.hstack([1.0 - chances, chances])
        total = chances.sum(axis=1, keepdims=True)
        even = np.full_like(chances, 1.0 / chances.shape[1])
        proba: Reals = np.divide(chances, total, out=even, where=total > 0)
        return proba

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the largest score; of two classes the second, if its score is positive."""
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
        """Parameters, with those of the classifiers if `deep`."""
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets parameters, whole classifiers by name, or their parameters as name__parameter."""
        self._set_params("estimators", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Weights are used here, and by those classifiers that request them."""
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
    """+1 where the answer is class k, else -1."""
    return np.where(codes == k, 1, -1).astype(np.int8)


def _tables(given: Answers, n_classes: int) -> list[TruthTable]:
    return [
        TruthTable.from_predictions(_signs(given.truth, k), _signs(given.said, k), given.weights)
        for k in _asked_classes(n_classes)
    ]
