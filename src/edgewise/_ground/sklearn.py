"""The base classes of scikit-learn's classifiers, with types, which scikit-learn lacks.

Bases of unknown type would hide the parameters of an estimator from type checkers.
"""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...

    class ClassifierMixin:
        def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...
else:
    from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = ["BaseEstimator", "ClassifierMixin"]
