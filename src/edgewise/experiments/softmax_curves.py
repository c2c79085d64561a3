"""Geist's Figures 5 and 6: learning curves on shuffled data, with clean and with noisy labels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _geist, _verdict
from ._data import Split
from ._geist import ALGORITHMS, MH, SAMME, SOFTMAX
from ._types import Cell, Experiment, Finding, Outcome, Picture, Records, Scale, Table

SHUFFLES, ROUNDS = 25, 1000
ALMOST_ALWAYS = 0.75  # of the data sets
ENOUGH_SETS = 6  # to speak of it
MARKS = tuple(
    sorted({round(10 ** (k / 12)) for k in range(37)})
)  # 1 to 1000, evenly in the logarithm
COLOURS = {MH: "#2f6f9f", SAMME: "#5b8c3a", SOFTMAX: "#c4451c"}
PARTS = ("train", "test")
Curves = Mapping[str, NDArray[np.float64]]  # (shuffles, marks) by algorithm


def cells(noisy: bool) -> Callable[[Scale], list[Cell]]:
    """From cheap to expensive sets, shuffle by shuffle."""

    def of_scale(scale: Scale) -> list[Cell]:
        small = scale == "small"
        chosen = ("segment", "splice") if small else tuple(_geist.DATA_SETS)
        return [
            _cell(data, algorithm, shuffle, noisy, 100 if small else ROUNDS)
            for data in chosen
            for shuffle in range(2 if small else SHUFFLES)
            for algorithm in ALGORITHMS
        ]

    return of_scale


def _cell(data: str, algorithm: str, shuffle: int, noisy: bool, rounds: int) -> Cell:
    known = _geist.DATA_SETS[data]
    shape = (known.rows, known.columns, known.n_classes)
    return Cell(
        f"{data}/{algorithm}/shuffle={shuffle}",
        {"set": data, "algorithm": algorithm, "rounds": rounds, "noisy": noisy},
        data=known.source,
        seed=shuffle,
        effort=1.5 * _geist.effort(algorithm, rounds, *shape),
    )


def shuffled(data: Split, seed: int) -> Split:
    """All rows in random order, cut into parts of the same sizes."""
    order = np.random.default_rng(seed).permutation(len(data.y_train) + len(data.y_test))
    X = np.concatenate([data.X_train, data.X_test])[order]
    y = np.concatenate([data.y_train, data.y_test])[order]
    n = len(data.y_train)
    return Split(X[:n], y[:n], X[n:], y[n:])


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    assert data is not None
    p = cell.params
    rows = shuffled(data, cell.seed)
    y = _geist.exchanged(rows.y_train, cell.seed) if p["noisy"] else rows.y_train
    n_classes = int(data.y_train.max()) + 1
    model = _geist.build(p["algorithm"], n_classes, cell.seed, rounds=p["rounds"], threads=threads)
    model.fit(rows.X_train, y)
    return {
        "train": _curve(model, rows.X_train, y, p["rounds"]),
        "test": _curve(model, rows.X_test, rows.y_test, p["rounds"]),
    }


def _curve(model: Any, X: NDArray[Any], y: NDArray[np.int64], rounds: int) -> list[float]:
    """Error rates at the marks; where boosting had ended before, the last one."""
    wrong = _geist.wrong_by_round(model, X, y)
    marks = [mark for mark in MARKS if mark <= rounds]
    return [wrong[min(mark, len(wrong)) - 1] / len(y) for mark in marks]


def curves_of(records: Records, data: str, part: str) -> Curves:
    """The curves of all shuffles; an algorithm without any is left out."""
    found: dict[str, list[list[float]]] = {}
    for record in records.values():
        if record.params["set"] == data:
            found.setdefault(record.params["algorithm"], []).append(record.outcome[part])
    return {algorithm: np.array(curves) for algorithm, curves in found.items()}


def findings(noisy: bool) -> Callable[[Scale, Records], list[Finding]]:
    def of_records(scale: Scale, records: Records) -> list[Finding]:
        sets = dict.fromkeys(cell.params["set"] for cell in cells(noisy)(scale))
        ends = {part: list(_ends(records, list(sets), part)) for part in PARTS}
        found = [_training(ends["train"]), (_noisy if noisy else _clean)(ends["test"])]
        if scale == "small":
            return [_verdict.unjudged(finding) for finding in found]
        return found

    return of_records


def _ends(records: Records, sets: list[str], part: str) -> Iterator[dict[str, float]]:
    """Mean errors after the last round, for sets that all algorithms were run on."""
    for data in sets:
        curves = curves_of(records, data, part)
        if len(curves) == len(ALGORITHMS):
            yield {algorithm: float(curve[:, -1].mean()) for algorithm, curve in curves.items()}


def _training(ends: list[dict[str, float]]) -> Finding:
    lower = sum(max(end[MH], end[SAMME]) <= end[SOFTMAX] for end in ends)
    what = "the learning errors of AdaBoost.MH and SAMME end no higher than sm-boost's, on all sets"
    return _verdict.claim(
        what, lower == len(ends) if len(ends) >= ENOUGH_SETS else None, f"on {lower} of {len(ends)}"
    )


def _clean(ends: list[dict[str, float]]) -> Finding:
    lower = sum(min(end[MH], end[SAMME]) < end[SOFTMAX] for end in ends)
    what = "consistently lower test error of AdaBoost.MH or SAMME: on three quarters of the sets"
    holds = lower >= ALMOST_ALWAYS * len(ends) if len(ends) >= ENOUGH_SETS else None
    return _verdict.claim(what, holds, f"on {lower} of {len(ends)}")


def _noisy(ends: list[dict[str, float]]) -> Finding:
    lower = sum(end[SOFTMAX] < min(end[MH], end[SAMME]) for end in ends)
    what = "with noisy labels almost always the lowest test error: on three quarters of the sets"
    holds = lower >= ALMOST_ALWAYS * len(ends) if len(ends) >= ENOUGH_SETS else None
    return _verdict.claim(f"sm-boost has {what}", holds, f"on {lower} of {len(ends)}")


def tables(scale: Scale, records: Records) -> list[Table]:
    """Test errors after the last round, and the number of shuffles behind them."""
    rows = []
    for data in dict.fromkeys(record.params["set"] for record in records.values()):
        curves = curves_of(records, data, "test")
        shuffles = [len(curves.get(algorithm, ())) for algorithm in ALGORITHMS]
        cells_of = [_shown(curves[a][:, -1]) if a in curves else "-" for a in ALGORITHMS]
        rows.append([data, _range(shuffles), *cells_of])
    columns = ["data", "shuffles", *ALGORITHMS]
    title = "Test error in percent after the last round, mean and standard deviation"
    return [Table(title, columns, rows)] if rows else []


def _shown(errors: NDArray[np.float64]) -> str:
    spread = f" ± {100 * errors.std():.2f}" if len(errors) > 1 else ""
    return f"{100 * errors.mean():.2f}{spread}"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def pictures(noisy: bool) -> Callable[[Scale, Records], list[Picture]]:
    def of_records(scale: Scale, records: Records) -> list[Picture]:
        sets = list(dict.fromkeys(record.params["set"] for record in records.values()))
        if not sets:
            return []
        title = f"Learning curves, mean and standard deviation (Figure {6 if noisy else 5})"
        size = (8.0, 2.4 * len(sets))
        return [Picture("curves", title, lambda figure: _draw(figure, records, sets), size)]

    return of_records


def _draw(figure: Any, records: Records, sets: list[str]) -> None:
    axes = figure.subplots(len(sets), 2, squeeze=False)
    for row, data in zip(axes, sets, strict=True):
        for ax, part in zip(row, PARTS, strict=True):
            for algorithm, curves in curves_of(records, data, part).items():
                marks = MARKS[: curves.shape[1]]
                middle, spread = curves.mean(axis=0), curves.std(axis=0)
                colour = COLOURS[algorithm]
                ax.plot(marks, middle, color=colour, linewidth=1.2, label=algorithm)
                ax.fill_between(
                    marks, middle - spread, middle + spread, color=colour, alpha=0.2, linewidth=0
                )
            ax.set(xscale="log", xlabel="rounds", ylabel=f"{part}ing error", title=data)
            ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=8)


def _experiment(number: int, noisy: bool) -> Experiment:
    labels = "a fifth of the labels exchanged" if noisy else "clean labels"
    return Experiment(
        name=f"softmax-figure-{number}",
        item=f"Figure {number}",
        title=f"Learning curves of 25 shuffles, {labels} (Figure {number})",
        paper=_geist.PAPER,
        tolerance="The paper prints figures; the claims below are its statements about them.",
        cells=cells(noisy),
        run=run,
        findings=findings(noisy),
        tables=tables,
        pictures=pictures(noisy),
        remarks=("Curves have 36 points, evenly spaced in the logarithm of the round.",),
    )


EXPERIMENTS = [_experiment(5, False), _experiment(6, True)]
