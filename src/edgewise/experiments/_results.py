"""The results of an experiment as a plain dictionary, which JSON files, pages and reports show."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from .. import _core
from .._ground.version import __version__
from ._types import BAD, Experiment, Record, Scale

MOST_NAMED = 12  # cells that were not run
_LIBRARIES = ("numpy", "scipy", "scikit-learn")


def results_of(
    experiment: Experiment,
    scale: Scale,
    records: Mapping[str, Record],
    left_out: Mapping[str, str],
    *,
    command: str,
    pictures: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """The results; `left_out` names the cells that could not be run, and why."""
    findings = experiment.findings(scale, records)
    planned = {cell.name: cell for cell in experiment.cells(scale)}
    mine = {
        name.removeprefix(f"{experiment.name}: "): why
        for name, why in left_out.items()
        if name.startswith(f"{experiment.name}: ")
    }
    missing = [name for name in planned if name not in records and name not in mine]
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "scale": scale,
        "command": command,
        "version": experiment.version,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(sum(record.seconds for record in records.values()), 1),
        "seeds": sorted({record.seed for record in records.values()}),
        "data": _data(records, planned),
        "environment": environment(),
        "tolerance": experiment.tolerance,
        "verdicts": dict(Counter(finding.verdict for finding in findings)),
        "findings": [finding.as_dict() for finding in findings],
        "tables": [asdict(table) for table in experiment.tables(scale, records)],
        "pictures": [dict(picture) for picture in pictures],
        "remarks": list(experiment.remarks),
        "skipped": _skipped(mine),
        "missing": missing[:MOST_NAMED],
        "n_missing": len(missing),
        "cells": [asdict(record) for record in records.values()],
    }


def _data(records: Mapping[str, Record], planned: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Data sets with their hashes; `stand_in_for` names the data set that a substitute replaces."""
    found: dict[str, dict[str, Any]] = {}
    for name, record in records.items():
        if record.data is None:
            continue
        asked = planned[name].data if name in planned else record.data
        entry = {"name": record.data, "hash": record.data_hash, "stand_in_for": None}
        if asked != record.data:
            entry["stand_in_for"] = asked
        found[f"{record.data} {asked}"] = entry
    return list(found.values())


def _skipped(left_out: Mapping[str, str]) -> list[str]:
    """One line per reason."""
    counts = Counter(left_out.values())
    return [f"skipped: {why} ({n} cells)" for why, n in counts.items()]


def environment() -> dict[str, Any]:
    """Return the versions and the machine behind the numbers."""
    versions = {library: metadata.version(library) for library in _LIBRARIES}
    return {
        "edgewise": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": _core.available_cpus(),
        **versions,
    }


def differs(results: Mapping[str, Any]) -> int:
    """Return the number of findings that differ from the paper."""
    return sum(results["verdicts"].get(verdict, 0) for verdict in BAD)
