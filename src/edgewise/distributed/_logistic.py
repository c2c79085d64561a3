"""The logistic family on blocks: what a block does (LogisticState), and the engine that drives it.

The engine has the methods of the local one (``edgewise._boosting.grower.Engine``), so that round
rules do not depend on the place of the rows. Its trees have no rows; blocks route their own.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._boosting.grower import NOTHING_LEFT, Criterion, Tree, grown
from .._boosting.sampling import Draw, Draws, just_above
from .._data.chance import uniforms
from .._model.model import Model, Scores
from ._block import Answer, Array, Block, Setting, State, Step
from ._driver import Driver
from ._growth import ClassTask, Learned, Sample, Targets, grow_class_trees, grow_pair_tree


class LogisticState(State):
    """Class probabilities of a block's rows, and the trees that grow on them."""

    def __init__(self, block: Block, setting: Setting) -> None:
        super().__init__(block, setting)
        options = setting.options
        self._n_total: int = options["n_total"]
        self._negligible: float = options["limits"]["negligible"]
        self._counted = options["limits"]["min_samples_leaf"] > 1  # a leaf must hold so many rows
        self._n_threads: int = options["n_threads"]
        self._loss_unit: float = options["loss_unit"]
        start, layout = options["start"], options["layout"]
        self.posterior = _core.Posterior(block.labels, block.weights, start, layout, part=True)
        block.settle(self.posterior)
        grower = _core.ClassTreesBlock if layout == "by_class" else _core.PairTreeBlock
        self._grower: Any = grower(block.data, self.posterior)
        if layout == "by_class":
            block.settle(self._grower)
        self._trees: list[Tree] = []
        self._sample: Sample | None = None
        self._drawn = Answer()  # rows drawn, the smallest of their numbers
        self._root_of: tuple[Any, ...] | None = None  # the roots of pair trees

    def replay(self, trees: list[Tree], round_start: Array) -> None:
        for tree in trees:
            _core.route(self.block.data, tree, self._n_threads)
        for first, last in zip(round_start[:-1], round_start[1:], strict=True):
            self.posterior.add(trees[first:last], self._n_threads)

    def _draw(self, sample: Sample | None) -> None:
        """Lets the trees learn from a sample of the rows."""
        if sample == self._sample:
            return
        self._sample, self._drawn = sample, Answer()
        if sample is None:
            self._grower.draw(None)
            return
        assert self.block.keys is not None
        numbers = uniforms(self.block.keys, sample.seed, sample.m)
        drawn = numbers < sample.below
        self._grower.draw(drawn.astype(np.uint8))
        self._drawn = Answer([np.array([drawn.sum()])], [-np.array([numbers.min(initial=1.0)])])

    # --- steps of class trees ---

    def facts(
        self, targets: Targets, criterion: Criterion, units: Array, sample: Sample | None
    ) -> Answer:
        self._draw(sample)
        largest, sums = self._grower.facts(targets, criterion, units, self._n_threads)
        return Answer([sums, *self._drawn.sums], [largest, *self._drawn.peaks])

    def roots(
        self,
        targets: Targets,
        criterion: Criterion,
        scales: Array,
        n_learned: int,
        sample: Sample | None,
    ) -> Answer:
        self._draw(sample)
        args = (scales, n_learned, self._negligible, self._n_threads)
        return Answer(list(self._grower.begin(targets, criterion, *args)))

    def expand(self, expansions: Array, sides: bool) -> Answer:
        return Answer(list(self._grower.expand(expansions, sides, self._n_threads)))

    def leaves(self, targets: Targets, scales: Array, forest: dict[str, Array]) -> Answer:
        self._trees = _core.trees_on_bins(self.block.cuts, forest)
        sums = self._grower.leaf_sums(targets, scales, self._trees, self._n_threads)
        return Answer([sums, self.covers(self._trees)])

    # --- steps of pair trees ---

    def root(self, largest: float, sample: Sample | None) -> Answer:
        if self._root_of == (largest, sample):  # done ahead, in the trip that closed the last round
            return Answer()
        self._root_of = (largest, sample)
        self._draw(sample)
        sums = self._grower.begin(self._n_total, largest, self._n_threads)
        peak = np.array([self._grower.largest(self._n_threads)])
        return Answer([sums, *self._drawn.sums], [peak, *self._drawn.peaks])

    def answer_pairs(self, vector: bool, *requests: Array) -> Answer:
        self._root_of = None  # its rows are parted from now on
        args = (vector, self._negligible, self._counted, self._n_threads)
        return Answer(list(self._grower.answer(*requests, *args)))

    def pair_leaves(self, forest: dict[str, Array], vector: bool, pairs: Array) -> Answer:
        self._root_of = None
        self._trees = _core.trees_on_bins(self.block.cuts, forest)
        sums = self._grower.leaf_sums(self._trees[0], vector, pairs, self._n_threads)
        return Answer([sums, self.covers(self._trees)])

    # --- steps of both ---

    def values(self, of_trees: list[tuple[Array, Array]]) -> Answer:
        """Return the moves of the last trees' leaves: values and classes, (n_leaves, width)."""
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
        """Return the losses of the classes and the result of the next step."""
        losses = _core.class_loss_sums(self.posterior, self._loss_unit, self._n_threads)
        answer = getattr(self, ahead[0])(*ahead[1:]) if ahead else Answer()
        return Answer([np.array(losses), *answer.sums], answer.peaks)


class LogisticEngine(Driver):
    """Grows trees from the sums of the blocks and lets them add the trees."""

    def __init__(self, *args: Any, total_weight: float, draws: Draws, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.n_rounds = 0
        self._draws = draws
        self.n_classes = len(self.options["start"])
        self._total_weight = total_weight
        self._grown: list[Tree] = []
        self._ahead: tuple[Any, ...] = ()  # the first step of the next round, foreseen
        self._foreseen: Answer | None = None  # its answer
        self._losses: Scores | None = None

    # --- for round rules ---

    def class_trees(
        self,
        targets: Sequence[tuple[int, int]],
        criterion: Criterion,
        *,
        shrinkage: float,
        factor: float = 1.0,
    ) -> list[Tree]:
        """See the local engine."""
        task = ClassTask(list(targets), criterion, factor, shrinkage)

        def grow(draw: Draw | None) -> list[Tree]:
            learned, scales = self._class_scales(task.targets, criterion, draw)
            trees: list[Tree] = self.grown(grow_class_trees, learned, task, scales)
            return trees

        return self._keep(grown(grow, self._drawn(), None))

    def _drawn(self) -> Draw | None:
        """Return the draws of this round; None: all rows and features."""
        return self._draws.of_round(self.n_rounds) if self._draws.draws else None

    def _sample(self, m: int) -> Sample | None:
        """The rows that round m draws; None: all."""
        share = self._draws.subsample
        return Sample(self._draws.seed, m, share) if share < 1.0 else None

    def _learned(
        self, draw: Draw | None, ask: Callable[[Sample | None], Answer]
    ) -> tuple[Learned, Answer]:
        """Return the rows to learn from, at least one, and the blocks' result about them."""
        sample = None if draw is None else self._sample(self.n_rounds)
        answer = ask(sample)
        draw = draw or Draw()
        if sample is None:
            return Learned(draw, None, self.n_rows), answer
        if answer.sums[-1][0] == 0:
            sample = sample._replace(below=just_above(-answer.peaks[-1][0]))
            answer = ask(sample)
        return Learned(draw, sample, int(answer.sums[-1][0])), answer

    def _first(self, step: Step) -> Answer:
        """Return the result of the first step of growing, which may be known already, once."""
        foreseen, self._foreseen = self._foreseen, None
        if foreseen is not None and _same(self._ahead, step):
            return foreseen
        return self.trip(step)

    def _class_scales(
        self, targets: Targets, criterion: Criterion, draw: Draw | None
    ) -> tuple[Learned, Array]:
        """Return the scales of the integer statistics, from their maxima and sums."""
        units = np.ones(2 * len(targets))
        if self._ahead[:3] == ("facts", targets, criterion):
            units = self._ahead[3]
        learned, answer = self._learned(
            draw, lambda sample: self._first(("facts", targets, criterion, units, sample))
        )
        wanted = _core.class_units(self.n_rows, answer.peaks[0])
        if not np.array_equal(wanted, units):
            answer = self.trip(("facts", targets, criterion, wanted, learned.sample))
        self._ahead = ("facts", targets, criterion, wanted, self._sample(self.n_rounds + 1))
        return learned, _core.class_scales(self.n_rows, answer.peaks[0], answer.sums[0])

    def pair_tree(self, leaf: Literal["pair", "vector"], shrinkage: float) -> Tree:
        """See the local engine."""

        def grow(draw: Draw | None) -> list[Tree]:
            learned, largest, sums = self._root_sums(draw)
            args = (learned, leaf == "vector", shrinkage, largest, sums)
            return [self.grown(grow_pair_tree, *args)]

        return self._keep(grown(grow, self._drawn(), None))[0]

    def _root_sums(self, draw: Draw | None) -> tuple[Learned, float, Array]:
        """The largest residual, and the sums of the rows learned from in its units."""
        foreseen = self._foreseen
        guess = self._ahead[1] if self._ahead[:1] == ("root",) else 1.0
        learned, answer = self._learned(draw, lambda sample: self._first(("root", guess, sample)))
        if answer is foreseen:
            self.note(("root", guess, learned.sample))  # for blocks that begin this round again
        largest = float(answer.peaks[0][0])
        if np.frexp(largest)[1] != np.frexp(guess)[1]:  # only the power of two matters
            answer = self.trip(("root", largest, learned.sample))
        self._ahead = ("root", largest, self._sample(self.n_rounds + 1))
        return learned, largest, answer.sums[0]

    def loss_after(self, trees: Sequence[Tree]) -> float:
        """Mean log loss if `trees` were added."""
        return self._mean(self.trip(("loss_after", self._places(trees))).sums[0][0])

    # --- for the loop ---

    def add(self, trees: Sequence[Tree]) -> None:
        """Have the blocks add the trees, in the trip that computes the loss."""
        which = self._places(trees)
        self.begin_round_after(list(trees), ("add", which))
        self._grown = []
        self._losses = self._foreseen = None
        self.n_rounds += 1

    def class_losses(self) -> Scores:
        """Each class's share of the mean log loss."""
        if self._losses is None:
            answer = self.trip(("survey", *self._ahead))
            self._losses = np.array([self._mean(loss) for loss in answer.sums[0]])
            self._foreseen = Answer(answer.sums[1:], answer.peaks) if self._ahead else None
        return self._losses

    def loss(self) -> float:
        """Mean log loss."""
        return float(self.class_losses().sum())

    def nothing_left(self, loss: float) -> bool:
        return loss < NOTHING_LEFT

    def replay(self, model: Model, X: Any) -> None:
        self.continue_from(model)
        self.n_rounds = model.n_rounds
        self.need_same_data()

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


def _same(one: Step, other: Step) -> bool:
    """Return whether two steps request the same."""
    return len(one) == len(other) and all(map(np.array_equal, one, other))


def leaves_of(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Values and classes, (n_leaves, width)."""
    return tree.values.reshape(-1, tree.width), tree.classes.reshape(-1, tree.width)
