"""Figures in the documents, and whether the core has changed since they were measured.

    python -m benchmarks.figures

A comment before a table or paragraph names the commit: <!-- measured: 34dc8f978 -->
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "docs/benchmarks.md")
CORE = ("cpp/core", "CMakeLists.txt")
MARK = re.compile(r"^<!-- measured: ([0-9a-f]{7,40}) -->$")


class Figures(NamedTuple):
    """What follows a mark."""

    document: str
    line: int
    section: str
    commit: str


def marked(project: Path = PROJECT) -> Iterator[Figures]:
    """All marks, in the order of the documents."""
    for document in DOCUMENTS:
        section = ""
        for i, line in enumerate((project / document).read_text().splitlines(), start=1):
            if line.startswith("#"):
                section = line.lstrip("# ")
            if mark := MARK.match(line):
                yield Figures(document, i, section, mark[1])


def changes_since(commit: str, project: Path = PROJECT) -> int:
    """Commits since then that change the core; raises where git does not know the commit."""
    count = _git(project, "rev-list", "--count", f"{commit}..HEAD", "--", *CORE)
    return int(count)


def main(project: Path = PROJECT) -> int:
    """Lists figures older than the core's last change; they fail nothing."""
    try:
        found = [(f, changes_since(f.commit, project)) for f in marked(project)]
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"figures: skipped, git cannot tell: {getattr(error, 'stderr', error)}")
        return 0
    old = [(figures, changes) for figures, changes in found if changes]
    for figures, changes in old:
        where = f"{figures.document}:{figures.line}"
        print(
            f"{where:26} {figures.section:48} {figures.commit}  {changes} changes of the core since"
        )
    print(f"figures: {len(old)} of {len(found)} are older than the core's last change")
    return 0


def _git(project: Path, *arguments: str) -> str:
    command = ["git", "-C", str(project), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
