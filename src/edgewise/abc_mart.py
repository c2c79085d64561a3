"""ABC-MART: MART with an adaptively chosen base class (Li, ICML 2009; algorithm 3 of the slides).

Trees are grown on the first derivatives with unit weights, leaves are

    beta_jk = sum_{R_j} g_ik / sum_{R_j} h_ik

with g and h under the sum-to-zero constraint (see ``_families.abc``) and without MART's factor
(K-1)/K. Deviations: those of MART; warm-up rounds keep the factor.
"""

from typing import Any

from numpy.typing import NDArray

from ._families.abc import ABCBooster, ABCRule
from .mart import MARTRule


class ABCMARTClassifier(ABCBooster):
    """ABC-MART: K - 1 regression trees a round against an adaptively chosen base class.

    See ``MARTClassifier`` for the parameters shared by all algorithms, and ``ABCBooster`` for
    `search`, `gap` and `warmup`. ``history_["base_class"]`` tells the base class of every round.
    """

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> ABCRule:
        return self._abc_rule(MARTRule(self.learning_rate), history)
