"""A finished report."""

import html
import os
from pathlib import Path

from .._ground.atomic import write_text


class Report:
    """One self-contained HTML page, shown in a notebook or saved to a file.

    Parameters
    ----------
    page : str
        HTML of the page.
    title : str
        Title of the page.
    findings : tuple of str, default=()
        Findings about the data and the model, which the page begins with.

    Attributes
    ----------
    html : str
        HTML of the page.
    title : str
        Title of the page.
    findings : tuple of str
        Findings about the data and the model.
    """

    def __init__(self, page: str, title: str, findings: tuple[str, ...] = ()) -> None:
        self.html = page
        self.title = title
        self.findings = findings

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        The file is written completely or not at all.

        Parameters
        ----------
        path : str or path-like
            File to write.

        Returns
        -------
        Path
            Path of the file.
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
