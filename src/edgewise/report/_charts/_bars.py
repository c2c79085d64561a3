"""Bars, heat maps and histograms."""

from collections.abc import Mapping, Sequence

import numpy as np

from .._inputs import Chart, Table
from ._spec import (
    BLUE,
    CARD,
    Array,
    column,
    hint,
)


def bars_chart(
    values: Mapping[str, float], *, title: str, of: str, what: str, how: str = ".3"
) -> Chart:
    """Bars from left to right, with a number at the end of each, in the given order."""
    rows = [{"name": name, "value": float(v)} for name, v in values.items()]
    y = column("name", "N", what, sort=None, scale={"domain": list(values)})
    x = column("value", "Q", of, axis={"tickCount": 5, "grid": True})
    words = {"type": "text", "align": "left", "dx": 4, "fontSize": 11.5}
    spec = {
        "height": 21 * len(rows),
        "data": {"values": rows},
        "encoding": {"y": y, "x": x},
        "layer": [
            {
                "mark": {"type": "bar", "cornerRadiusEnd": 2},
                "encoding": {"tooltip": hint(("name", what), ("value", of), value=how)},
            },
            {"mark": words, "encoding": {"text": column("value", "Q", format=how)}},
        ],
    }
    top = next(iter(values), "none")
    table = Table([what, of], [[name, float(v)] for name, v in values.items()])
    return Chart(spec, f"Bar chart: {of} by {what}, {top} first.", title, table)


def grouped_bars_chart(
    groups: Mapping[str, Mapping[str, float]], *, title: str, of: str, what: str
) -> Chart:
    """Return a bar for each name and group, as a share of the group."""
    rows = [
        {"name": name, "group": group, "value": float(v)}
        for group, values in groups.items()
        for name, v in values.items()
    ]
    names = list(dict.fromkeys(str(r["name"]) for r in rows))
    legend = {"orient": "bottom", "title": None}
    spec = {
        "height": max(22, 11 * len(groups) + 4) * len(names),
        "data": {"values": rows},
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {
            "y": column("name", "N", what, sort=None, scale={"domain": names}),
            "yOffset": column("group", "N", sort=None),
            "x": column("value", "Q", of, axis={"format": "%", "tickCount": 5}),
            "color": column("group", "N", sort=None, legend=legend),
            "tooltip": hint(("name", what), ("group", "rows"), ("value", of), value=".2%"),
        },
    }
    table = Table(
        [what, *groups],
        [[name, *(g.get(name) for g in groups.values())] for name in names],
        formats=dict.fromkeys(groups, ".2%"),
    )
    return Chart(spec, f"Bar chart: {of} by {what}.", title, table)


def heat_chart(
    values: Array, rows: Sequence[str], columns: Sequence[str], *, title: str, of: str
) -> Chart:
    """Return a heat map of numbers, (rows, columns)."""
    data = [
        {"row": r, "column": c, "value": float(values[i, j])}
        for i, r in enumerate(rows)
        for j, c in enumerate(columns)
    ]
    spec = {
        "height": 21 * len(rows),
        "data": {"values": data},
        "mark": {"type": "rect", "cornerRadius": 2},
        "encoding": {
            "x": column("column", "N", "class", sort=None, scale={"domain": list(columns)}),
            "y": column("row", "N", "feature", sort=None, scale={"domain": list(rows)}),
            "color": column("value", "Q", of, scale={"range": [CARD, BLUE]}),
            "tooltip": hint(("row", "feature"), ("column", "class"), ("value", of), value=".3"),
        },
    }
    table = Table(
        ["feature", *columns], [[r, *v] for r, v in zip(rows, values.tolist(), strict=True)]
    )
    return Chart(spec, f"Heat map: {of} of each feature for each class.", title, table)


def histogram_chart(values: Array, *, title: str, of: str) -> Chart:
    """Return a histogram of sizes in thirty bins."""
    counts, edges = np.histogram(values, bins=30)
    rows = [
        {"low": float(edges[b]), "high": float(edges[b + 1]), "count": int(counts[b])}
        for b in range(30)
    ]
    spec = {
        "height": 240,
        "data": {"values": rows},
        "mark": {"type": "bar", "binSpacing": 1},
        "encoding": {
            "x": column("low", "Q", of, bin="binned", axis={"tickCount": 6}),
            "x2": {"field": "high"},
            "y": column("count", "Q", "rows", axis={"tickCount": 4}),
            "tooltip": hint(
                ("low", "from"), ("high", "to"), ("count", "rows"), low=".3f", high=".3f"
            ),
        },
    }
    return Chart(spec, f"Histogram of the {of}: median {np.median(values):.3g}.", title)
