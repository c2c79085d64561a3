"""ABC-LogitBoost: robust LogitBoost with an adaptively chosen base class (Li, UAI 2010).

As ABC-MART, but second derivatives take part in the split gain: (sum g)^2 / sum h on both sides,
with g and h under the sum-to-zero constraint (see ``_families.abc``). Deviations: those of
ABC-MART.
"""

from typing import Any

from numpy.typing import NDArray

from ._families.abc import ABCBooster, ABCRule
from .logitboost import LogitBoostRule


class ABCLogitBoostClassifier(ABCBooster):
    """ABC-LogitBoost: K - 1 regression trees a round against an adaptively chosen base class.

    See ``MARTClassifier`` for the parameters shared by all algorithms, and ``ABCBooster`` for
    `search`, `gap` and `warmup`. ``history_["base_class"]`` tells the base class of every round.
    """

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> ABCRule:
        return self._abc_rule(LogitBoostRule(self.learning_rate), history)
