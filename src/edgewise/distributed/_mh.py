"""AdaBoost.MH with Hamming trees on blocks: what a block does, and the engine that drives it.

The weights over rows and labels sum to one over all blocks. Each block has their logarithms; every
round begins with requests for the largest one and for the sum of the exponentials.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._boosting.grower import Tree
from .._boosting.sampling import Draw, Draws
from .._families.coefficients import risk_of
from .._families.mh_bases import SMOOTHING
from .._ground import portable
from .._model.model import Model
from ..adaboost_mh import initial_weights
from ._block import Answer, Array, Block, Setting, State
from ._driver import Driver
from ._exact import exact_sum, rounded
from ._growth import grow_hamming_tree
from ._logistic import leaves_of


class Shares:
    """A block's signs and initial weights."""

    def __init__(self, block: Block, n_classes: int, options: dict[str, Any]) -> None:
        relevant = block.labels[:, np.newaxis] == np.arange(n_classes)
        self.signs = np.where(relevant, np.int8(1), np.int8(-1))
        n = len(block.labels)
        if block.weights is None:
            self.of_row = np.full(n, 1.0 / options["n_total"])
        else:
            self.of_row = block.weights / options["weight_sum"]
        self.present, self.absent = initial_weights(self.signs, self.of_row, options["initial"])


class MHState(State):
    """Margins of a block's rows and labels, the weights, and the tree that grows on them."""

    def __init__(self, block: Block, setting: Setting) -> None:
        super().__init__(block, setting)
        options = setting.options
        self._n_threads: int = options["n_threads"]
        shares = Shares(block, len(options["start"]), options)
        self._grower: Any = _core.HammingTreeBlock(
            block.data, shares.signs, shares.present, shares.absent
        )
        self._trees: list[Tree] = []

    def replay(self, trees: list[Tree], round_start: Array) -> None:
        for tree in trees:
            _core.route(self.block.data, tree, self._n_threads)
        self._grower.add(trees, self._n_threads)

    def logs(self) -> Answer:
        return Answer([], [np.array([self._grower.largest_log(self._n_threads)])])

    def exponentials(self, shift: float, unit: float) -> Answer:
        total = self._grower.exponentials(shift, unit, self._n_threads)
        return Answer([np.array([total])])

    def settle(self, shift: float, total: float, fine: float, loss_unit: float) -> Answer:
        log_risk = self._grower.settle(shift, total, self._n_threads)  # the same in all blocks
        largest, sizes = self._grower.sizes(fine)
        wrong = self._grower.hamming_sum(loss_unit, self._n_threads)
        return Answer([np.array([sizes, wrong])], [np.array([largest, log_risk])])

    def sizes(self, fine: float) -> Answer:
        largest, sizes = self._grower.sizes(fine)
        return Answer([np.array([sizes])], [np.array([largest])])

    def root(self, scale: _core.EdgeScale) -> Answer:
        return Answer([self._grower.begin(scale, self._n_threads)])

    def expand(self, expansions: Array) -> Answer:
        return Answer([self._grower.expand(expansions, self._n_threads)])

    def leaves(self, forest: dict[str, Array], fine: float) -> Answer:
        self._trees = _core.trees_on_bins(self.block.cuts, forest)
        sums = self._grower.leaf_sums(self._trees[0], fine, self._n_threads)
        return Answer([sums, self.covers(self._trees)])

    def vote_mass(self, votes: Array, unit: float) -> Answer:
        return Answer([np.array([self._grower.vote_mass_sum(votes, unit, self._n_threads)])])

    def add(self, values: Array, classes: Array) -> Answer:
        _core.set_leaves(self._trees[0], values, classes)
        self._grower.add(self._trees, self._n_threads)
        self._trees = []
        self.added = True
        return Answer()


class RemoteMHEngine(Driver):
    """The engine, grower and weights that the rule and the base learner of AdaBoost.MH use."""

    smoothing = SMOOTHING

    def __init__(self, *args: Any, heaviest: float, draws: Draws, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._draws = draws
        self.n_classes = len(self.options["start"])
        self._loss_unit = _core.sum_scale(self.n_rows * self.n_classes, heaviest)
        self._fresh = False
        self._fine = self._sizes = self._wrong = self._log_risk = 0.0
        self.signed_weights = None  # they are in the blocks
        self.grower = self.weights = self

    # --- as a grower ---

    def hamming_tree(self, signed_weights: None, m: int | None) -> Tree:
        self._refresh()
        negligible = self.options["limits"]["negligible"]
        scale = _core.EdgeScale(self.n_rows, self.n_classes, self._fine, self._sizes, negligible)
        draw = Draw() if m is None else self._draws.of_round(m)
        tree: Tree
        tree, sums = self.grown(grow_hamming_tree, draw, self.n_classes, scale)
        _core.set_edge_sums(tree, self.n_classes, self._fine, sums)
        return tree

    # --- as label weights ---

    @property
    def log_risk(self) -> float:
        self._refresh()
        return self._log_risk

    def hamming_loss(self, n_threads: int) -> float:
        self._refresh()
        return self._wrong / self._loss_unit

    def vote_mass(self, votes: NDArray[np.float64], n_threads: int) -> float:
        unit = _core.sum_scale(self.n_rows, 1.0)
        return float(self.trip(("vote_mass", votes, unit)).sums[0][0]) / unit

    # --- as an engine ---

    def add(self, items: list[Tree]) -> None:
        self.begin_round_after(items, ("add", *leaves_of(items[0])))
        self._fresh = False

    def replay(self, model: Model, X: Any) -> None:
        self.continue_from(model)
        self._fresh = False
        self.need_same_data()

    def loss(self) -> float:
        return risk_of(self.log_risk)

    def nothing_left(self, loss: float) -> bool:
        return False

    def _refresh(self) -> None:
        """Have the blocks scale their weights so that all sum to one."""
        if self._fresh:
            return
        shift = float(self.trip(("logs",)).peaks[0][0])
        unit = _core.sum_scale(self.n_rows * self.n_classes, 1.0)
        total = float(self.trip(("exponentials", shift, unit)).sums[0][0]) / unit
        fine = _core.edge_fine_unit(self.n_rows, self.n_classes, 1.0 / total)
        answer = self.trip(("settle", shift, total, fine, self._loss_unit))
        sizes, wrong = answer.sums[0]
        exact = _core.edge_fine_unit(self.n_rows, self.n_classes, float(answer.peaks[0][0]))
        if exact != fine:  # the largest weight was not that of the largest logarithm, by rounding
            sizes = self.trip(("sizes", exact)).sums[0][0]
        self._fine, self._sizes, self._wrong = exact, float(sizes) / exact, float(wrong)
        self._log_risk = float(answer.peaks[0][1])
        self._fresh = True


# --- facts about the initial weights --------------------------------------------------------------


def initial_facts(block: Block, n_classes: int, options: dict[str, Any]) -> Answer:
    """Exact sums for the link, as objects; the heaviest initial weight."""
    shares = Shares(block, n_classes, options)
    n_present = (shares.signs > 0).sum(axis=1)
    n_absent = n_classes - n_present
    sums = [
        exact_sum(shares.present * n_present),
        exact_sum(shares.of_row * n_present),
        exact_sum(shares.absent * n_absent),
        exact_sum(shares.of_row * n_absent),
    ]
    most = max((float(w.max(initial=0.0)) for w in (shares.present, shares.absent)), default=0.0)
    return Answer([np.array(sums, dtype=object)], [np.array([most])])


def log_odds(answer: Answer) -> float:
    """log(w+ / w-), see ``edgewise.adaboost_mh.log_odds_of_weights``."""
    present, share_present, absent, share_absent = map(rounded, answer.sums[0])
    return float(portable.log((present / share_present) / (absent / share_absent)))
