"""Reports of the commands: the records of a comparison, and the file."""

from pathlib import Path
from typing import Any

from ..comparison import Comparison


def save_comparison_report(
    comparison: Comparison, path: Path, command: str, table: Any, tested: Any
) -> Path | None:
    """Writes the report; None where its libraries are not installed."""
    return None
