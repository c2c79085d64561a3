"""Adaptive base class: the round that ABC-MART and ABC-LogitBoost share.

Under the constraint sum_k F_ik = 0 the score of a base class b is minus the sum of the others. Then
(Li 2009, "Derivatives under sum-to-zero constraint")

    -dL/dF_k   = (r_ik - p_ik) - (r_ib - p_ib)
    d2L/dF_k^2 = p_ib (1 - p_ib) + p_ik (1 - p_ik) + 2 p_ib p_ik,

and a tree for class k moves F_k up and F_b down by the same step. The base class is the one whose
K - 1 trees lower the training loss most.

In this form trees (k | b) and (b | k) are the same step, because swapping the roles changes only
the sign of the gradient, and the Hessian is symmetric. An exhaustive search therefore grows K (K-1)
/ 2 trees.

Fast ABC-Boost (Li and Zhao 2022): only the `search` classes with the largest loss are tried, only
every `gap` + 1 rounds, and the first `warmup` rounds are boosting without a base class.
"""

from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .._boosting import footprint
from .._boosting.footprint import Size, TreeSize
from .._boosting.grower import Criterion, Engine, Tree
from .._ground import params as p
from .._ground.estimator import with_parameters
from .logistic import LogisticBooster

Search = int | Literal["exhaustive"]


class PlainRule(Protocol):
    """A round without a base class: MART's or LogitBoost's."""

    criterion: Criterion
    learning_rate: float

    def round(self, engine: Engine, m: int) -> list[Tree]: ...


class ABCRule:
    """One round: the K - 1 trees of the best base class."""

    stop_reason: str | None = None

    def __init__(
        self, plain: PlainRule, search: Search, gap: int, warmup: int, base_class: int
    ) -> None:
        self.plain = plain  # the algorithm without a base class: criterion, step, warm-up rounds
        self.search = search
        self.gap = gap
        self.warmup = warmup
        self.base_class = base_class

    def round(self, engine: Engine, m: int) -> list[Tree]:
        if m < self.warmup:
            self.base_class = -1
            return self.plain.round(engine, m)
        if engine.n_classes == 2:  # then ABC-Boost equals the plain algorithm
            self.base_class = 0
            return self.plain.round(engine, m)
        if (m - self.warmup) % (self.gap + 1) == 0 or self.base_class < 0:
            return self._search(engine)
        return self._trees(engine, [self.base_class])[self.base_class]

    def story(self) -> dict[str, float]:
        return {"base_class": self.base_class}

    def _search(self, engine: Engine) -> list[Tree]:
        trees = self._trees(engine, self._candidates(engine))
        loss = {b: engine.loss_after(trees[b]) for b in trees}
        self.base_class = min(loss, key=lambda b: (loss[b], b))
        return trees[self.base_class]

    def _candidates(self, engine: Engine) -> list[int]:
        """The classes with the largest loss sum_{y_i = k} -log p_ik, the lowest of equals first."""
        if self.search == "exhaustive":
            return list(range(engine.n_classes))
        worst = np.argsort(-engine.class_losses(), kind="stable")
        return sorted(int(k) for k in worst[: self.search])

    def _trees(self, engine: Engine, bases: list[int]) -> dict[int, list[Tree]]:
        """The K - 1 trees of each base class; a tree that two base classes share is grown once."""
        classes = range(engine.n_classes)
        moves = {b: [(min(k, b), max(k, b)) for k in classes if k != b] for b in bases}
        wanted = sorted({pair for pairs in moves.values() for pair in pairs})
        grown = engine.class_trees(wanted, self.plain.criterion, shrinkage=self.plain.learning_rate)
        tree = dict(zip(wanted, grown, strict=True))
        return {b: [tree[pair] for pair in pairs] for b, pairs in moves.items()}


@with_parameters
class ABCBooster(LogisticBooster):
    """Adds the search for the base class.

    Parameters
    ----------
    search : int or "exhaustive"
        Base classes tried in a search: that many of the classes with the largest loss, or all.
    gap : int
        Rounds between two searches, which keep the last base class.
    warmup : int
        Number of first rounds without a base class.
    """

    _rules: ClassVar[dict[str, p.Rule]] = LogisticBooster._rules | {
        "search": p.either(p.integer(1), p.one_of("exhaustive")),
        "gap": p.integer(0),
        "warmup": p.integer(0),
    }

    _state_elsewhere = "posterior"

    search: Search = 2
    gap: int = 5
    warmup: int = 0

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        pairs = size.K * (size.K - 1) / 2
        return footprint.posterior(size) + footprint.class_trees(size, tree, pairs)

    def _abc_rule(self, plain: PlainRule, history: dict[str, NDArray[Any]]) -> ABCRule:
        found = history.get("base_class", np.empty(0))
        last = int(found[-1]) if len(found) else -1
        return ABCRule(plain, self.search, self.gap, self.warmup, last)
