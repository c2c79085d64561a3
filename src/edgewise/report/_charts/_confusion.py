"""The confusion matrix."""

from collections.abc import Sequence

import numpy as np

from .._inputs import Chart, Table
from ._spec import BLUE, CARD, INK, SIGNAL, Array, Spec, column, hint

DEEP = {True: 1.0, False: 0.3}  # the share of a class at which right and wrong cells are deepest
FEW = 16  # classes whose cells have room for numbers


def confusion_chart(counts: Array, names: Sequence[str]) -> Chart:
    """Return a matrix with correct predictions in blue and wrong ones in red, by their share."""
    few = len(names) <= FEW
    place = {"scale": {"domain": list(names)}, "sort": None}
    layers = [_cells(True, BLUE), _cells(False, SIGNAL)]
    spec = {
        "height": (32 if few else max(11, 560 // len(names))) * len(names),
        "data": {"values": _filled_cells(counts, names)},
        "encoding": {
            "x": column("said", "N", "predicted", axis={"labelAngle": -40}, **place),
            "y": column("true", "N", "true", **place),
            "tooltip": hint(
                ("true", "true"),
                ("said", "predicted"),
                ("count", "rows"),
                ("rate", "of the true class"),
                rate=".1%",
            ),
        },
        "layer": [*layers, _numbers()] if few else layers,
    }
    if max(map(len, names)) <= 3:
        spec["encoding"]["x"]["axis"] = {"labelAngle": 0}  # type: ignore[index]
    right = float(np.trace(counts) / (counts.sum() or 1.0))
    words = f"Confusion matrix of {len(names)} classes; {right:.1%} of the rows are on the diagonal"
    whole = counts.astype(int).tolist()
    table = Table(["true", *names], [[t, *r] for t, r in zip(names, whole, strict=True)])
    return Chart(spec, words, "Rows are true classes, columns predicted ones", table)


def _filled_cells(counts: Array, names: Sequence[str]) -> list[Spec]:
    of_class = counts.sum(axis=1, keepdims=True)
    rates = counts / np.where(of_class > 0, of_class, 1.0)
    cells = []
    for k, j in np.argwhere(counts > 0):
        right, rate = bool(k == j), float(rates[k, j])
        cell = {"true": names[k], "said": names[j], "count": float(counts[k, j]), "rate": rate}
        depth = 0.12 + 0.78 * min(1.0, rate / DEEP[right])
        cells.append({**cell, "right": right, "depth": round(depth, 3)})
    return cells


def _cells(right: bool, colour: Spec) -> Spec:
    return {
        "transform": [{"filter": {"field": "right", "equal": right}}],
        "mark": {"type": "rect", "color": colour, "cornerRadius": 3},
        "encoding": {"opacity": {"field": "depth", "type": "quantitative", "scale": None}},
    }


def _numbers() -> Spec:
    """In ink, on deep cells in the colour of the paper."""
    ink = {"condition": {"test": "datum.depth > 0.55", "value": CARD}, "value": INK}
    return {
        "mark": {"type": "text", "fontSize": 12},
        "encoding": {"text": column("count", "Q", format=",.5~r"), "color": ink},
    }
