"""MART: multiple additive regression trees for K classes.

Friedman (2001), in the form of Li's slides "ABC-Boost" (2009), algorithm MART. In round m, with
p_ik = exp(F_ik) / sum_s exp(F_is), for every class k:

    {R_jk}  = J-leaf regression tree to r_ik - p_ik              (split gain S^2 / n, unit weights)
    beta_jk = (K-1)/K  sum_{R_j} (r_ik - p_ik) / sum_{R_j} p_ik (1 - p_ik)
    F_ik   += nu beta_jk

Deviations: all K trees of a round see the probabilities at its start, as in Li's own program (the
slide recomputes them inside the loop over k); |beta| is clipped at 5; scores start at the centred
log priors unless ``init="zero"``. Two classes need one tree: the other is its negative.
"""

from typing import Any

from numpy.typing import NDArray

from ._boosting.grower import ALONE, Criterion, Engine, Tree
from ._families.logistic import LogisticBooster
from ._ground.estimator import estimator


class MARTRule:
    """One round: a tree for each class."""

    stop_reason: str | None = None

    criterion: Criterion = "least_squares"

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate

    def round(self, engine: Engine, m: int) -> list[Tree]:
        n_classes = engine.n_classes
        if n_classes == 2:  # moving class 1 against class 0 is the same step, (K-1)/K included
            return engine.class_trees([(1, 0)], self.criterion, shrinkage=self.learning_rate)
        return engine.class_trees(
            [(k, ALONE) for k in range(n_classes)],
            self.criterion,
            shrinkage=self.learning_rate,
            factor=(n_classes - 1) / n_classes,
        )

    def story(self) -> dict[str, float]:
        return {}


@estimator
class MARTClassifier(LogisticBooster):
    """MART: K regression trees per round, grown on first derivatives.

    References
    ----------
    J. H. Friedman: "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29 (2001), 1189-1232.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> MARTClassifier(n_estimators=20).fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _short_name = "mart"
    _state_elsewhere = "posterior"

    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> MARTRule:
        return MARTRule(self.learning_rate)
