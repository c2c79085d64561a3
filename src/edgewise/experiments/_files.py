"""The files of a run other than the cells: results, a page, a report and pictures."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import report
from .._ground.atomic import replacing, write_text
from ._page import page
from ._types import BAD, Picture


def write_results(folder: Path, results: Mapping[str, Any]) -> None:
    """NAME-SCALE.json and NAME-SCALE.md."""
    stem = stem_of(results)
    write_text(folder / f"{stem}.json", _as_json(results))
    write_text(folder / f"{stem}.md", page(results))


def _as_json(results: Mapping[str, Any]) -> str:
    """JSON with one line per cell, at the end, so that files can be compared."""
    empty = "[]\n}"
    head = json.dumps({**results, "cells": []}, indent=1, allow_nan=False).removesuffix(empty)
    cells = ",\n".join(json.dumps(cell, allow_nan=False) for cell in results["cells"])
    return f"{head}[\n{cells}\n]}}\n"


def stem_of(results: Mapping[str, Any]) -> str:
    return f"{results['experiment']}-{results['scale']}"


def draw_pictures(
    folder: Path, stem: str, pictures: Sequence[Picture]
) -> tuple[list[dict[str, str]], str | None]:
    """Write PNG files, or a note if matplotlib is missing."""
    if not pictures:
        return [], None
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - optional
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ModuleNotFoundError:
        return [], "no pictures: they need matplotlib, of the extra 'plot'"
    drawn = []
    for picture in pictures:
        figure = Figure(figsize=picture.size, layout="constrained")
        FigureCanvasAgg(figure)
        picture.draw(figure)
        file = f"{stem}-{picture.name}.png"
        with replacing(folder / file) as stream:
            figure.savefig(stream, format="png", dpi=90)
        drawn.append({"name": picture.name, "title": picture.title, "file": file})
    return drawn, None


def as_report(results: Sequence[Mapping[str, Any]], folder: Path, command: str) -> report.Report:
    """One page of HTML about one experiment or several; needs the extra 'report'."""
    return report.experiment_report([_told(each, folder) for each in results], command=command)


def _told(results: Mapping[str, Any], folder: Path) -> report.Experiment:
    judged = [finding for finding in results["findings"] if finding["verdict"] != "not run"]
    facts = {
        "scale": results["scale"],
        "seeds": ", ".join(map(str, results["seeds"][:10])),
        "seconds": results["seconds"],
        **{f"data: {entry['name']}": entry["hash"] for entry in results["data"]},
        **results["environment"],
    }
    return report.Experiment(
        name=results["experiment"],
        title=results["title"],
        sections=[
            report.Section("What was decided beforehand", [results["tolerance"]]),
            report.Section("Findings", [], [_findings(judged)]),
            *_seen(results, folder),
            report.Section("Remarks", [*results["remarks"], *results["skipped"]]),
        ],
        verdicts=[_verdict(finding) for finding in judged],
        source=results["paper"],
        command=results["command"],
        facts=facts,
    )


def _findings(findings: Sequence[Mapping[str, Any]]) -> report.Table:
    keys = ("what", "paper", "ours", "tolerance", "note")
    rows = [[*(finding[key] for key in keys), _verdict(finding)] for finding in findings]
    columns = ["what", "paper", "ours", "tolerance", "note", "verdict"]
    return report.Table(columns, rows)


def _verdict(finding: Mapping[str, Any]) -> report.Verdict:
    verdict = finding["verdict"]
    if verdict in BAD:
        return report.Verdict("differs", verdict)
    return report.Verdict("open" if verdict == "not judged" else "agrees", verdict)


def _seen(results: Mapping[str, Any], folder: Path) -> list[report.Section]:
    """Tables and pictures, a section each."""
    tables = [
        report.Section(table["title"], [], [report.Table(table["columns"], table["rows"])])
        for table in results["tables"]
    ]
    pictures = [
        report.Section(
            picture["title"],
            [],
            [report.Image((folder / picture["file"]).read_bytes(), picture["title"])],
        )
        for picture in results["pictures"]
    ]
    return tables + pictures
