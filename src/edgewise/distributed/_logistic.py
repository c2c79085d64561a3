"""The logistic family on blocks: what a block does (LogisticState), and the engine that drives it.

The engine has the methods of the local one (``edgewise._boosting.grower.Engine``), so that the
round rules do not know where the rows are. Its trees have no rows; the blocks route theirs.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._boosting.grower import NOTHING_LEFT, Criterion, Tree
from .._model.model import Model, Scores
from ._block import Answer, Array, Block, Setting, State
from ._driver import Driver
from ._growth import Targets, grow_class_trees, grow_pair_tree


class LogisticState(State):
    """Class probabilities of a block's rows, and the trees that grow on them."""

    def __init__(self, block: Block, setting: Setting) -> None:
        super().__init__(block, setting)
        options = setting.options
        self._n_total: int = options["n_total"]
        self._negligible: float = options["negligible"]
        self._counted = options["limits"][2] > 1  # a leaf must hold so many rows
        self._n_threads: int = options["n_threads"]
        self._loss_unit: float = options["loss_unit"]
        start, by_class = options["start"], options["by_class"]
        self.posterior = _core.Posterior(block.labels, block.weights, start, by_class)
        grower = _core.ClassTreesBlock if by_class else _core.PairTreeBlock
        self._grower: Any = grower(block.data, self.posterior)
        self._trees: list[Tree] = []
        self._root_of: float | None = None  # the largest residual that pair trees are begun with

    def replay(self, trees: list[Tree], round_start: Array) -> None:
        for tree in trees:
            _core.route(self.block.data, tree, self._n_threads)
        for first, last in zip(round_start[:-1], round_start[1:], strict=True):
            self.posterior.add(trees[first:last], self._n_threads)

    # --- steps of class trees ---

    def facts(self, targets: Targets, newton: bool, units: Array) -> Answer:
        largest, sums = self._grower.facts(targets, newton, units, self._n_threads)
        return Answer([sums], [largest])

    def roots(self, targets: Targets, newton: bool, scales: Array) -> Answer:
        args = (scales, self._n_total, self._negligible, self._n_threads)
        return Answer(list(self._grower.begin(targets, newton, *args)))

    def expand(self, expansions: Array) -> Answer:
        return Answer(list(self._grower.expand(expansions, self._n_threads)))

    def leaves(self, targets: Targets, scales: Array, forest: dict[str, Array]) -> Answer:
        self._trees = _core.trees_on_bins(self.block.cuts, forest)
        sums = self._grower.leaf_sums(targets, scales, self._trees, self._n_threads)
        return Answer([sums, self.covers(self._trees)])

    # --- steps of pair trees ---

    def root(self, largest: float) -> Answer:
        if self._root_of == largest:  # done ahead, in the trip that closed the last round
            return Answer()
        self._root_of = largest
        sums = self._grower.begin(self._n_total, largest, self._n_threads)
        return Answer([sums], [np.array([self._grower.largest(self._n_threads)])])

    def answer_pairs(self, *requests: Array) -> Answer:
        args = (self._negligible, self._counted, self._n_threads)
        return Answer(list(self._grower.answer(*requests, *args)))

    def pair_leaves(self, forest: dict[str, Array], pairs: Array) -> Answer:
        self._trees = _core.trees_on_bins(self.block.cuts, forest)
        args = (pairs, self._n_total, self._n_threads)
        sums = self._grower.leaf_sums(self._trees[0], *args)
        return Answer([sums, self.covers(self._trees)])

    # --- steps of both ---

    def values(self, of_trees: list[tuple[Array, Array]]) -> Answer:
        """What the leaves of the trees grown last move: values and classes, (n_leaves, width)."""
        for tree, (values, classes) in zip(self._trees, of_trees, strict=True):
            _core.set_leaves(tree, values, classes)
        return Answer()

    def loss_after(self, which: list[int]) -> Answer:
        trees = [self._trees[t] for t in which]
        loss = _core.loss_sum_after(self.posterior, trees, self._loss_unit, self._n_threads)
        return Answer([np.array([loss])])

    def add(self, which: list[int]) -> Answer:
        self.posterior.add([self._trees[t] for t in which], self._n_threads)
        self._trees = []
        self._root_of = None
        self.added = True
        return Answer()

    def survey(self, *ahead: Any) -> Answer:
        """Losses of the classes; and the answer to the step that will come next."""
        losses = _core.class_loss_sums(self.posterior, self._loss_unit, self._n_threads)
        answer = getattr(self, ahead[0])(*ahead[1:]) if ahead else Answer()
        return Answer([np.array(losses), *answer.sums], answer.peaks)


class LogisticEngine(Driver):
    """Grows trees from the sums of the blocks and lets them add the trees."""

    def __init__(self, *args: Any, total_weight: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.n_classes = len(self.options["start"])
        self._total_weight = total_weight
        self._grown: list[Tree] = []
        self._ahead: tuple[Any, ...] = ()  # the first step of the next round, foreseen
        self._foreseen: Answer | None = None  # its answer
        self._losses: Scores | None = None

    # --- what round rules ask ---

    def class_trees(
        self,
        targets: Sequence[tuple[int, int]],
        criterion: Criterion,
        *,
        shrinkage: float,
        factor: float = 1.0,
    ) -> list[Tree]:
        """See the local engine."""
        targets, newton = list(targets), criterion == "newton"
        scales = self._class_scales(targets, newton)
        trees, sums = self.grown(grow_class_trees, targets, newton, scales)
        _core.set_class_leaves(trees, targets, scales, sums, factor, shrinkage)
        return self._keep(trees)

    def _class_scales(self, targets: Targets, newton: bool) -> Array:
        """How statistics become integers, from the largest of them and from their sums."""
        foreseen = self._ahead
        if self._foreseen is not None and foreseen[:3] == ("facts", targets, newton):
            units, answer = foreseen[3], self._foreseen
        else:
            units = np.ones(2 * len(targets))
            answer = self.trip(("facts", targets, newton, units))
        wanted = _core.class_units(self.n_rows, answer.peaks[0])
        if not np.array_equal(wanted, units):
            answer = self.trip(("facts", targets, newton, wanted))
        self._ahead = ("facts", targets, newton, wanted)
        return _core.class_scales(self.n_rows, answer.peaks[0], answer.sums[-1])

    def pair_tree(self, leaf: Literal["pair", "vector"], shrinkage: float) -> Tree:
        """See the local engine."""
        largest, sums = self._root_sums()
        rows = (self.n_classes, leaf == "vector", self.n_rows, largest, sums)
        tree, pairs, leaf_sums = self.grown(grow_pair_tree, *rows)
        _core.set_pair_leaves(tree, self.n_classes, pairs, leaf_sums, shrinkage)
        return self._keep([tree])[0]

    def _root_sums(self) -> tuple[float, Array]:
        """The largest residual, and the sums of all rows in its units."""
        if self._foreseen is not None and self._ahead[:1] == ("root",):
            guess, answer = self._ahead[1], self._foreseen
            self.note(("root", guess))  # for those who begin this round anew
        else:
            guess = 1.0
            answer = self.trip(("root", guess))
        largest = float(answer.peaks[0][0])
        if np.frexp(largest)[1] != np.frexp(guess)[1]:  # only the power of two matters
            answer = self.trip(("root", largest))
        self._ahead = ("root", largest)
        return largest, answer.sums[-1]

    def loss_after(self, trees: Sequence[Tree]) -> float:
        """Mean log loss if `trees` were added."""
        return self._mean(self.trip(("loss_after", self._places(trees))).sums[0][0])

    # --- what the loop asks ---

    def add(self, trees: Sequence[Tree]) -> None:
        """Lets the blocks add the trees, in the trip that asks for the loss."""
        which = self._places(trees)
        self.begin_round_after(list(trees), ("add", which))
        self._grown = []
        self._losses = self._foreseen = None

    def class_losses(self) -> Scores:
        """Each class's share of the mean log loss."""
        if self._losses is None:
            answer = self.trip(("survey", *self._ahead))
            self._losses = np.array([self._mean(loss) for loss in answer.sums[0]])
            self._foreseen = answer if self._ahead else None
        return self._losses

    def loss(self) -> float:
        """Mean log loss."""
        return float(self.class_losses().sum())

    def nothing_left(self, loss: float) -> bool:
        return loss < NOTHING_LEFT

    def replay(self, model: Model, X: Any) -> None:
        self.continue_from(model)

    # ---

    def _mean(self, loss: Any) -> float:
        return float(loss) / float(self.options["loss_unit"]) / self._total_weight

    def _keep(self, trees: list[Tree]) -> list[Tree]:
        self._grown = trees
        self.note(("values", [leaves_of(tree) for tree in trees]))
        self._foreseen = None
        return trees

    def _places(self, trees: Sequence[Tree]) -> list[int]:
        """Of trees among those grown last."""
        return [next(i for i, own in enumerate(self._grown) if own is tree) for tree in trees]


def leaves_of(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Values and classes, (n_leaves, width)."""
    return tree.values.reshape(-1, tree.width), tree.classes.reshape(-1, tree.width)
