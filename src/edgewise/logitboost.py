"""Robust LogitBoost (Li, UAI 2010, arXiv 1203.3491).

LogitBoost (Friedman, Hastie, Tibshirani 2000) fits trees by weighted least squares to the working
response (r - p) / (p (1 - p)) with weights p (1 - p). Li saw that the gain of a split never needs
that unstable quotient:

    Gain = [sum_L (r-p)]^2 / sum_L p(1-p)
         + [sum_R (r-p)]^2 / sum_R p(1-p)
         - [sum   (r-p)]^2 / sum   p(1-p)

so LogitBoost differs from MART only in the split criterion: second derivatives take part in it.
Deviations: those of MART.
"""

from typing import Any

from numpy.typing import NDArray

from ._boosting.grower import Criterion
from ._families.logistic import LogisticBooster
from ._ground.estimator import estimator
from .mart import MARTRule


class LogitBoostRule(MARTRule):
    """MART's round with Newton's gain."""

    criterion: Criterion = "newton"


@estimator
class LogitBoostClassifier(LogisticBooster):
    """Robust LogitBoost: K regression trees per round, grown on first and second derivatives.

    References
    ----------
    P. Li: "Robust LogitBoost and adaptive base class (ABC) LogitBoost", UAI 2010.
    https://arxiv.org/abs/1203.3491

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import LogitBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LogitBoostClassifier(n_estimators=20).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _short_name = "logitboost"
    _state_elsewhere = "posterior"

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> LogitBoostRule:
        return LogitBoostRule(self.learning_rate)
