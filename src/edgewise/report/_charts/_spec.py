"""Pieces of specifications that all charts share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Spec = dict[str, Any]
Array = NDArray[np.float64]

SIGNAL, SOFT, INK, CARD, BLUE = ({"css": f"--{n}"} for n in "signal soft ink card c0".split())
HEIGHT = 250
POINTS = 300  # of a line; more cannot be seen


def column(name: str, kind: str, title: str | None = None, **more: Any) -> Spec:
    """An encoding of a field: kind is "Q" (numbers), "N" (names) or "O" (ordered names)."""
    kinds = {"Q": "quantitative", "N": "nominal", "O": "ordinal"}
    return {"field": name, "type": kinds[kind], "title": title or name, **more}


def hint(*fields: tuple[str, str], **formats: str) -> list[Spec]:
    """A tooltip of (field, title) pairs, with formats by field."""
    return [
        {"field": f, "title": t, **({"format": formats[f]} if f in formats else {})}
        for f, t in fields
    ]


def thinned(n: int, *keep: int | None, limit: int = POINTS) -> list[int]:
    """Return numbers below n with the first, the last and `keep`, not too many for a line."""
    if n <= limit:
        return list(range(n))
    spread = np.linspace(0, n - 1, limit).round().astype(int)
    return sorted({*spread.tolist(), *(k for k in keep if k is not None and 0 <= k < n)})


def told_apart(names: list[str]) -> Spec:
    """Return the encoding of lines by colour and by dashes, in the order of the names."""
    order = list(dict.fromkeys(names))
    dashes = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [10, 4], [1, 3], [6, 2, 1, 2]]
    marks = {"domain": order, "range": [dashes[i % len(dashes)] for i in range(len(order))]}
    legend = {"orient": "bottom", "title": None, "columns": 2, "symbolType": "stroke"}
    return {
        "color": column("name", "N", scale={"domain": order}, legend=legend),
        "strokeDash": column("name", "N", scale=marks, legend=legend),
    }


def colour_of(who: Spec) -> Spec:
    return {"color": who["color"]} if who else {}
