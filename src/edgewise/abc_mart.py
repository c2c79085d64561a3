"""ABC-MART: MART with an adaptively chosen base class (Li, ICML 2009; algorithm 3 of the slides).

Trees are grown on the first derivatives with unit weights, leaves are

    beta_jk = sum_{R_j} g_ik / sum_{R_j} h_ik

with g and h under the sum-to-zero constraint (see ``_families.abc``) and without MART's factor
(K-1)/K. Deviations: those of MART; warm-up rounds keep the factor.
"""

from typing import Any

from numpy.typing import NDArray

from ._families.abc import ABCBooster, ABCRule
from ._ground.estimator import estimator
from .mart import MARTRule


@estimator
class ABCMARTClassifier(ABCBooster):
    """ABC-MART: K - 1 regression trees per round against an adaptively chosen base class.

    ``history_["base_class"]`` holds the base class of every round.

    References
    ----------
    P. Li: "ABC-Boost: adaptive base class boost for multi-class classification", ICML 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import ABCMARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ABCMARTClassifier(n_estimators=20).fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    >>> len(model.history_["base_class"])
    20
    """

    _short_name = "abc-mart"

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> ABCRule:
        return self._abc_rule(MARTRule(self.learning_rate), history)
