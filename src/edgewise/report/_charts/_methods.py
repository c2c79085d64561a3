"""Charts that compare methods."""

import math
from collections.abc import Sequence

from .._inputs import Chart, MethodResult
from ._spec import BLUE, CARD, SOFT, Spec, column, hint

PERCENT = {"format": ".1%", "tickCount": 6}


def methods_chart(results: Sequence[MethodResult]) -> Chart:
    """Error of every method with its interval; the errors of the folds as small ticks."""
    folds = [
        {"method": r.method, "error": float(e), "fold": i + 1}
        for r in results
        for i, e in enumerate(r.fold_errors)
    ]
    y = column("method", "N", sort=None, scale={"domain": [r.method for r in results]})
    x = column("error", "Q", scale={"zero": False}, axis=PERCENT)
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    of_method = hint(
        ("method", "method"),
        ("error", "error"),
        ("low", "interval from"),
        ("high", "to"),
        error=".2%",
        low=".2%",
        high=".2%",
    )
    of_fold = hint(("method", "method"), ("fold", "fold"), ("error", "error"), error=".2%")
    tick = {"type": "tick", "color": SOFT, "opacity": 0.6, "thickness": 1.5}
    layers: list[Spec] = [
        {"mark": {"type": "rule", "strokeWidth": 2.5, "color": BLUE}, "encoding": ends},
        {
            "mark": {"type": "point", "size": 100, "stroke": CARD},
            "encoding": {"x": x, "y": y, "tooltip": of_method},
        },
    ]
    if folds:
        ticks = {"x": x, "y": y, "tooltip": of_fold}
        layers.insert(0, {"data": {"values": folds}, "mark": tick, "encoding": ticks})
    values = [_row(r) for r in results]
    height = max(28 * len(results), min(300, 46 * len(results)))
    spec = {"height": height, "data": {"values": values}, "layer": layers}
    first = results[0]
    words = f"Error of {len(results)} methods with intervals; {first.method}: {first.error:.2%}."
    return Chart(spec, words, "Error with its interval" + ("; ticks: folds" if folds else ""))


def _row(result: MethodResult) -> Spec:
    low, high = result.interval or (result.error, result.error)
    return {"method": result.method, "error": result.error, "low": low, "high": high}


def time_chart(results: Sequence[MethodResult]) -> Chart | None:
    """Return a chart of error against fit time; None if the times are unknown."""
    timed = [r for r in results if r.fit_seconds is not None and r.fit_seconds > 0]
    if not timed:
        return None
    seconds = column(
        "seconds",
        "Q",
        "seconds to fit",
        scale={"type": "log", "padding": 40},
        axis={"tickCount": 5, "format": "~r", "grid": False},
    )
    error = column("error", "Q", scale={"zero": False, "padding": 20}, axis=PERCENT)
    tooltip = hint(
        ("method", "method"),
        ("error", "error"),
        ("seconds", "seconds to fit"),
        error=".2%",
        seconds=".3",
    )
    values = _placed(timed)
    sides = {row["side"] for row in values}  # a layer without rows has no place on the axes
    labels = [_labels(side, dy) for side, dy in (("above", -11), ("below", 13)) if side in sides]
    points = {"mark": {"type": "point", "size": 80}, "encoding": {"tooltip": tooltip}}
    spec = {
        "height": 300,
        "data": {"values": values},
        "encoding": {"x": seconds, "y": error},
        "layer": [points, *labels],
    }
    words = "Scatter plot: error of each method against the time of a fit."
    return Chart(spec, words, "Error and time")


def _labels(side: str, dy: int) -> Spec:
    mark = {"type": "text", "align": "center", "dy": dy, "fontSize": 11.5, "color": SOFT}
    return {
        "transform": [{"filter": {"field": "side", "equal": side}}],
        "mark": mark,
        "encoding": {"text": column("method", "N")},
    }


def _placed(timed: Sequence[MethodResult]) -> list[Spec]:
    """Points with a name above or below, or none where it would cover another; see the tooltip."""
    places = [(math.log10(r.fit_seconds or 1.0), r.error) for r in timed]
    width, height = (max(1e-9, max(of) - min(of)) for of in zip(*places, strict=True))
    taken: list[tuple[float, float]] = []  # middles of names, in shares of the chart
    rows = []
    for r, (x, y) in zip(timed, places, strict=True):
        row = {"method": r.method, "error": r.error, "seconds": r.fit_seconds, "side": "none"}
        for side, shift in (("above", 0.04), ("below", -0.05)):
            spot = (x / width, y / height + shift)
            if all(abs(spot[0] - a) > 0.28 or abs(spot[1] - b) > 0.05 for a, b in taken):
                taken.append(spot)
                row["side"] = side
                break
        rows.append(row)
    return rows
