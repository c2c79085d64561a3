"""A section about decisions: what they cost, what thresholds change, and sets of classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data.targets import encode
from ..decide import ConformalSets, CostEstimate, cost_interval, decide_by_cost
from ..decide._costs import REJECTED, net_costs, paid
from ..decide._metrics import measured
from ..decide._offsets import decide_by_offsets
from ..metrics import error_interval
from ._evidence import Array, Evidence
from ._inputs import Cell, Section, Table

CLASSES = 200  # rows of a table
SIZES = 20

Codes = NDArray[np.intp]
Told = tuple[list[str], list[Table]]


def decisions_section(evidence: Evidence) -> Section | None:
    """Expected cost, what thresholds changed, coverage and sizes of sets, where they were asked."""
    decider = evidence.decider
    if decider is None or evidence.proba is None:
        return None
    truth = encode(evidence.classes, evidence.rows.y, "y").astype(np.intp)
    words: list[str] = []
    tables: list[Table] = []
    for asked, tell in (
        (decider.cost, _of_costs),
        (decider.metric, _of_thresholds),
        (decider.coverage, _of_sets),
    ):
        if asked is not None:
            more = tell(decider, evidence, evidence.proba, truth)
            words, tables = words + more[0], tables + more[1]
    return Section("Decisions", words, tables) if words else None


# --- costs --------------------------------------------------------------------------------------


def _of_costs(decider: Any, evidence: Evidence, proba: Array, truth: Codes) -> Told:
    said = decide_by_cost(proba, decider.cost, value=decider.value, reject_cost=decider.reject_cost)
    net = net_costs(decider.cost, decider.value, *proba.shape)
    rows = [
        _cost_row("least expected cost", _mean(paid(truth, said, net, decider.reject_cost))),
        _cost_row("most probable class", _mean(paid(truth, proba.argmax(axis=1), net, None))),
        _cost_row("least expected cost, out-of-fold training rows", decider.expected_cost_),
    ]
    words = [
        f"Decisions of least expected cost differ from the most probable class in "
        f"{_share(said != proba.argmax(axis=1))} of the held-out rows."
    ]
    if decider.reject_cost is not None:
        words.append(f"{_share(said == REJECTED)} of the rows are not decided.")
    caption = "Mean cost of a row, with its 95% interval"
    return words, [Table(["decisions", "mean cost", "from", "to"], rows, caption)]


def _mean(costs: Array) -> CostEstimate:
    if len(costs) > 1:
        return cost_interval(costs)
    return CostEstimate(float(costs[0]), -np.inf, np.inf)


def _cost_row(name: str, found: CostEstimate) -> list[Cell]:
    ends = (end if np.isfinite(end) else None for end in (found.low, found.high))
    return [name, found.mean, *ends]


# --- thresholds ---------------------------------------------------------------------------------


def _of_thresholds(decider: Any, evidence: Evidence, proba: Array, truth: Codes) -> Told:
    found = decider.offsets_
    plain, said = proba.argmax(axis=1), decide_by_offsets(proba, found.offsets)
    words = [_on_thresholds(decider, said != plain)]
    before, after = (
        measured(decider.metric, evidence.classes, truth, answers) for answers in (plain, said)
    )
    figures = Table(
        ["figure", "without thresholds", "with thresholds"],
        [[name, before[name], after[name]] for name in before],
        "On the held-out rows",
    )
    return words, [figures, _changes(evidence, truth, plain, said, found.offsets)]


def _on_thresholds(decider: Any, changed: NDArray[np.bool_]) -> str:
    found = decider.offsets_
    if not found.applied:
        return (
            f"Thresholds were fitted for {decider.metric} and are not used: out-of-fold rows do "
            "not show that they pay."
        )
    which = f"{_share(changed)} of the rows"
    return f"Thresholds for {decider.metric} change the prediction of {which}."


def _changes(evidence: Evidence, truth: Codes, plain: Codes, said: Codes, offsets: Array) -> Table:
    """Per class: what thresholds changed."""
    rows: list[list[Cell]] = []
    for k in range(min(len(evidence.classes), CLASSES)):
        own = truth == k
        pairs = [(int((answers == k).sum()), _recall(own, answers, k)) for answers in (plain, said)]
        (n_before, before), (n_after, after) = pairs
        rows.append([evidence.names[k], float(offsets[k]), n_before, n_after, before, after])
    head = ["class", "offset", "predicted without", "with", "recall without", "recall with"]
    formats = dict.fromkeys(head[4:], ".3f")
    return Table(head, rows, "Offsets of the logarithms of the probabilities", formats)


def _recall(own: NDArray[np.bool_], answers: Codes, k: int) -> float | None:
    return float((answers[own] == k).mean()) if own.any() else None


# --- sets ---------------------------------------------------------------------------------------


def _of_sets(decider: Any, evidence: Evidence, proba: Array, truth: Codes) -> Told:
    fitted: ConformalSets = decider.sets_
    sets = fitted.sets(proba)
    covered, sizes = sets[np.arange(len(truth)), truth], sets.sum(axis=1)
    low, high = error_interval(int((~covered).sum()), len(covered))
    words = [
        f"Sets of coverage {decider.coverage:.1%} contain the class of {covered.mean():.2%} of the "
        f"held-out rows (95% interval {1 - high:.2%} to {1 - low:.2%}). They have "
        f"{sizes.mean():.3g} classes on average."
    ]
    by_size: list[list[Cell]] = [
        [int(size), int((sizes == size).sum()), float(covered[sizes == size].mean())]
        for size in np.unique(sizes)[:SIZES]
    ]
    by_class: list[list[Cell]] = [
        [evidence.names[k], int(own.sum()), float(covered[own].mean()), float(sizes[own].mean())]
        for k in range(min(len(evidence.classes), CLASSES))
        if (own := truth == k).any()
    ]
    return words, [
        Table(["classes in the set", "rows", "covered"], by_size, "Sizes", {"covered": ".1%"}),
        Table(["class", "rows", "covered", "mean size"], by_class, "", {"covered": ".1%"}),
    ]


def _share(which: NDArray[np.bool_]) -> str:
    return f"{int(which.sum()):,} ({which.mean():.1%})"
