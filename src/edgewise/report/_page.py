"""From sections to one HTML page: templates, numbers as text, charts as data."""

import base64
import importlib.metadata
import json
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ._bundle import MISSING, source_hash, vega
from ._inputs import Chart, Image, Section, Table, Verdict
from ._report import Report

STATIC = Path(__file__).parent / "static"
PACKAGES = ("edgewise", "numpy", "scipy", "scikit-learn")
MARKS = {"agrees": "✓", "differs": "✗", "open": "?"}  # so that colour is not all that tells
DASH = "–"


@dataclass(frozen=True)
class Tile:
    """One figure at the top of the page."""

    title: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Page:
    """All that a page shows."""

    title: str
    kind: str  # such as "model report"
    subtitle: str
    sections: Sequence[Section]
    tiles: Sequence[Tile] = ()
    command: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # beside the versions
    findings: Sequence[str] = ()  # also the words of a section


def render(page: Page) -> Report:
    """The page as a report."""
    charts: list[dict[str, Any]] = []
    script = (STATIC / "page.js").read_text(encoding="utf-8")
    text = (
        _templates()
        .get_template("page.html")
        .render(
            page=page,
            sections=[(f"section-{i}", s, _groups(s, charts)) for i, s in enumerate(page.sections)],
            facts=[*page.facts.items(), *versions().items()],
            style=(STATIC / "style.css").read_text(encoding="utf-8"),
            script=script,
            vega=vega(),
            hashes=f"{source_hash(script)} {source_hash(vega())}",
            charts=as_json(charts),
        )
    )
    return Report(text, page.title, tuple(page.findings))


@cache
def _templates() -> Any:
    try:
        import jinja2  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(MISSING) from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(STATIC),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell": cell, "is_number": is_number, "picture": picture}
    environment.tests["table"] = lambda part: isinstance(part, Table)
    return environment


# --- parts of a section ------------------------------------------------------------------------


def _groups(section: Section, charts: list[dict[str, Any]]) -> list[tuple[str, list[Any]]]:
    """Group consecutive parts of a kind as (kind, parts); collect the charts."""
    numbered = [(_kind(part), part) for part in section.parts]
    groups = []
    for kind, parts in groupby(numbered, key=lambda pair: pair[0]):
        shown = [part for _, part in parts]
        groups.append((kind, list(_noted(shown, charts)) if kind == "pictures" else shown))
    return groups


def _kind(part: Table | Chart | Image) -> str:
    return "tables" if isinstance(part, Table) and not part.beside else "pictures"


def _noted(parts: list[Any], charts: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Return pictures with ids and the tables beside them; the script draws charts there."""
    for part in parts:
        name = f"chart-{len(charts)}" if isinstance(part, Chart) else ""
        if name:
            charts.append({"id": name, "spec": {"description": part.description, **part.spec}})
        yield name, part


def picture(image: Image) -> str:
    """Return an image as a data URL, in which an SVG cannot run scripts."""
    svg = isinstance(image.content, str)
    content = image.content.encode() if isinstance(image.content, str) else image.content
    kind = "image/svg+xml" if svg else "image/png"
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


# --- numbers and names as text ------------------------------------------------------------------


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def cell(value: Any, how: str = "") -> str:
    """Return the text of a cell of a table."""
    if isinstance(value, Verdict):
        return f"{MARKS[value.outcome]} {value.words or value.outcome}"
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return DASH
    if not is_number(value):
        return str(value)
    if how:
        return format(value, how)
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:.4g}"


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script element: no markup can begin in it."""
    text = json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _plain(value: Any) -> Any:
    """Convert to the types of JSON: arrays to lists, NaN and infinity to null."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | None) else str(value)


def versions() -> dict[str, str]:
    """Return the versions and the time of a report."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    known = {name: _version(name) for name in PACKAGES}
    system = f"{platform.system()} {platform.machine()}"
    return {**known, "Python": platform.python_version(), "system": system, "made": made}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:  # a source tree on the path
        return str(getattr(importlib.import_module(name), "__version__", DASH))
