"""Probabilities, confidence and margins."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..._tools.rounds import RoundMargins
from ...metrics import ReliabilityCurve, error_interval
from .._inputs import Cell, Chart, Table
from ._spec import BLUE, SIGNAL, SOFT, Array, Spec, colour_of, column, hint, told_apart

SHARE = {"scale": {"domain": [0, 1]}, "axis": {"tickCount": 6}}

# --- reliability -------------------------------------------------------------------------------


def reliability_chart(curves: Mapping[str, ReliabilityCurve], *, title: str) -> Chart:
    """Forecast against observed; a point per bin, as large as its share of the rows."""
    rows = [_bin(name, c, b) for name, c in curves.items() for b in range(len(c.count))]
    x = column("forecast", "Q", "probability forecast", **SHARE)
    y = column("observed", "Q", "share that is correct", **SHARE)
    who = told_apart(list(curves)) if len(curves) > 1 else {}
    line = {"type": "line", "strokeWidth": 1.4, "opacity": 0.7}
    layers = [
        _diagonal(x, y),
        {"mark": line, "encoding": {"x": x, "y": y, **who}},
        {"mark": "point", "encoding": {"x": x, "y": y, **_bin_looks(rows), **colour_of(who)}},
    ]
    if len(curves) == 1:  # intervals of several curves would hide each other
        layers.insert(1, _intervals(x, y))
    errors = "; ".join(f"{name}: {c.error:.4f}" for name, c in curves.items())
    words = f"Reliability diagram. Expected calibration error of {errors}."
    spec = {"height": 300, "data": {"values": rows}, "layer": layers}
    return Chart(spec, words, title, _bins_table(rows))


def _diagonal(x: Spec, y: Spec) -> Spec:
    ends = [{"forecast": v, "observed": v} for v in (0, 1)]
    mark = {"type": "line", "strokeDash": [4, 4], "strokeWidth": 1, "color": SOFT}
    return {"data": {"values": ends}, "mark": mark, "encoding": {"x": x, "y": y}}


def _intervals(x: Spec, y: Spec) -> Spec:
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    return {"mark": {"type": "rule", "opacity": 0.6}, "encoding": {"x": x, **ends}}


def _bin_looks(rows: list[Spec]) -> Spec:
    largest = max(r["share"] for r in rows)
    numbers = {name: ".3f" for name in ("forecast", "observed", "low", "high")}
    titles = {"name": "curve", "forecast": "forecast", "observed": "came true", "count": "rows"}
    titles |= {"low": "interval from", "high": "to"}
    return {
        "size": column(
            "share", "Q", scale={"domain": [0, largest], "range": [25, 260]}, legend=None
        ),
        "tooltip": hint(*titles.items(), **numbers),
    }


def _bin(name: str, curve: ReliabilityCurve, b: int) -> Spec:
    n, observed = int(curve.count[b]), float(curve.observed[b])
    low, high = error_interval(round(observed * n), n)
    ends = {"lower": float(curve.lower[b]), "upper": float(curve.upper[b])}
    forecast = {
        "forecast": float(curve.forecast[b]),
        "observed": observed,
        "low": low,
        "high": high,
    }
    return {"name": name, "count": n, "share": float(curve.weight[b]), **ends, **forecast}


def _bins_table(rows: list[Spec]) -> Table:
    shown = [
        [
            r["name"],
            f"{r['lower']:.3f} to {r['upper']:.3f}",
            r["forecast"],
            r["observed"],
            r["count"],
        ]
        for r in rows
    ]
    head = ["curve", "bin", "forecast", "came true", "rows"]
    return Table(head, shown, formats={"forecast": ".3f", "came true": ".3f"})


def confidence_chart(top: Array, right: NDArray[np.bool_]) -> Chart:
    """Return a chart of the largest probabilities of correct and of wrong predictions."""
    edges = np.linspace(0.0, 1.0, 11)
    names = [f"{low:.1f}–{high:.1f}" for low, high in zip(edges[:-1], edges[1:], strict=True)]
    counts = {
        kind: np.histogram(top[rows], edges)[0].tolist()
        for kind, rows in (("right", right), ("wrong", ~right))
    }
    rows = [
        {"bin": name, "name": kind, "count": n}
        for kind, of_bins in counts.items()
        for name, n in zip(names, of_bins, strict=True)
    ]
    colour = {"domain": list(counts), "range": [BLUE, SIGNAL]}
    scale = {"type": "symlog", "domainMin": 0}  # so that a few mistakes are visible
    powers = [0, *(10**k for k in range(9))]
    spec = {
        "height": 300,
        "data": {"values": rows},
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {
            "x": column("bin", "O", "probability of the predicted class", axis={"labelAngle": -40}),
            "xOffset": column("name", "N"),
            "y": column("count", "Q", "rows (logarithmic)", scale=scale, axis={"values": powers}),
            "color": column("name", "N", scale=colour, legend={"orient": "bottom", "title": None}),
            "tooltip": hint(("name", "predictions"), ("bin", "probability"), ("count", "rows")),
        },
    }
    words = (
        f"Histogram of the probability of the predicted class. Its mean is {top.mean():.3f}; "
        f"{right.mean():.3f} of the predictions are correct."
    )
    shown = [[name, *(counts[k][b] for k in counts)] for b, name in enumerate(names)]
    return Chart(
        spec, words, "Probability of the predictions", Table(["probability", *counts], shown)
    )


# --- margins -----------------------------------------------------------------------------------


def margin_chart(stages: Sequence[RoundMargins], *, title: str) -> Chart:
    """Cumulative distribution of the margins after several rounds."""
    names = [_stage_name(stage) for stage in stages]
    rows = [
        row for name, stage in zip(names, stages, strict=True) for row in _staircase(name, stage)
    ]
    x = column("margin", "Q", scale={"domain": [-1, 1]}, axis={"tickCount": 8})
    y = column("share", "Q", "share of rows with at most this margin", **SHARE)
    who = told_apart(names) if len(names) > 1 else {}
    titles = {"name": "after", "margin": "margin", "share": "rows at most that"}
    tooltip = hint(*titles.items(), margin=".3f", share=".1%")
    zero = {"type": "rule", "strokeDash": [3, 3], "color": SIGNAL}
    layers = [
        {"data": {"values": [{"margin": 0}]}, "mark": zero, "encoding": {"x": x}},
        {"mark": "line", "encoding": {"x": x, "y": y, **who, "tooltip": tooltip}},
    ]
    last = stages[-1].values
    words = (
        f"Cumulative distribution of the margins. At the end {np.mean(last <= 0):.2%} are not "
        f"positive and the median is {np.median(last):.3f}."
    )
    spec = {"height": 280, "data": {"values": rows}, "layer": layers}
    return Chart(spec, words, title, _margins_table(names, stages))


def _staircase(name: str, stage: RoundMargins) -> list[Spec]:
    shares = np.linspace(0.0, 1.0, 161)
    margins = np.quantile(stage.values, shares)
    return [
        {"name": name, "margin": round(float(m), 5), "share": round(float(share), 5)}
        for m, share in zip(margins, shares, strict=True)
    ]


def _margins_table(names: Sequence[str], stages: Sequence[RoundMargins]) -> Table:
    rows: list[list[Cell]] = [
        [name, float(np.mean(s.values <= 0)), float(np.median(s.values)), float(s.values[0])]
        for name, s in zip(names, stages, strict=True)
    ]
    formats = {"at most 0": ".2%", "median": ".3f", "smallest": ".3f"}
    return Table(["after", *formats], rows, formats=formats)


def _stage_name(stage: RoundMargins) -> str:
    if stage.round is None:
        return "the whole model"
    return "round 1" if stage.round == 1 else f"{stage.round} rounds"
