"""ABC-LogitBoost: robust LogitBoost with an adaptively chosen base class (Li, UAI 2010).

As ABC-MART, but second derivatives take part in the split gain: (sum g)^2 / sum h on both sides,
with g and h under the sum-to-zero constraint (see ``_families.abc``). Deviations: those of
ABC-MART.
"""

from typing import Any

from numpy.typing import NDArray

from ._families.abc import ABCBooster, ABCRule
from ._ground.estimator import estimator
from .logitboost import LogitBoostRule


@estimator
class ABCLogitBoostClassifier(ABCBooster):
    """ABC-LogitBoost: K - 1 trees per round against an adaptively chosen base class.

    Like ABC-MART, but second derivatives take part in the split gain. ``history_["base_class"]``
    holds the base class of every round.

    References
    ----------
    P. Li: "Robust LogitBoost and adaptive base class (ABC) LogitBoost", UAI 2010.
    https://arxiv.org/abs/1203.3491

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import ABCLogitBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ABCLogitBoostClassifier(n_estimators=20).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _short_name = "abc-logitboost"

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> ABCRule:
        return self._abc_rule(LogitBoostRule(self.learning_rate), history)
