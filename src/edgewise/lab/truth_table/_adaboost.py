"""AdaBoost with given classifiers, as a path through their truth table.

Examples of one cell always have the same weight, so the weights of the cells are all there is. In
every round, with epsilon the weighted error of the chosen classifier:

    alpha = log((1 - epsilon) / epsilon)
    weights of the cells in which it is wrong *= exp(alpha), then all are normalised

which, up to the normalisation, is the slides' factor epsilon / (1 - epsilon) on the right ones, and
exp(-+ alpha/2) on right and wrong. The vote sign(sum alpha_t h_t) has coefficients
beta_j = sum of alpha_t / 2 over the rounds that chose j: then a round is an exact step of
coordinate descent on the exponential risk, and beta can be compared with its minimiser.

*Historical* (Freund and Schapire 1995): the weak learner hands over the classifiers in their given
order, again and again. *Greedy* (1998; scikit-learn with the classifiers as its base learner):
every round takes the one with the least weighted error.

Both end where the classifier at hand is no better than chance. With given classifiers that may well
be away from the minimiser: coefficients only grow, and one that has grown too much cannot be taken
back (the slides: the cost decreases, but beta does not converge to its minimum). With `negations`
the negated classifiers are there too, an error above a half gives a negative alpha, and greedy
boosting converges to the minimiser.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._pairs import Pairs, Reals

_TIE = 1e-12  # errors that differ by less are a tie, and the first classifier is taken


@dataclass(frozen=True)
class BoostingPath:
    """AdaBoost's rounds.

    Attributes
    ----------
    choices : the classifier of each round.
    errors : its weighted error epsilon; above a half where its negation was taken.
    alphas : log((1 - epsilon) / epsilon).
    betas : coefficients before the first and after each round, (n_rounds + 1, n_classifiers).
    risks : mean exponential risk of the same.
    stopped : why there are no more rounds.
    """

    choices: NDArray[np.intp]
    errors: Reals
    alphas: Reals
    betas: Reals
    risks: Reals
    stopped: str

    @property
    def beta(self) -> Reals:
        """The last coefficients."""
        last: Reals = self.betas[-1]
        return last


class _Round:
    """Weights of the cells, and the weighted errors of all classifiers."""

    def __init__(self, pairs: Pairs) -> None:
        patterns, counts = pairs.cells()
        self.wrong = (patterns < 0).T.astype(np.float64)  # (n_classifiers, n_cells)
        self.weights = counts / counts.sum()

    def errors(self) -> Reals:
        errors: Reals = self.wrong @ self.weights
        return errors

    def update(self, j: int, alpha: float) -> float:
        """Raises the weights of the cells in which j is wrong; returns the factor on the risk."""
        self.weights *= np.exp(alpha * self.wrong[j])
        total = float(self.weights.sum())
        self.weights /= total
        return total * float(np.exp(-0.5 * alpha))


def adaboost(
    pairs: Pairs, n_rounds: int, rule: str, *, reuse: bool, negations: bool
) -> BoostingPath:
    """Runs AdaBoost over the classifiers of a table."""
    state = _Round(pairs)
    n_classifiers = len(state.wrong)
    free = np.ones(n_classifiers, dtype=bool)
    choices: list[int] = []
    errors: list[float] = []
    betas, risks = [np.zeros(n_classifiers)], [1.0]
    stopped = f"{n_rounds} rounds were asked for"
    for t in range(n_rounds):
        if not free.any():
            stopped = "every classifier was used once"
            break
        now = state.errors()
        offered = np.minimum(now, 1.0 - now) if negations else now
        j = t % n_classifiers if rule == "historical" else _least(offered, free)
        reason = _useless(j, offered[j])
        if reason:
            stopped = reason
            break
        alpha = float(np.log((1.0 - now[j]) / now[j]))
        risks.append(risks[-1] * state.update(j, alpha))
        betas.append(betas[-1] + 0.5 * alpha * (np.arange(n_classifiers) == j))
        choices.append(j)
        errors.append(float(now[j]))
        free[j] = reuse
    epsilon = np.array(errors)
    return BoostingPath(
        choices=np.array(choices, dtype=np.intp),
        errors=epsilon,
        alphas=np.log((1.0 - epsilon) / epsilon),
        betas=np.array(betas),
        risks=np.array(risks),
        stopped=stopped,
    )


def _least(errors: Reals, free: NDArray[np.bool_]) -> int:
    """The first free classifier whose error is the least."""
    least = errors[free].min()
    return int(np.flatnonzero(free & (errors <= least + _TIE))[0])


def _useless(j: int, error: float) -> str:
    """Return why a classifier of this error ends boosting; empty if it does not."""
    if error <= _TIE:
        return f"classifier {j} makes no error: its coefficient would be infinite"
    if error >= 0.5 - _TIE:
        return f"classifier {j} is no better than chance: its weighted error is {error:.6g}"
    return ""
