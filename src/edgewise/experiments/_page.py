"""The results of an experiment as a page of Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._types import BAD


def page(results: Mapping[str, Any]) -> str:
    """A page of verdicts, tables, pictures, findings, remarks and the environment."""
    return "\n".join(_lines(results)).rstrip() + "\n"


def _lines(results: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {results['title']}"
    yield ""
    yield f"{results['paper']}. Made by `{results['command']}`."
    yield ""
    yield f"**Verdicts:** {_counts(results['verdicts'])}."
    yield ""
    yield f"**Decided beforehand:** {results['tolerance']}"
    yield ""
    for table in results["tables"]:
        yield f"**{table['title']}**"
        yield ""
        yield from _table(table["columns"], table["rows"])
        yield ""
    yield from _pictures(results["pictures"])
    yield from _findings(results["findings"])
    yield from _bullets("Remarks", results["remarks"])
    yield from _bullets("Not run", _not_run(results))
    yield from _made_with(results)


def _counts(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{verdict} ({n})" for verdict, n in verdicts.items()) or "none"


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    yield "| " + " | ".join(map(_text, columns)) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(map(_text, row)) + " |"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        value = f"{value:.6g}"
    return str(value).replace("|", "\\|")


def _pictures(pictures: Sequence[Mapping[str, str]]) -> Iterator[str]:
    for picture in pictures:
        yield f"![{picture['title']}]({picture['file']})"
        yield ""
        yield picture["title"]
        yield ""


def _findings(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown = [finding for finding in findings if finding["verdict"] != "not run"]
    if not shown:
        return
    yield "## Findings"
    yield ""
    keys = ("what", "paper", "ours", "tolerance", "verdict", "note")
    rows = [[_strong(finding, key) for key in keys] for finding in shown]
    yield from _table(["what", "paper", "ours", "tolerance", "verdict", ""], rows)
    yield ""


def _strong(finding: Mapping[str, Any], key: str) -> Any:
    bad = key == "verdict" and finding[key] in BAD
    return f"**{finding[key]}**" if bad else finding[key]


def _not_run(results: Mapping[str, Any]) -> list[str]:
    named, n = results["missing"], results["n_missing"]
    shown = named if n == len(named) else [*named, f"and {n - len(named)} more"]
    cells = [f"cells not run yet ({n}): {', '.join(shown)}"] if n else []
    return [*results["skipped"], *cells]


def _bullets(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"## {title}"
        yield ""
        yield from (f"- {line}" for line in lines)
        yield ""


def _made_with(results: Mapping[str, Any]) -> Iterator[str]:
    yield "## Made with"
    yield ""
    seeds = ", ".join(map(str, results["seeds"]))
    of_cells = sum(1 for _ in results["cells"])
    yield (
        f"Scale {results['scale']}, version {results['version']}, {of_cells} cells, seeds {seeds}, "
        f"{results['seconds']:.0f} s in all, {results['when'][:10]}. "
        + ", ".join(f"{name} {value}" for name, value in results["environment"].items())
        + "."
    )
    yield ""
    data = results["data"]
    if data:
        yield from _table(
            ["data", "SHA-256 (first 16 digits)", "replaces"],
            [[entry["name"], entry["hash"], entry["stand_in_for"]] for entry in data],
        )
