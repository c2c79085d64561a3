"""A finished report."""

import html
import os
from pathlib import Path

from .._ground.atomic import write_text


class Report:
    """One self-contained HTML page: shown in a notebook, or saved to a file.

    Attributes
    ----------
    html : the page.
    title : its title.
    """

    def __init__(self, page: str, title: str) -> None:
        self.html = page
        self.title = title

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file and returns its path.

        It is written beside its place and then renamed: a file of that name is whole, or as it was.
        """
        target = Path(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(f"The folder of the report does not exist: {target.parent}")
        write_text(target, self.html)
        return target

    def _repr_html_(self) -> str:
        """For notebooks: the page in a frame of its own, which cannot reach the notebook."""
        return (
            f'<iframe title="{html.escape(self.title)}" sandbox="allow-scripts allow-downloads" '
            'style="width: 100%; height: 85vh; min-height: 480px; border: 1px solid #8884; '
            f'border-radius: 8px" srcdoc="{html.escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        size = len(self.html.encode()) / 1e6
        return f"<Report {self.title!r}, {size:.1f} MB: .save(path) writes it to a file>"
