"""Lines over the rounds."""

from collections.abc import Sequence

import numpy as np

from ..._tools.rounds import HistoryFigure
from .._inputs import Chart, LearningCurve, Table
from ._spec import BLUE, CARD, HEIGHT, SOFT, Spec, colour_of, column, hint, thinned, told_apart

ROUNDS = {"grid": False, "tickMinStep": 1, "tickCount": 6, "labelOverlap": True}


def rounds_chart(
    curves: Sequence[LearningCurve], *, title: str, of: str, logarithmic: bool = False
) -> Chart:
    """Return several curves over the rounds, with the best round of each marked."""
    rows = [
        {"round": i + 1, "name": c.name, "value": float(c.values[i])}
        for c in curves
        for i in thinned(len(c.values), None if c.best_round is None else c.best_round - 1)
    ]
    best = [
        {"round": c.best_round, "name": c.name, "value": float(c.values[c.best_round - 1])}
        for c in curves
        if c.best_round
    ]
    table = _curves_table(curves, of)
    spec = line_spec(rows, best, of=of, many=len(curves) > 1, logarithmic=logarithmic)
    words = "; ".join(_words_of_curve(c) for c in curves)
    return Chart(spec, f"Line chart of the {of} over the rounds. {words}.", title, table)


def _words_of_curve(curve: LearningCurve) -> str:
    first, last = curve.values[0], curve.values[-1]
    best = "" if not curve.best_round else f", best after round {curve.best_round}"
    return f"{curve.name}: {first:.4g} after the first, {last:.4g} after the last round{best}"


def _curves_table(curves: Sequence[LearningCurve], of: str) -> Table:
    longest = max(len(c.values) for c in curves)
    shown = sorted({round(m) for m in np.geomspace(1, longest, 12)})
    shown = sorted({*shown, *(c.best_round for c in curves if c.best_round)})
    rows = [
        [m, *(float(c.values[m - 1]) if m <= len(c.values) else None for c in curves)]
        for m in shown
    ]
    return Table(["after round", *(c.name for c in curves)], rows, of)


def line_spec(
    rows: list[Spec], best: list[Spec], *, of: str, many: bool, logarithmic: bool = False
) -> Spec:
    scale = {"type": "log"} if logarithmic else {"zero": False}
    x = column("round", "Q", "round", axis=ROUNDS)
    y = column("value", "Q", of, scale={**scale, "nice": True}, axis={"tickCount": 6})
    who = told_apart([str(r["name"]) for r in rows]) if many else {}
    tooltip = hint(("name", "curve"), ("round", "round"), ("value", of), value=".5")
    nearest = {"type": "point", "on": "pointerover", "nearest": True, "clear": "pointerout"}
    hover = {"condition": {"param": "hover", "empty": False, "value": 1}, "value": 0}
    layers: list[Spec] = [
        {"mark": {"type": "line", "clip": True}, "encoding": {"x": x, "y": y, **who}},
        {
            "params": [{"name": "hover", "select": nearest}],
            "mark": {"type": "point", "size": 60},
            "encoding": {"x": x, "y": y, **colour_of(who), "opacity": hover, "tooltip": tooltip},
        },
    ]
    if best:
        layers += _best_marks(best, x, y, colour_of(who))
    return {"height": HEIGHT, "data": {"values": rows}, "layer": layers}


def _best_marks(best: list[Spec], x: Spec, y: Spec, colour: Spec) -> list[Spec]:
    data = {"values": best}
    tooltip = hint(("name", "curve"), ("round", "best round"), ("value", y["title"]), value=".5")
    point = {"type": "point", "shape": "diamond", "size": 130, "stroke": CARD, "strokeWidth": 1}
    words = {"type": "text", "dy": -12, "fontSize": 11.5, "fontWeight": 600}
    label = {"field": "round", "type": "quantitative"}
    rule = {"type": "rule", "strokeDash": [3, 3], "color": SOFT}
    diamond = {
        "data": data,
        "mark": point,
        "encoding": {"x": x, "y": y, "tooltip": tooltip, **colour},
    }
    if len(best) > 1:  # rules and numbers of several would hide each other
        return [diamond]
    return [
        {"data": data, "mark": rule, "encoding": {"x": x}},
        diamond,
        {"data": data, "mark": words, "encoding": {"x": x, "y": y, "text": label}},
    ]


def history_chart(figure: HistoryFigure, used: int | None) -> Chart:
    """One figure of the history over the rounds; base classes as points on lines of classes."""
    title, meaning, logarithmic = figure.words
    marked = used if used and used < len(figure.values) else None
    caption = f"{title}: {meaning}" if meaning else title
    caption = caption[0].upper() + caption[1:]
    if figure.classes is not None:
        return _classes_over_rounds(figure, caption)
    finite = np.where(np.isfinite(figure.values), figure.values, np.nan)
    logarithmic = logarithmic and float(np.nanmin(finite)) > 0
    curve = LearningCurve(title, finite.tolist(), marked, title)
    return rounds_chart([curve], title=caption, of=title, logarithmic=logarithmic)


def _classes_over_rounds(figure: HistoryFigure, caption: str) -> Chart:
    classes = np.asarray(figure.classes)
    names = [str(classes[int(k)]) for k in figure.values]
    rows = [{"round": i + 1, "label": names[i]} for i in thinned(len(names), limit=1000)]
    counts = {name: names.count(name) for name in map(str, classes)}
    spec = {
        "height": max(13, min(26, HEIGHT // len(counts))) * len(counts),
        "data": {"values": rows},
        "mark": {"type": "tick", "thickness": 2, "color": BLUE},
        "encoding": {
            "x": column("round", "Q", "round", axis=ROUNDS),
            "y": column("label", "N", figure.words.title, scale={"domain": list(counts)}),
            "tooltip": hint(("round", "round"), ("label", figure.words.title)),
        },
    }
    table = Table([figure.words.title, "rounds"], [[name, n] for name, n in counts.items()])
    most = max(counts, key=lambda name: counts[name])
    words = f"The {figure.words.title} of every round. Most often it is {most}."
    return Chart(spec, words, caption, table)
